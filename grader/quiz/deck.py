"""Between the store and the calendar: answers, flips and ratings in; cards out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from ..store import Answer, Called, Flip, Review, Store
from .question import Bank, Question
from .schedule import Call, Card, Rated, cards, day_of, proposed_rating

INTERVIEW = "interview"  # the setting that holds the date
_LEFT_ALONE = timedelta(hours=1)


@dataclass(frozen=True)
class Deck:
    """The cards as of today."""

    today: date
    cards: Mapping[str, Card]
    interview: date | None = None

    @property
    def due(self) -> list[str]:
        """Questions due today or before."""
        return [name for name, card in self.cards.items() if card.due <= self.today]

    @property
    def wrong(self) -> list[str]:
        """Questions whose last answer was rated below good."""
        return [name for name, card in self.cards.items() if card.wrong]


@dataclass(frozen=True)
class Given:
    """An answer as it stands now, the person's flips counted."""

    id: str
    at: datetime
    question: str
    text: str
    score: float
    earned: tuple[str, ...]
    seconds: float
    contradicted: bool = False
    hints: int = 0


def load_deck(store: Store, now: datetime) -> Deck:
    """The deck, counted from the log."""
    today = day_of(now)
    interview = interview_date(store)
    return Deck(today, cards(_events(store), today, interview), interview)


def interview_date(store: Store) -> date | None:
    """The date that the person gave with `--until`."""
    text = store.setting(INTERVIEW)
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        return None


def remember_misconceptions(store: Store, question_ids: Iterable[str | None], now: datetime, because: str = "") -> list[str]:
    """Put the questions about a failed exercise's misconceptions on the deck, due today. Returns those that were not due already."""
    deck = load_deck(store, now)
    names = [name for name in dict.fromkeys(question_ids) if name and not _called_and_due(deck, name)]
    if names:
        store.add_all([Called(name, deck.today.isoformat(), because) for name in names], now)
    return names


def rate(store: Store, question: str, answer: str, rating: int, now: datetime) -> None:
    """Log a rating; a second one of the same answer replaces the first."""
    store.add(Review(question, rating, day_of(now).isoformat(), answer), now)


def unrated(store: Store, now: datetime) -> list[Given]:
    """Answers that an interruption left without a rating."""
    rated = {entry.record.answer for entry in store.entries(Review)}
    return [given for given in given_answers(store) if given.id not in rated and given.at < now - _LEFT_ALONE]


def settle(store: Store, bank: Bank, now: datetime) -> int:
    """Rate the answers that an interruption left unrated, as their marks propose, on the day they were given. Returns how many."""
    left = [given for given in unrated(store, now) if given.question in bank.ids]
    for given in left:
        store.add(Review(given.question, _rating(bank.get(given.question), given), day_of(given.at.astimezone(now.tzinfo)).isoformat(), given.id), now)
    return len(left)


def given_answers(store: Store, question: str | None = None) -> list[Given]:
    """Every answer, oldest first, with the flips that followed it; one that was replaced is left out."""
    flips: dict[str, list[Flip]] = {}
    for entry in store.entries(Flip):
        flips.setdefault(entry.record.answer, []).append(entry.record)
    entries = store.entries(Answer, about=question)
    replaced = {entry.record.replaces for entry in entries}
    return [_given(entry.id, entry.at, entry.record, flips.get(entry.id, [])) for entry in entries if entry.id not in replaced]


def _given(name: str, at: datetime, answer: Answer, flips: list[Flip]) -> Given:
    earned = dict.fromkeys(answer.earned, True) | {flip.point: flip.earned for flip in flips}
    score = flips[-1].score if flips else answer.score
    counted = tuple(point for point, yes in earned.items() if yes)
    contradicted = bool(set(answer.contradicted) - set(counted))
    return Given(name, at, answer.question, answer.text, score, counted, answer.seconds, contradicted, answer.hints)


def _rating(question: Question, given: Given) -> int:
    missed = any(point.required and point.id not in given.earned for point in question.points)
    in_time = given.seconds <= question.time_s
    return proposed_rating(
        score=given.score, contradicted=given.contradicted, required_missed=missed, false_claim=False, in_time=in_time, hints=given.hints
    )


def _events(store: Store) -> list[Rated | Call]:
    """Reviews and calls in order of time; an answer counts once, where it was first rated, with its last rating."""
    out: dict[str, Rated | Call] = {}
    for entry in store.entries(Review, Called):
        record = entry.record
        day = date.fromisoformat(record.day)
        if isinstance(record, Called):
            out[entry.id] = Call(record.question, day)
        else:
            key = record.answer or entry.id
            out[key] = Rated(record.question, out[key].day if key in out else day, record.rating)
    return list(out.values())


def _called_and_due(deck: Deck, name: str) -> bool:
    return name in deck.cards and deck.cards[name].called and deck.cards[name].due <= deck.today
