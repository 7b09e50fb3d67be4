"""The calendar: which rating the marks propose, when a question comes back, what to ask now.

Whole days in the person's own time zone; a day ends at four in the morning. No I/O, no clock, no chance:
cards are always counted afresh from the reviews (FSRS 6, without learning steps and without fuzz).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from itertools import zip_longest
from typing import Any

from ..errors import AttngradeError

AGAIN, HARD, GOOD, EASY = 1, 2, 3, 4
RATINGS = {AGAIN: "again", HARD: "hard", GOOD: "good", EASY: "easy"}
PASS_MARK = 0.75
LONGEST_DAYS = 365
_DAY_BEGINS = timedelta(hours=4)


@dataclass(frozen=True)
class Rated:
    """A question reviewed on a day."""

    question: str
    day: date
    rating: int


@dataclass(frozen=True)
class Call:
    """A question put on the deck on a day, from outside the quiz."""

    question: str
    day: date


@dataclass(frozen=True)
class Card:
    """What is known about one question on the deck."""

    question: str
    due: date
    last: date | None = None
    rating: int = 0
    reviews: int = 0
    lapses: int = 0
    called: bool = False
    memory: Any = field(default=None, compare=False, repr=False)

    @property
    def wrong(self) -> bool:
        """Whether the last answer was rated below good."""
        return self.rating in (AGAIN, HARD)

    def recall(self, day: date) -> float:
        """The chance of knowing it on that day."""
        return float(_scheduler().get_card_retrievability(self.memory, _noon(day))) if self.memory else 0.0


@dataclass(frozen=True)
class Plan:
    """What is left to do until an interview."""

    interview: date
    days_left: int
    unseen: int
    due: int
    new_a_day: int


def day_of(now: datetime) -> date:
    """The person's day: `now` is in their own time zone."""
    return (now - _DAY_BEGINS).date()


def proposed_rating(*, score: float, contradicted: bool, required_missed: bool, false_claim: bool, in_time: bool, hints: int) -> int:
    """The rating that the marks propose; the person may change it."""
    if contradicted or required_missed or score < 0.5:
        return AGAIN
    if score < PASS_MARK or false_claim:
        return HARD
    return EASY if score >= 1.0 and in_time and not hints else GOOD


def cards(events: Iterable[Rated | Call], today: date, interview: date | None = None) -> dict[str, Card]:
    """The deck after these events, given in order of time."""
    deck: dict[str, Card] = {}
    for event in events:
        card = deck.get(event.question) or Card(event.question, event.day)
        if isinstance(event, Call):
            deck[event.question] = replace(card, due=min(card.due, event.day), called=True)
        else:
            deck[event.question] = reviewed(card, event.rating, event.day)
    if interview is None or interview < today:
        return deck
    return {name: replace(card, due=_before(interview, card)) for name, card in deck.items()}


def reviewed(card: Card, rating: int, day: date) -> Card:
    """The card after one more review."""
    fsrs = _fsrs()
    memory = card.memory or fsrs.Card(card_id=card_number(card.question), due=_noon(day))
    after, _ = _scheduler().review_card(memory, fsrs.Rating(rating), _noon(max(day, card.last or day)))
    return Card(
        card.question, after.due.date(), day, rating, card.reviews + 1, card.lapses + (rating == AGAIN and card.reviews > 0), memory=after
    )


def preview(card: Card | None, question: str, day: date, interview: date | None = None) -> dict[int, int]:
    """For every rating the days until the question comes back."""
    start = card or Card(question, day)
    ends = {rating: reviewed(start, rating, day) for rating in RATINGS}
    return {rating: ((_before(interview, end) if interview and interview >= day else end.due) - day).days for rating, end in ends.items()}


def card_number(question: str) -> int:
    """A stable number for a question's card."""
    return int.from_bytes(hashlib.sha256(f"attngrade/{question}".encode()).digest()[:6], "big")


def choose(
    topics: Mapping[str, str], deck: Mapping[str, Card], today: date, *, count: int, only: str = "", interview: date | None = None
) -> list[str]:
    """Which questions to ask, best first. `topics` maps the questions at hand to their topic, in the bank's order.

    `only` is "due", "wrong" or "": then due ones come first, new ones after them and, where both run out, the ones due soonest.
    """
    known = [deck[name] for name in topics if name in deck]
    due = [card.question for card in sorted(known, key=lambda c: (not c.called, c.recall(today), c.due)) if card.due <= today]
    if only == "due":
        return due[:count]
    if only == "wrong":
        return [card.question for card in sorted(known, key=lambda c: (c.recall(today), c.due)) if card.wrong][:count]
    new = spread([name for name in topics if name not in deck], topics)
    room = max(count - len(due), min(_new_a_day(len(new), interview, today), count // 2))
    later = [card.question for card in sorted(known, key=lambda c: (c.due, c.recall(today))) if card.due > today]
    return [*due[: count - min(room, len(new))], *new[:room], *later][:count]


def interview_set(topics: Mapping[str, str], deck: Mapping[str, Card], count: int) -> list[str]:
    """Questions of as many topics as there are, the longest unasked first."""
    places = {name: place for place, name in enumerate(topics)}
    return spread(sorted(topics, key=lambda name: (_last(deck, name), places[name])), topics)[:count]


def spread(names: Sequence[str], topics: Mapping[str, str]) -> list[str]:
    """The same names, one topic after another."""
    by_topic: dict[str, list[str]] = {}
    for name in names:
        by_topic.setdefault(topics[name], []).append(name)
    return [name for row in zip_longest(*by_topic.values()) for name in row if name is not None]


def plan(names: Iterable[str], deck: Mapping[str, Card], today: date, interview: date) -> Plan:
    """What is left until the interview, over these questions."""
    listed = list(names)
    unseen = sum(name not in deck or not deck[name].reviews for name in listed)
    due = sum(name in deck and deck[name].due <= today for name in listed)
    return Plan(interview, max(0, (interview - today).days), unseen, due, _new_a_day(unseen, interview, today))


def _new_a_day(unseen: int, interview: date | None, today: date) -> int:
    if interview is None or interview < today:
        return 0
    return math.ceil(unseen / max(1, (interview - today).days))


def _before(interview: date, card: Card) -> date:
    """Due once more on the day before the interview at the latest (on the day itself when last seen on the day before)."""
    if card.last is None or card.last >= interview:
        return card.due
    return min(card.due, max(card.last + timedelta(days=1), interview - timedelta(days=1)))


def _last(deck: Mapping[str, Card], name: str) -> date:
    return (deck[name].last if name in deck else None) or date.min


def _noon(day: date) -> datetime:
    return datetime.combine(day, time(12), UTC)


def _fsrs() -> Any:
    try:
        import fsrs
    except ImportError:
        raise AttngradeError("The quiz plans its questions with the package fsrs, which isn't installed: `pip install 'fsrs>=6,<7'`.") from None
    return fsrs


@lru_cache(maxsize=1)
def _scheduler() -> Any:
    return _fsrs().Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False, maximum_interval=LONGEST_DAYS)
