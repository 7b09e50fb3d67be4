"""Timing whole commands: alternating runs, medians, the largest resident memory of the process tree's children."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Timing:
    """Seconds of each run, and the peak resident memory of the last in MiB."""

    seconds: tuple[float, ...]
    peak_mib: float

    @property
    def median(self) -> float:
        """The middle run."""
        return statistics.median(self.seconds)


def alternate(commands: dict[str, Sequence[str]], rounds: int, environment: dict[str, str] | None = None) -> dict[str, Timing]:
    """Run each command once per round, in turn, so that whatever else the machine does hits all alike."""
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            runs[name].append(once(command, environment))
    return {name: Timing(tuple(seconds for seconds, _ in found), max(peak for _, peak in found)) for name, found in runs.items()}


def once(command: Sequence[str], environment: dict[str, str] | None = None) -> tuple[float, float]:
    """Seconds and peak MiB (of the largest process) of one run."""
    env = {**os.environ, **(environment or {})}
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=env)
    _, _, usage = os.wait4(process.pid, 0)
    return time.perf_counter() - started, usage.ru_maxrss / 1024


def repeat(work: Callable[[], Any], rounds: int) -> Timing:
    """The same for a function of this process."""
    seconds = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return Timing(tuple(seconds), 0.0)


def machine() -> dict[str, Any]:
    """What was measured on."""
    import numpy
    import torch

    return {"cores": os.cpu_count(), "machine": platform.machine(), "system": platform.platform(terse=True), "python": platform.python_version(),
            "numpy": numpy.__version__, "torch": torch.__version__, "load": round(os.getloadavg()[0], 2)}
