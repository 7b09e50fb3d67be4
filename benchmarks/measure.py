"""Timing whole commands: alternating runs, medians; and the memory of everything that a command starts, at its height, in a run of its own."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attngrade.sandbox.processes import Tree

LOOK_S = 0.02


@dataclass(frozen=True)
class Timing:
    """Seconds of each run, and the most memory of all processes together, in MiB."""

    seconds: tuple[float, ...]
    peak_mib: float

    @property
    def median(self) -> float:
        """The middle run."""
        return statistics.median(self.seconds)


def alternate(commands: dict[str, Sequence[str]], rounds: int, environment: dict[str, str] | None = None) -> dict[str, Timing]:
    """Run each command once per round, in turn, so that whatever else the machine does hits all alike; then once more for its memory."""
    runs: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            runs[name].append(once(command, environment))
    return {name: Timing(tuple(found), heaviest(commands[name], environment)) for name, found in runs.items()}


def once(command: Sequence[str], environment: dict[str, str] | None = None) -> float:
    """Seconds of one run."""
    started = time.perf_counter()
    _start(command, environment).wait()
    return time.perf_counter() - started


def heaviest(command: Sequence[str], environment: dict[str, str] | None = None) -> float:
    """The most memory of one run, in MiB: of the command and everything that it starts, pages that several share counted once."""
    process = _start(command, environment)
    tree, most = Tree(process.pid), 0.0
    while process.poll() is None:
        most = max(most, weight(tree.members()))
        time.sleep(LOOK_S)
    return most


def weight(pids: Sequence[int]) -> float:
    """MiB of these processes now: each with its share of what it shares, where the kernel tells it."""
    return sum(_told(pid) for pid in pids) / 1024


def _told(pid: int) -> int:
    """KiB of one process; 0 once it has ended."""
    for file, word in (("smaps_rollup", "Pss:"), ("status", "VmRSS:")):
        try:
            lines = Path(f"/proc/{pid}/{file}").read_text().splitlines()
        except OSError:
            continue
        if found := [int(line.split()[1]) for line in lines if line.startswith(word)]:
            return found[0]
    return 0


def _start(command: Sequence[str], environment: dict[str, str] | None) -> subprocess.Popen[bytes]:
    env = {**os.environ, **(environment or {})}
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=env)


def repeat(work: Callable[[], Any], rounds: int) -> Timing:
    """The same for a function of this process."""
    seconds = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return Timing(tuple(seconds), weight([os.getpid()]))


def machine() -> dict[str, Any]:
    """What was measured on."""
    import numpy
    import torch

    return {"cores": os.cpu_count(), "machine": platform.machine(), "system": f"{platform.system()} {platform.release().partition('-')[0]}", "python": platform.python_version(),
            "numpy": numpy.__version__, "torch": torch.__version__, "load": round(os.getloadavg()[0], 2)}
