"""Which hint comes next: one about the mistake that the latest check named, then the exercise's own, from a nudge to nearly there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..store import Hint

if TYPE_CHECKING:
    from ..catalog import Exercise
    from ..store import Store


def following(exercise: Exercise, store: Store) -> tuple[str, Hint] | None:
    """The sentence to say, and its record; None once all have been seen. A mistake that is mended is no subject any more."""
    before = [entry.record for entry in store.entries(Hint, about=exercise.id)]
    told = {hint.about for hint in before}
    for name, text in _of_latest(exercise, store):
        if name not in told:
            return f"Hint about your mistake: {text}", Hint(exercise.id, len(before) + 1, name)
    own = sum(not hint.about for hint in before)
    return (_numbered(exercise, own), Hint(exercise.id, len(before) + 1)) if own < len(exercise.hints) else None


def seen(exercise: Exercise, store: Store) -> list[str]:
    """The sentences said so far, in that order."""
    about = {name: text for entry in store.attempts(exercise.id) for name, text in zip(entry.record.misconceptions, entry.record.hints, strict=False)}
    said, own = [], 0
    for entry in store.entries(Hint, about=exercise.id):
        if entry.record.about:
            said.append(f"Hint about a mistake: {about.get(entry.record.about, entry.record.about)}")
        elif own < len(exercise.hints):
            said.append(_numbered(exercise, own))
            own += 1
    return said


def _of_latest(exercise: Exercise, store: Store) -> list[tuple[str, str]]:
    attempts = store.attempts(exercise.id)
    latest = attempts[-1].record if attempts else None
    return [(name, text) for name, text in zip(latest.misconceptions, latest.hints, strict=False) if text] if latest is not None else []


def _numbered(exercise: Exercise, place: int) -> str:
    return f"Hint {place + 1} of {len(exercise.hints)}: {exercise.hints[place]}"
