"""Which wrong answer behaves like this submission."""

from __future__ import annotations

from ..catalog import Exercise
from ..verdict import Verdict


def diagnosed(exercise: Exercise, verdict: Verdict) -> Verdict:
    """The verdict with the misconceptions that explain it."""
    return verdict
