"""Throughput of ``takehome grade`` against a loop of bare pytest runs over the same files (a few plain asserts each)."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attngrade.catalog import Exercise, builtin

SHARE = 8  # the loop is timed on every eighth file, and multiplied


def rows(count: int, folder: Path, row: Callable[..., dict[str, Any]]) -> list[dict[str, Any]]:
    """A row per size: ``count`` returns of one NumPy and one torch exercise."""
    found = []
    for exercise in (builtin().find("2"), builtin().find("3")):
        place = folder / f"batch-{exercise.id}"
        returns(place / "in", exercise, count)
        seconds = graded(place, exercise)
        other = looped(place / "in", exercise, count)
        found.append(row(f"{count} returns of {exercise.id}, each", seconds / count, "bare pytest with the example checks, each", other / count, 0.0))
    return found


def returns(folder: Path, exercise: Exercise, count: int) -> None:
    """A folder of returns, all different, one in four of them wrong."""
    right = exercise.solution.read_text()
    stub = exercise.stub.read_text()
    for n in range(count):
        home = folder / f"candidate{n:04}"
        home.mkdir(parents=True)
        (home / f"{exercise.module}.py").write_text((stub if n % 4 == 3 else right) + f"\n# {n}\n")
        example = exercise.stub.parent / "examples" / f"test_{exercise.id}.py"
        (home / example.name).write_text(example.read_text())


def graded(place: Path, exercise: Exercise) -> float:
    """Seconds for the whole command, from nothing."""
    attngrade = str(Path(sys.executable).parent / "attngrade")
    kit = place / "kit"
    subprocess.run([attngrade, "takehome", "new", str(kit), "--exercise", exercise.id, "--question", "score-variance"], check=True, capture_output=True)
    started = time.perf_counter()
    subprocess.run([attngrade, "takehome", "grade", str(place / "in"), "--kit", str(kit)], check=True, capture_output=True)
    return time.perf_counter() - started


def looped(folder: Path, exercise: Exercise, count: int) -> float:
    """Seconds that one pytest after the other would take."""
    homes = sorted(folder.iterdir())[::SHARE]
    started = time.perf_counter()
    for home in homes:
        subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."], cwd=home, capture_output=True, env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PATH": "/usr/bin:/bin"})
    return (time.perf_counter() - started) / len(homes) * count
