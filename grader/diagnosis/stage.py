"""Replaying recorded calls on the solution with misconceptions cast into it. The worker is passed in; this room starts nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ..sandbox.errors import Raised
from ..sandbox.host import raise_if_raised
from ..sandbox.proxy import Call
from .agreement import numbers_as_scalars


class Troupe(Protocol):
    """A trusted worker that has opened a pack's solution and misconceptions."""

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send one message, wait for the reply."""

    def mark_memory(self) -> int:
        """Set the high-water mark back."""

    def peak_bytes(self) -> int:
        """The high-water mark since."""


@dataclass(frozen=True)
class Role:
    """A misconception as the trusted worker lists it."""

    id: str
    of: str
    message: str
    advice: str
    extends: str | None
    question: str | None
    hint: str | None
    at: str


def seconds(calls: Iterable[Call]) -> float:
    """What the submission took for these calls."""
    return sum(call.seconds for call in calls)


class Stage:
    """One exercise's solution, ready to be played wrongly."""

    def __init__(self, troupe: Troupe, solution: str, misconceptions: str):
        self._troupe = troupe
        opened = self._ask({"op": "open", "solution": solution, "misconceptions": misconceptions})
        self.roles = [Role(*row) for row in opened["value"]]
        self.remembers = False  # whether what was cast last keeps something from call to call
        self.numbers = False  # whether an array without axes counts as a number

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        reply = self._troupe.ask(message)
        raise_if_raised(reply, "the pack")
        return reply

    def play(self, cast: tuple[str, ...], calls: list[Call]) -> Iterator[Call]:
        """The same calls with ``cast`` standing in, one by one, so that a caller may stop at the first difference."""
        self._ask({"op": "cast", "ids": list(cast)})
        self.remembers = False
        for call in calls:
            yield numbers_as_scalars(self._replay(call)) if self.numbers else self._replay(call)

    def _replay(self, call: Call) -> Call:
        before = self._troupe.mark_memory() if call.weighed else 0
        reply = self._troupe.ask(call.message)
        self.remembers |= bool(reply.get("remembers"))
        grown = max(0, self._troupe.peak_bytes() - before) if call.weighed else 0
        bare = replace(call, value=None, raised=None, grads=None, mutated=(), touched=(), launches=(), peak_bytes=grown)
        try:
            raise_if_raised(reply, call.function)
        except Raised as raised:
            return replace(bare, raised=raised)
        grads = reply.get("grads")
        return replace(
            bare, value=reply.get("value"), grads=grads if isinstance(grads, tuple) else None, mutated=tuple(reply.get("mutated", ())),
            touched=tuple(reply.get("touched", ())), launches=tuple({"kernel": name} for name, *_ in reply.get("launches", ())),
        )
