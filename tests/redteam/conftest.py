"""The ground on which the red team's tests stand, and a crew that is started there."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from attngrade.sandbox.nursery import Crew

from tests.redteam.arena import CANARY, adopt_orphans, plant, surroundings
from tests.redteam.stranger import Stranger, Unreachable


@pytest.fixture(scope="package")
def ground() -> Iterator[Path]:
    """Canaries in every place, this process in the middle of them."""
    ground = Path(tempfile.mkdtemp(prefix="canaries-"))
    shared = Path(f"/tmp/canary-{os.getpid()}.py")
    plant(ground)
    shared.write_text(CANARY + "shared", encoding="utf-8")
    adopt_orphans()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in surroundings(ground).items():
            patch.setenv(name, value)
        patch.setattr(tempfile, "tempdir", None)
        patch.chdir(ground / "project")
        yield ground
    adopt_orphans(False)
    shared.unlink(missing_ok=True)
    shutil.rmtree(ground, ignore_errors=True)


@pytest.fixture(scope="package")
def besieged(ground: Path) -> Iterator[Crew]:
    """Warm workers that were started among the canaries."""
    with Crew() as crew:
        yield crew


@pytest.fixture(scope="package")
def stranger() -> Iterator[Stranger]:
    """A grader of an ordinary user, on a ground of his own."""
    if os.getuid() != 0:
        pytest.skip("the suite runs as an ordinary user already")
    folder = Path(tempfile.mkdtemp(prefix="stranger-", dir="/var/lib"))  # no place that hostile code takes for a shared one
    folder.chmod(0o755)
    plant(folder / "ground")
    try:
        other = Stranger(folder, folder / "ground", "auto")
        yield other
        other.close()
    except Unreachable as reason:
        pytest.skip(str(reason))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
