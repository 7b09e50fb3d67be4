"""The command in a process of its own, in a home that nobody else has."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def attngrade(tmp_path: Path) -> Run:
    """``attngrade("doctor", environ={"PATH": ""})``."""

    def run(*arguments: str, environ: dict[str, str] | None = None, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        own = {**os.environ, "ATTNGRADE_HOME": str(tmp_path / "home"), "COLUMNS": "80", "OMP_NUM_THREADS": "1", **(environ or {})}
        return subprocess.run([sys.executable, "-m", "attngrade", *arguments], capture_output=True, text=True, env=own, cwd=cwd or tmp_path, check=False)

    return run
