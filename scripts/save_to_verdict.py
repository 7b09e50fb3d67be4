"""Time from a save to the verdict in watch mode: writes files as an editor does and reads what `attngrade watch` says.

    python scripts/save_to_verdict.py [--saves 11] [EXERCISE ...]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from attngrade.catalog import Exercise, builtin
from attngrade.workspace import Workspace, init


def saves(exercise: Exercise, place: Workspace, home: str, count: int) -> list[float]:
    """Seconds of each save of a right file that differs from the one before by a comment; the first, a warm-up, is left out."""
    environ = {**os.environ, "ATTNGRADE_HOME": home}
    command = [sys.executable, "-m", "attngrade", "watch", exercise.id]
    with subprocess.Popen(command, cwd=place.folder, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as watching:
        try:
            until_drawn(watching)
            took = []
            for number in range(count + 1):
                time.sleep(1.0)  # nobody saves faster; the next worker stands ready by then
                path = place.path(exercise)
                beside = path.with_name(f".{path.name}.tmp")
                beside.write_text(f"{exercise.solution.read_text()}\n# {number}\n")
                started = time.perf_counter()
                os.replace(beside, path)
                until_drawn(watching)
                took.append(time.perf_counter() - started)
            return took[1:]
        finally:
            watching.terminate()


def until_drawn(watching: subprocess.Popen[str]) -> None:
    """Read up to the line of progress, which is the last of a verdict."""
    assert watching.stdout is not None
    for line in watching.stdout:
        if " done · " in line:
            return
    raise SystemExit("watch ended early")


def main() -> None:
    """A line per exercise: median and slowest."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("exercises", nargs="*")
    options.add_argument("--saves", type=int, default=11)
    given = options.parse_args()
    pack = builtin()
    with tempfile.TemporaryDirectory() as folder:
        place = init(Path(folder, "work"), pack)
        for exercise in [pack.find(name) for name in given.exercises] or pack.exercises:
            took = saves(exercise, place, os.path.join(folder, "home"), given.saves)
            print(f"{exercise.id}  median {statistics.median(took):.3f} s  slowest {max(took):.3f} s  ({len(took)} saves)", flush=True)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")


if __name__ == "__main__":
    main()
