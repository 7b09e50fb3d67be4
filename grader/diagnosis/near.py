"""Which wrong idea explains most of what is wrong, where none explains all of it: a second mistake, or another rounding, hides behind the first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..sandbox import wire
from ..sandbox.errors import WorkerError
from ..sandbox.proxy import Call
from .agreement import agree, differs, verdict_on
from .stage import Role, Stage, seconds

SHORTLIST = 8  # wrong ideas that are tried on all calls
EXPLAINED = 0.9  # of the distance between a wrong result and the right one
ENOUGH = ((0.7, 0.95), (0.95, 0.9))  # shares of the wrong calls that it explains, and of the right ones that it leaves right
PRICE = 3  # wrong calls that it has to explain for each right one that it spoils
LOOSELY = 0.6  # of the right calls, where every wrong one is answered to the digit by numbers that aren't all zero: its own side effects may differ
KEPT = 0.95  # of the right calls, where two wrong ideas share what is wrong
PATIENCE_S = 6.0  # by the submission's own time
LEAD = 0.1  # by which the best has to be ahead of the next
FAINT = 1e-3  # of the largest error: what is off by less is a bad witness


@dataclass(frozen=True)
class Fit:
    """How well a wrong idea fits: the wrong calls that it explains, and the share of the right ones that it leaves right."""

    role: Role
    told: frozenset[int]
    wrong: float
    right: float
    agreed: int  # wrong calls that it answers just as the submission does
    spoiled: int  # right calls that it gets wrong
    striking: int  # wrong calls that it answers just so, and whose answers nobody hits by chance

    def beats(self, other: Fit) -> bool:
        """Whether it is the better explanation beyond doubt: clearly more is explained, or no less and more of it to the digit."""
        lead = self.wrong + self.right - other.wrong - other.right
        return lead >= LEAD or (lead >= 0 and self.agreed > other.agreed)

    def outdoes(self, other: Fit) -> bool:
        """Whether it explains the same wrong calls and more, and more of them to the digit."""
        return self.told >= other.told and self.agreed > other.agreed

    @property
    def exact(self) -> bool:
        """Whether nothing is left to explain."""
        return self.wrong == self.right == 1.0 and self.agreed == len(self.told)

    @property
    def holds(self) -> bool:
        """Whether that is enough to speak of it."""
        if self.wrong == 1.0 and self.striking == len(self.told):
            return self.right >= LOOSELY
        return PRICE * self.spoiled <= len(self.told) and any(self.wrong >= wrong and self.right >= right for wrong, right in ENOUGH)


def nearest(stage: Stage, cast: tuple[str, ...], calls: list[Call], roles: list[Role], passed: frozenset[str]) -> list[Fit]:
    """The one role that explains most of what is wrong in ``calls``, clearly ahead of all others, or the two that explain it between them."""
    calls = affordable(calls, PATIENCE_S / 2 / SHORTLIST)
    try:
        right = list(stage.play(cast, calls))
    except WorkerError:
        return []
    wrong = [place for place, call in enumerate(calls) if differs(call, right[place], passed)]
    if len(wrong) < 2:
        return []
    sample = witnesses(calls, right, wrong, PATIENCE_S / 2 / max(1, len(roles)))
    first = [(sum(explained(calls[place], right[place], played) >= EXPLAINED for place, played in zip(sample, _played(stage, cast, role, calls, sample), strict=False)), role)
             for role in roles if role.at == "exact"]
    close = [role for count, role in sorted(first, key=lambda pair: -pair[0])[:SHORTLIST] if count]
    fits = [_fit(stage, cast, role, calls, right, wrong) for role in close]
    return two(fits, frozenset(wrong)) or one(fits)


def affordable(calls: list[Call], limit_s: float) -> list[Call]:
    """The cheap calls, as many as may be asked of every wrong idea on the shortlist, in their order."""
    chosen, spent = set(), 0.0
    for place in sorted(range(len(calls)), key=lambda place: calls[place].seconds):
        spent += calls[place].seconds
        if spent > limit_s:
            break
        chosen.add(place)
    return [call for place, call in enumerate(calls) if place in chosen]


def witnesses(calls: list[Call], right: list[Call], wrong: list[int], limit_s: float) -> list[int]:
    """The cheapest wrong call of each check, as many as may be asked of every wrong idea; none that is hardly wrong, unless all are."""
    off = {place: error(calls[place], right[place]) for place in wrong}
    largest = max((size for size in off.values() if np.isfinite(size)), default=0.0)
    plain = [place for place in wrong if off[place] >= FAINT * largest]
    first: dict[str, int] = {}
    for place in sorted(plain, key=lambda place: calls[place].seconds):
        first.setdefault(calls[place].check, place)
    chosen = list(first.values())
    while len(chosen) > 1 and seconds([calls[place] for place in chosen]) > limit_s:
        chosen.pop()
    return chosen


def one(fits: Sequence[Fit]) -> list[Fit]:
    """The best fit where it holds and is clearly ahead; where it is a special case of another that holds, that one."""
    ranked = sorted(fits, key=lambda fit: (-(fit.wrong + fit.right), -fit.agreed))
    if not ranked or not ranked[0].holds:
        return []
    general = next((fit for fit in ranked[1:] if fit.role.id == ranked[0].role.extends and fit.holds), None)
    if general is not None and not ranked[0].exact:
        ranked.remove(general)
        ranked.insert(0, general)
    best = ranked[0]
    return [best] if all(best.beats(fit) or related(fit.role, best.role) for fit in ranked[1:]) else []


def two(fits: Sequence[Fit], wrong: frozenset[int]) -> list[Fit]:
    """Two that leave nothing wrong unexplained between them and hardly touch what is right; none where others would do as well."""
    clean = sorted((fit for fit in fits if fit.right >= KEPT and fit.told < wrong), key=lambda fit: (-len(fit.told), -fit.agreed))
    pairs = [(first, second) for place, first in enumerate(clean) for second in clean[place + 1 :] if first.told | second.told == wrong and not related(first.role, second.role)]
    if not pairs:
        return []
    first, second = pairs[0]
    rivals = [fit for pair in pairs for fit in pair if not any(related(fit.role, chosen.role) or chosen.outdoes(fit) for chosen in (first, second))]
    return [] if rivals else [first, second]


def related(one: Role, other: Role) -> bool:
    """Whether they are the same, or one is a special case of the other."""
    return one.id in (other.id, other.extends) or one.extends == other.id


def _played(stage: Stage, cast: tuple[str, ...], role: Role, calls: list[Call], places: list[int]) -> Iterator[Call]:
    try:
        yield from stage.play((*cast, role.id), [calls[place] for place in places])
    except WorkerError:
        return


def _fit(stage: Stage, cast: tuple[str, ...], role: Role, calls: list[Call], right: list[Call], wrong: list[int]) -> Fit:
    played = list(_played(stage, cast, role, calls, list(range(len(calls)))))
    if len(played) < len(calls):
        return Fit(role, frozenset(), 0.0, 0.0, 0, len(calls), 0)
    told = frozenset(place for place in wrong if explained(calls[place], right[place], played[place]) >= EXPLAINED)
    kept = [agree(calls[place], played[place]) or not agree(calls[place], right[place])  # another right answer is no argument against it
            for place in range(len(calls)) if place not in wrong]
    agreed = [place for place in told if agree(calls[place], played[place])]
    return Fit(role, told, len(told) / len(wrong), sum(kept) / len(kept) if kept else 1.0, len(agreed), len(kept) - sum(kept),
               sum(strikes(calls[place]) for place in agreed))


def strikes(call: Call) -> bool:
    """Whether an answer says something: an exception, or numbers that aren't all zero or not finite."""
    found = numbers((call.value, call.grads)) if call.raised is None else None
    return found is None or bool((np.isfinite(found) & (found != 0)).any())


def explained(call: Call, right: Call, played: Call) -> float:
    """The share of the distance from the right result that is gone once the wrong idea's result is taken for the right one; 1 where they agree."""
    if agree(call, played) or (verdict_on(right) == "ValueError" != verdict_on(call) == verdict_on(played)):
        return 1.0  # where a refusal is missing, what comes instead is up to everything else
    if call.raised is not None or right.raised is not None or played.raised is not None:
        return 0.0
    ours, rights, theirs = (numbers((one.value, one.grads)) for one in (call, right, played))
    if ours is None or rights is None or theirs is None or not ours.shape == rights.shape == theirs.shape:
        return 0.0
    finite = np.isfinite(ours) & np.isfinite(rights)
    if not np.array_equal(np.isfinite(ours), np.isfinite(theirs)) or not finite.any():
        return 0.0
    away = float(np.abs(ours[finite] - rights[finite]).sum())
    return 1.0 - float(np.abs(ours[finite] - theirs[finite]).sum()) / away if away > 0 else 0.0


def error(call: Call, right: Call) -> float:
    """How far a result is from the right one, relative to the right one's size; infinite where they can't be compared."""
    ours, rights = (numbers((one.value, one.grads)) if one.raised is None else None for one in (call, right))
    if ours is None or rights is None or ours.shape != rights.shape or not np.array_equal(np.isfinite(ours), np.isfinite(rights)):
        return np.inf
    finite = np.isfinite(ours)
    with np.errstate(all="ignore"):
        return float(np.abs(ours[finite] - rights[finite]).sum() / (np.abs(rights)[finite].sum() + np.finfo(np.float64).tiny))


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
