"""The plug pulled at random instants (``scripts/pull_the_plug.py``; a hundred rounds before a release), and clocks that jump."""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from pathlib import Path

import pytest
from attngrade.catalog import builtin
from attngrade.sandbox import jail
from attngrade.verdict import Word

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "pull_the_plug.py"


@pytest.mark.skipif(jail.bubblewrap() is None, reason="bubblewrap is not installed here")
def test_nothing_is_lost_broken_or_left_whoever_is_killed_whenever() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT), "5", "--seed", "40"], capture_output=True, text=True, timeout=300)

    assert done.returncode == 0, done.stderr


def test_no_limit_hangs_on_a_clock_that_jumps(graded, monkeypatch):  # type: ignore[no-untyped-def]
    real, jumps = time.time, itertools.cycle([0.0, 86_400.0, -86_400.0])
    monkeypatch.setattr(time, "time", lambda: real() + next(jumps))

    verdict = graded("exercise02", builtin().find("exercise02").solution.read_bytes())

    assert verdict.word is Word.PASSED and 0 < verdict.duration_s < 600
