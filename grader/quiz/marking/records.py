"""What a marking is: frozen, without a terminal and without a clock."""

from __future__ import annotations

from dataclasses import dataclass

MET, CONTRADICTED, NOT_DETECTED = "met", "contradicted", "not-detected"
FLAGS = ("empty", "copied-prompt", "keyword-list", "contradiction", "off-topic", "too-long")


@dataclass(frozen=True)
class PointMark:
    """One point: its state, the span of the answer that decided it, and a note for the person."""

    id: str
    state: str = NOT_DETECTED
    span: tuple[int, int] | None = None
    note: str = ""

    @property
    def earned(self) -> bool:
        return self.state == MET


@dataclass(frozen=True)
class Marking:
    """`unreadable` is a reason to ask again: nothing was marked and no attempt is spent."""

    question: str
    answer: str
    points: tuple[PointMark, ...]
    score: float
    flags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # false claims that were recognised, and what a flag means
    unreadable: str | None = None
    marker: str = "rubric"

    @property
    def earned(self) -> tuple[str, ...]:
        return tuple(point.id for point in self.points if point.earned)

    def evidence(self, point: PointMark) -> str:
        """The words of the answer that decided a point."""
        return self.answer[point.span[0] : point.span[1]] if point.span else ""

    def record(self) -> dict[str, object]:
        """The object of `attngrade mark --format json`."""
        rows = [{"id": p.id, "earned": p.earned, "state": p.state, "evidence": self.evidence(p), "note": p.note} for p in self.points]
        return {
            "question": self.question,
            "score": self.score,
            "marker": self.marker,
            "points": rows,
            "flags": list(self.flags),
            "notes": list(self.notes),
            "unreadable": self.unreadable,
        }
