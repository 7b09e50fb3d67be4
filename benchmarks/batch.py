"""Throughput of ``takehome grade`` against a loop of bare pytest runs over the same files (a few plain asserts each), and against ``otter run``.

The second is measured where otter-grader is installed (`OTTER=/path/to/otter`, or on the PATH, with ipykernel beside it); elsewhere a sentence says that it isn't.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attngrade.catalog import Exercise, builtin

from .measure import heaviest

ATTNGRADE = str(Path(sys.executable).parent / "attngrade")
SHARE = 8  # the loop is timed on every eighth file, and multiplied
OTTER_FILES = 3  # and otter on so many


def rows(count: int, folder: Path, row: Callable[..., dict[str, Any]]) -> list[dict[str, Any]]:
    """A row per size: ``count`` returns of one NumPy and one torch exercise."""
    found = []
    for exercise in (builtin().find("2"), builtin().find("3")):
        place = folder / f"batch-{exercise.id}"
        returns(place / "in", exercise, count)
        seconds = graded(place, exercise)
        other = looped(place / "in", exercise, count)
        peak = heaviest(grading(place, "weighed"))
        found.append(row(f"{count} returns of {exercise.id}, each", seconds / count, "bare pytest with the example checks, each", other / count, peak))
        if exercise.framework == "numpy" and (otter := by_otter(place, exercise)) is not None:
            found.append(row(f"{count} returns of {exercise.id}, each", seconds / count, "`otter run` with the example checks, each", otter, peak))
    return found


def growth(sizes: list[int], folder: Path, row: Callable[..., dict[str, Any]]) -> list[dict[str, Any]]:
    """Seconds for each return, and memory, as a batch grows: against the smallest."""
    exercise, measured = builtin().find("3"), []
    for size in sizes:
        place = folder / f"growth-{size}"
        returns(place / "in", exercise, size)
        measured.append((graded(place, exercise) / size, heaviest(grading(place, "weighed"))))
    return [row(f"{size} returns of {exercise.id}, each", seconds, f"{sizes[0]} returns, each", measured[0][0], peak, measured[0][1])
            for size, (seconds, peak) in zip(sizes, measured, strict=True)]


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
    subprocess.run([ATTNGRADE, "takehome", "new", str(place / "kit"), "--exercise", exercise.id, "--question", "score-variance"], check=True, capture_output=True)
    started = time.perf_counter()
    subprocess.run(grading(place, "timed"), check=True, capture_output=True)
    return time.perf_counter() - started


def grading(place: Path, results: str) -> list[str]:
    """The command that grades the returns into a folder of this name."""
    return [ATTNGRADE, "takehome", "grade", str(place / "in"), "--kit", str(place / "kit"), "--results", str(place / results)]


def looped(folder: Path, exercise: Exercise, count: int) -> float:
    """Seconds that one pytest after the other would take."""
    homes = sorted(folder.iterdir())[::SHARE]
    started = time.perf_counter()
    for home in homes:
        subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."], cwd=home, capture_output=True, env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PATH": "/usr/bin:/bin"})
    return (time.perf_counter() - started) / len(homes) * count


def by_otter(place: Path, exercise: Exercise) -> float | None:
    """Seconds of ``otter run`` for one return with the example checks, or None where otter isn't installed."""
    otter = os.environ.get("OTTER") or shutil.which("otter")
    if otter is None:
        print("otter-grader is not installed: no comparison with `otter run` (name it with OTTER=/path/to/otter).", flush=True)
        return None
    home = place / "otter"
    (home / "tests").mkdir(parents=True)
    (home / "out").mkdir()
    (home / "tests" / "q1.py").write_text(as_otter(exercise), encoding="utf-8")
    run = {"cwd": home, "check": True, "capture_output": True, "env": {**os.environ, "PATH": f"{Path(otter).parent}:{os.environ['PATH']}"}}
    subprocess.run([otter, "generate", "-t", "tests", "-o", "autograder.zip", "--no-environment", "--no-requirements"], **run)
    files = sorted((place / "in").glob(f"*/{exercise.module}.py"))[:OTTER_FILES]
    started = time.perf_counter()
    for number, file in enumerate(files):
        shutil.copyfile(file, home / f"return{number}.py")
        subprocess.run([otter, "run", f"return{number}.py", "-a", "autograder.zip", "-o", "out", "--no-logo"], **run)
    return (time.perf_counter() - started) / len(files)


def as_otter(exercise: Exercise) -> str:
    """The example checks as one question of otter's: each test gets the functions of the return by name."""
    text = (exercise.stub.parent / "examples" / f"test_{exercise.id}.py").read_text(encoding="utf-8")
    found = re.search(rf"^from {exercise.module} import (.*)$", text, re.M)
    assert found is not None
    body = re.sub(r"^def (test_\w+)\(\):", rf"@test_case()\ndef \1({found.group(1)}):", text.replace(found.group(), ""), flags=re.M)
    return f'OK_FORMAT = False\nname = "q1"\npoints = 1\nfrom otter.test_files import test_case\n{body}'
