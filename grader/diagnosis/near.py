"""Which wrong idea explains most of what is wrong, where none explains all of it: a second mistake, or another rounding, hides behind the first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..sandbox import wire
from ..sandbox.errors import WorkerError
from ..sandbox.proxy import Call
from .agreement import agree, differs
from .stage import Role, Stage

SHORTLIST = 6  # wrong ideas that are tried on all calls
EXPLAINED = 0.9  # of the distance between a wrong result and the right one
ENOUGH = ((0.7, 0.8), (0.95, 0.6))  # shares of the wrong calls that it explains, and of the right ones that it leaves right
PATIENCE_S = 6.0  # by the submission's own time
LEAD = 0.1  # by which the best has to be ahead of the next


@dataclass(frozen=True)
class Fit:
    """How well a wrong idea fits: shares of the wrong calls it explains and of the right calls it leaves right."""

    role: Role
    wrong: float
    right: float

    @property
    def exact(self) -> bool:
        """Whether nothing is left to explain."""
        return self.wrong == self.right == 1.0

    @property
    def holds(self) -> bool:
        """Whether that is enough to speak of it."""
        return any(self.wrong >= wrong and self.right >= right for wrong, right in ENOUGH)


def nearest(stage: Stage, cast: tuple[str, ...], calls: list[Call], roles: list[Role], passed: frozenset[str]) -> Role | None:
    """The one role that explains most of what is wrong in ``calls``, clearly ahead of all others; None where that is open."""
    try:
        right = list(stage.play(cast, calls))
    except WorkerError:
        return None
    wrong = [place for place, call in enumerate(calls) if differs(call, right[place], passed)]
    sample = sorted(wrong, key=lambda place: calls[place].seconds)[:2]  # the cheap ones: all wrong ideas are tried on these
    if len(wrong) < 2 or len(roles) * _seconds(calls[place] for place in sample) + SHORTLIST * _seconds(calls) > PATIENCE_S:
        return None
    first = [(sum(explained(calls[place], right[place], played) for place, played in zip(sample, _played(stage, cast, role, calls, sample), strict=False)), role)
             for role in roles if role.at == "exact"]
    close = [role for share, role in sorted(first, key=lambda pair: -pair[0])[:SHORTLIST] if share >= EXPLAINED * 0.5 * len(sample)]
    fits = sorted((_fit(stage, cast, role, calls, right, set(wrong)) for role in close), key=lambda fit: -(fit.wrong + fit.right))
    if not fits or not fits[0].holds:
        return None
    general = next((fit for fit in fits[1:] if fit.role.id == fits[0].role.extends and fit.holds), None)
    if general is not None and not fits[0].exact:
        fits.remove(general)
        fits.insert(0, general)
    others = [fit for fit in fits[1:] if fit.role.extends != fits[0].role.id and fit.role.id != fits[0].role.extends]
    return None if others and others[0].wrong + others[0].right > fits[0].wrong + fits[0].right - LEAD else fits[0].role


def _seconds(calls: Iterable[Call]) -> float:
    return sum(call.seconds for call in calls)


def _played(stage: Stage, cast: tuple[str, ...], role: Role, calls: list[Call], places: list[int]) -> Iterator[Call]:
    try:
        yield from stage.play((*cast, role.id), [calls[place] for place in places])
    except WorkerError:
        return


def _fit(stage: Stage, cast: tuple[str, ...], role: Role, calls: list[Call], right: list[Call], wrong: set[int]) -> Fit:
    played = list(_played(stage, cast, role, calls, list(range(len(calls)))))
    if len(played) < len(calls):
        return Fit(role, 0.0, 0.0)
    told = [explained(calls[place], right[place], played[place]) >= EXPLAINED for place in sorted(wrong)]
    kept = [agree(calls[place], played[place]) or not agree(calls[place], right[place])  # another right answer is no argument against it
            for place in range(len(calls)) if place not in wrong]
    return Fit(role, sum(told) / len(told), sum(kept) / len(kept) if kept else 1.0)


def explained(call: Call, right: Call, played: Call) -> float:
    """The share of the distance from the right result that is gone once the wrong idea's result is taken for the right one; 1 where they agree."""
    if agree(call, played):
        return 1.0
    if call.raised is not None or right.raised is not None or played.raised is not None:
        return 0.0
    ours, rights, theirs = (numbers((one.value, one.grads)) for one in (call, right, played))
    if ours is None or rights is None or theirs is None or not ours.shape == rights.shape == theirs.shape:
        return 0.0
    finite = np.isfinite(ours) & np.isfinite(rights)
    if not np.array_equal(np.isfinite(ours), np.isfinite(theirs)) or not finite.any():
        return 0.0
    away = float(np.abs(ours - rights)[finite].sum())
    return 1.0 - float(np.abs(ours - theirs)[finite & np.isfinite(theirs)].sum()) / away if away > 0 else 0.0


def numbers(value: Any) -> np.ndarray | None:
    """All numbers of a value in one row; None where something else is among them."""
    if isinstance(value, wire.Array):
        data = wire.widen(value.data) if value.dtype == "bfloat16" else value.data
        return data.astype(np.float64).ravel() if data.dtype.kind in "fiub" else None
    if type(value) in (int, float, bool):
        return np.asarray([value], dtype=np.float64) if abs(value) < 2**1000 else None
    if value is None:
        return np.zeros(0)
    if isinstance(value, (tuple, list)):
        parts = [numbers(item) for item in value]
        return None if any(part is None for part in parts) else np.concatenate([np.zeros(0), *(part for part in parts if part is not None)])
    return None
