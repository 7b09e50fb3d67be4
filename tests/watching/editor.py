"""What an editor leaves in the first exercise's file, and how."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from attngrade.catalog import builtin

FIRST = builtin().exercises[0]
RIGHT = FIRST.solution.read_text()
ROOT_MISSING = RIGHT.replace("(variance + mean**2) ** -0.5", "d_k ** -0.5")  # the scale forgets about correlation
STOPS = "while True: pass\n"


def save(path: Path, text: str) -> None:
    """As editors do: beside, then renamed."""
    beside = path.with_name(f".{path.name}.swp")
    beside.write_text(text)
    os.replace(beside, path)


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    told = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout
    return [int(line) for line in told.split()]
