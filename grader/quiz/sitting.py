"""One answer on the table: its marks, what the person says about them, and the rating that follows. Frozen; every change is a new record."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from .marking.records import CONTRADICTED, Marking, PointMark
from .question import Question
from .schedule import proposed_rating


@dataclass(frozen=True)
class Sitting:
    """`flips` maps points to the person's own word; `chosen` is the rating that the person chose, 0 for none."""

    question: Question
    marking: Marking
    seconds: float
    hints: int = 0
    flips: dict[str, bool] = field(default_factory=dict)
    chosen: int = 0

    def earned(self, point: str) -> bool:
        """Whether the point counts."""
        return self.flips.get(point, point in self.marking.earned)

    @property
    def score(self) -> float:
        """The weighted share of the points that count."""
        if not self.flips:
            return self.marking.score
        total = self.question.total
        return round(sum(p.weight for p in self.question.points if self.earned(p.id)) / total, 6) if total else 0.0

    @property
    def proposed(self) -> int:
        """The rating that the marks propose."""
        points = {point.id: point for point in self.question.points}
        standing = [mark for mark in self.marking.points if not self.earned(mark.id)]
        return proposed_rating(
            score=self.score,
            contradicted=any(mark.state == CONTRADICTED for mark in standing),
            required_missed=any(mark.id in points and points[mark.id].required for mark in standing),
            false_claim="contradiction" in self.marking.flags and not any(mark.state == CONTRADICTED for mark in self.marking.points),
            in_time=self.seconds <= self.question.time_s,
            hints=self.hints,
        )

    @property
    def rating(self) -> int:
        """The rating that counts."""
        return self.chosen or self.proposed

    def flipped(self, mark: PointMark) -> Sitting:
        """With this point counted the other way."""
        return replace(self, flips={**self.flips, mark.id: not self.earned(mark.id)})

    def rated(self, rating: int) -> Sitting:
        """With the person's own rating."""
        return replace(self, chosen=rating)
