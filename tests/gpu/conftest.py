"""An imitation of a CUDA device: the whole path of a grading on one, without one. It can be had from here alone."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from attngrade.catalog import Exercise, open_pack
from attngrade.grading import Limits, devices, grade
from attngrade.sandbox import gauge, jail, race
from attngrade.sandbox.nursery import Hatched
from attngrade.verdict import Verdict

HERE = Path(__file__).resolve().parent


class Meter:
    """A driver's gauge that says what it was told to say."""

    def __init__(self) -> None:
        self.readings: list[int] = []

    def held(self, pids: list[int]) -> int:
        """The next reading; the last one again and again."""
        return self.readings.pop(0) if len(self.readings) > 1 else self.readings[0] if self.readings else 0


@pytest.fixture
def exercise() -> Exercise:
    """A small exercise that needs a GPU."""
    return open_pack(HERE / "pack").exercises[0]


@pytest.fixture
def meter(monkeypatch: pytest.MonkeyPatch) -> Meter:
    """What the driver tells the host."""
    found = Meter()
    monkeypatch.setattr(gauge, "find", lambda: found)
    return found


class Home(str):
    """A folder of a worker, by its path."""

    def close(self) -> None:
        """Remove it."""
        shutil.rmtree(self, ignore_errors=True)


class Hatchery:
    """A process that has imported what workers import and forks one for each request."""

    def __init__(self) -> None:
        self._control, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._process = subprocess.Popen([sys.executable, str(HERE / "imitation.py"), str(inner.fileno())], pass_fds=[inner.fileno()],
                                         env={**os.environ, "OMP_NUM_THREADS": "1"})
        inner.close()

    def start(self, plan: jail.Plan, wire: tuple[int, int], printed: int, program: list[str], isolation: str) -> jail.Start:
        """What ``jail._plain`` does, from here."""
        home, role = Home(tempfile.mkdtemp(prefix="attngrade-imitation-")), "trusted" if isolation == "trusted" else "worker"
        settings = json.loads(jail._settings(plan, (0, 0), home, {"read": ["/"], "write": [home], "hidden": []}))
        socket.send_fds(self._control, [json.dumps({"role": role, "home": home, "settings": settings}).encode()], [*wire, printed])
        _, handles, _, _ = socket.recv_fds(self._control, 64, 1)
        return jail.Start(Hatched(handles[0]), -1, -1, -1, isolation, scratch=home)  # type: ignore[arg-type]

    def close(self) -> None:
        """End it; what it forked has been closed by whoever asked for it."""
        self._control.close()
        self._process.wait(timeout=10)


@pytest.fixture(scope="session")
def hatchery() -> Iterator[Hatchery]:
    """One for all tests of a process."""
    found = Hatchery()
    yield found
    found.close()


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, meter: Meter, hatchery: Hatchery) -> list[str]:
    """Puts the imitation in the place of workers on a device; the list tells which were started."""
    found = []

    def start(plan: jail.Plan, wire: tuple[int, int], printed: int, program: list[str], isolation: str) -> jail.Start:
        found.append(f"{'trusted' if isolation == 'trusted' else 'worker'} on {plan.device}")
        return hatchery.start(plan, wire, printed, program, isolation)

    monkeypatch.setattr(jail, "_plain", start)
    monkeypatch.setattr(devices, "seen", lambda: True)
    monkeypatch.setattr(race, "LAPS", 3)
    return found


@pytest.fixture
def on_device(exercise: Exercise, started: list[str]) -> Callable[..., Verdict]:
    """``on_device(source)``: the verdict on a submission to the small exercise, from the imitated device."""

    def run(source: str, limits: Limits | None = None) -> Verdict:
        return grade(exercise, source.encode(), device="cuda", isolation="process", seed=1, limits=limits)

    return run


