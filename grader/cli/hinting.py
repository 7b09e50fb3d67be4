"""Which hint comes next: one about the mistake that the latest check named, then the exercise's own, from a nudge to nearly there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..store import Hint

if TYPE_CHECKING:
    from ..catalog import Exercise
    from ..store import Store


@dataclass(frozen=True)
class Said:
    """A hint: about a misconception, or the exercise's own with its number."""

    text: str
    about: str = ""
    number: int = 0
    of: int = 0

    @property
    def sentence(self) -> str:
        """As a person reads it."""
        return " ".join((f"Hint about a mistake: {self.text}" if self.about else f"Hint {self.number} of {self.of}: {self.text}").split())


def following(exercise: Exercise, store: Store) -> Said | None:
    """The next one; None once all have been seen. A mistake that is mended is no subject any more."""
    before = [entry.record for entry in store.entries(Hint, about=exercise.key)]
    told = {hint.about for hint in before}
    for name, text in _of_latest(exercise, store):
        if name not in told:
            return Said(text, name)
    own = sum(not hint.about for hint in before)
    return _own(exercise, own) if own < len(exercise.hints) else None


def seen(exercise: Exercise, store: Store) -> list[Said]:
    """Those said so far, in that order."""
    about = {name: text for entry in store.attempts(exercise.key) for name, text in zip(entry.record.misconceptions, entry.record.hints, strict=False)}
    said: list[Said] = []
    for entry in store.entries(Hint, about=exercise.key):
        own = sum(not each.about for each in said)
        if entry.record.about:
            said.append(Said(about.get(entry.record.about, entry.record.about), entry.record.about))
        elif own < len(exercise.hints):
            said.append(_own(exercise, own))
    return said


def _of_latest(exercise: Exercise, store: Store) -> list[tuple[str, str]]:
    attempts = store.attempts(exercise.key)
    latest = attempts[-1].record if attempts else None
    return [(name, text) for name, text in zip(latest.misconceptions, latest.hints, strict=False) if text] if latest is not None else []


def _own(exercise: Exercise, place: int) -> Said:
    return Said(exercise.hints[place], "", place + 1, len(exercise.hints))
