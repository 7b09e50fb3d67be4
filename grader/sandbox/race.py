"""How fast a function is beside the reference: two processes on one device, the submission's and a trusted one, that run in turn. The host holds the watch.

Nothing of the reference enters the submission's process. What is timed is a lap: a batch of calls that the worker has lined up beforehand, from the
question to the answer that the device has done them all. Every call of every lap has inputs that were never seen before (the tensors that were
sent, each turned along an axis by an amount drawn here), so an answer that is remembered is a wrong one; and of every call's result a place is
looked at that is drawn after the lap. A process that lies about time can do so (SECURITY.md): speed is advisory.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import wire
from .errors import WorkerError
from .host import Worker, raise_if_raised
from .proxy import received

LAPS, CALLS, FEWEST = 15, 16, 2
PATIENCE_S = 8.0  # for all laps of one race


@dataclass(frozen=True)
class Sample:
    """What stood at one place of a timed call's results, and what the call was given."""

    given: tuple[np.ndarray, ...]
    place: tuple[int, ...]
    values: tuple[Any, ...]  # Results, as checks see them


@dataclass
class Race:
    """Seconds per call of both, lap by lap, and samples of what the submission answered."""

    seconds: list[float] = field(default_factory=list)
    reference_seconds: list[float] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """The submission's throughput as a part of the reference's: the median over the laps of what each pair of neighbours says."""
        return statistics.median(other / own for own, other in zip(self.seconds, self.reference_seconds, strict=True))


class NoRival(Exception):
    """The reference could not run: nothing was measured, and nobody is charged."""


class Runner:
    """One of the two processes, with its inputs on the device."""

    def __init__(self, worker: Worker, name: str, arrays: list[wire.Array], axis: int, kwargs: dict[str, Any], trusted: bool):
        self.worker, self.name, self.axis, self.kwargs, self.trusted = worker, name, axis, kwargs, trusted
        self._arrays = arrays

    def lap(self, turns: list[list[int]]) -> float:
        """Seconds per call of one batch, one call for each row of ``turns``."""
        self._ask({"op": "line_up", "args": self._arrays, "turns": turns, "axis": self.axis})
        self._arrays = []  # they are there now
        started = time.monotonic()
        self._ask({"op": "lap", "name": self.name, "kwargs": self.kwargs})
        return (time.monotonic() - started) / len(turns)

    def samples(self, places: list[tuple[int, tuple[int, ...]]]) -> Any:
        """What stands at each (call, place) of the lap's results."""
        return self._ask({"op": "samples", "places": [(call, list(place)) for call, place in places]}).get("value")

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        try:
            reply = self.worker.ask(message)
            raise_if_raised(reply, self.name)
        except WorkerError as error:
            if self.trusted:
                raise NoRival(str(error)) from None
            raise
        return reply


def run(own: Worker, rival: Worker, name: str, arrays: list[wire.Array], *, axis: int, depth: int, rng: np.random.Generator, kwargs: dict[str, Any]) -> Race:
    """Race the two. ``depth``: how many axes of a result say where a sample stands. Raises what a call of the submission raises, and NoRival."""
    length = arrays[0].data.shape[axis]
    rival.deadline = own.deadline
    runners = [Runner(worker, name, list(arrays), axis, kwargs, worker is rival) for worker in (own, rival)]
    for runner in runners:
        runner.lap(_turns(rng, FEWEST, len(arrays), length))  # compiles, and fills the allocator
    slowest = max(runner.lap(_turns(rng, FEWEST, len(arrays), length)) for runner in runners)
    calls = int(np.clip(PATIENCE_S / (2 * LAPS * slowest), FEWEST, CALLS))
    laps = LAPS if slowest * FEWEST * 6 < PATIENCE_S else 1  # so slow that one lap tells
    race, limit = Race(), time.monotonic() + PATIENCE_S
    while len(race.seconds) < laps and (len(race.seconds) < 3 or time.monotonic() < limit):
        turns = _turns(rng, calls, len(arrays), length)
        for runner in runners if len(race.seconds) % 2 else reversed(runners):
            (race.seconds if runner is runners[0] else race.reference_seconds).append(runner.lap(turns))
        race.samples += _sampled(runners[0], arrays, turns, depth, rng)
    return race


def _turns(rng: np.random.Generator, calls: int, tensors: int, length: int) -> list[list[int]]:
    return [[int(turn) for turn in row] for row in rng.integers(0, length, (calls, tensors))]


def _sampled(runner: Runner, arrays: list[wire.Array], turns: list[list[int]], depth: int, rng: np.random.Generator) -> list[Sample]:
    shape = arrays[0].data.shape[:depth]
    places = [(call, tuple(int(n) for n in rng.integers(0, shape))) for call in range(len(turns))]
    told = runner.samples(places)
    told = told if isinstance(told, tuple) and len(told) == len(places) else ((),) * len(places)
    return [Sample(tuple(_turned(array, turn, runner.axis, place) for array, turn in zip(arrays, turns[call], strict=True)), place,
                   received(values) if isinstance(values, tuple) else ())
            for (call, place), values in zip(places, told, strict=True)]


def _turned(array: wire.Array, turn: int, axis: int, place: tuple[int, ...]) -> np.ndarray:
    """What a call was given around a place: every axis before ``axis`` is as the place says, the rest is whole."""
    part = array.data[place[:axis]]
    values = wire.widen(part) if array.dtype == "bfloat16" else part
    return np.roll(values, turn, 0)
