"""How well the marker does on labelled answers: precision, recall, F1, and what bad answers get."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .mark import mark
from .question import Bank, Labelled

BAD = ("negated", "keyword-list", "copied", "off-topic", "injection")
A_THIRD = 1 / 3 + 1e-9


@dataclass
class Tally:
    """Counts over points; `bad` holds for each kind of bad answer its highest score and how many are above a third."""

    right: int = 0
    spurious: int = 0
    missed: int = 0
    answers: int = 0
    exact: int = 0
    bad: dict[str, list[float]] = field(default_factory=dict)
    errors: list[tuple[Labelled, tuple[str, ...], tuple[str, ...]]] = field(default_factory=list)  # (answer, spurious, missed)

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.spurious) if self.right + self.spurious else 1.0

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0

    @property
    def f1(self) -> float:
        both = 2 * self.right + self.spurious + self.missed
        return 2 * self.right / both if both else 1.0

    @property
    def above_a_third(self) -> int:
        return sum(score > A_THIRD for scores in self.bad.values() for score in scores)

    def record(self) -> dict[str, object]:
        return {
            "answers": self.answers,
            "exact": self.exact,
            "precision": round(self.precision, 4),
            "recall": round(self.recall, 4),
            "f1": round(self.f1, 4),
            "adversarial": {kind: {"answers": len(s), "highest": max(s), "above_a_third": sum(x > A_THIRD for x in s)} for kind, s in self.bad.items()},
        }


def evaluate(bank: Bank, answers: Iterable[Labelled]) -> dict[str, Tally]:
    """A tally for each question, and `overall`."""
    tallies: dict[str, Tally] = {"overall": Tally()}
    for labelled in answers:
        marking = mark(bank.get(labelled.question), labelled.answer)
        for tally in (tallies["overall"], tallies.setdefault(labelled.question, Tally())):
            _count(tally, labelled, set(marking.earned), marking.score)
    return tallies


def _count(tally: Tally, labelled: Labelled, earned: set[str], score: float) -> None:
    wanted = set(labelled.earned)
    tally.answers += 1
    tally.exact += earned == wanted
    tally.right += len(earned & wanted)
    tally.spurious += len(earned - wanted)
    tally.missed += len(wanted - earned)
    if labelled.kind in BAD:
        tally.bad.setdefault(labelled.kind, []).append(score)
    if earned != wanted:
        tally.errors.append((labelled, tuple(sorted(earned - wanted)), tuple(sorted(wanted - earned))))
