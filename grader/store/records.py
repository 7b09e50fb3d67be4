"""What the log holds: one frozen record per kind of entry, and its plain form as JSON."""

from __future__ import annotations

import math
from dataclasses import MISSING, asdict, dataclass, fields
from datetime import UTC, date, datetime
from typing import Any, ClassVar


class RecordProblem(ValueError):
    """Plain data that is no record; the message says what was expected."""


@dataclass(frozen=True)
class Attempt:
    """One check of one exercise."""

    kind: ClassVar[str] = "attempt"
    exercise: str
    verdict: str
    score: float
    max_score: float
    misconceptions: tuple[str, ...] = ()
    sha256: str = ""
    seconds: float = 0.0
    reason: str = ""
    hints: tuple[str, ...] = ()  # about each of the misconceptions


@dataclass(frozen=True)
class Hint:
    """One hint shown; `number` counts from 1."""

    kind: ClassVar[str] = "hint"
    exercise: str
    number: int
    about: str = ""  # the misconception that it is about; empty for one of the exercise's own


@dataclass(frozen=True)
class GiveUp:
    """A solution shown before the exercise was passed."""

    kind: ClassVar[str] = "give-up"
    exercise: str


@dataclass(frozen=True)
class Answer:
    """One typed answer with the marks it got on the spot; flips come after it as entries of their own. It may replace one with a typo."""

    kind: ClassVar[str] = "answer"
    question: str
    text: str
    score: float
    rev: int = 1
    earned: tuple[str, ...] = ()
    contradicted: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    marker: str = "rubric"
    seconds: float = 0.0
    hints: int = 0
    replaces: str = ""


@dataclass(frozen=True)
class Flip:
    """The person's own word on one point of an answer, and the answer's score with it."""

    kind: ClassVar[str] = "flip"
    answer: str
    point: str
    earned: bool
    score: float


@dataclass(frozen=True)
class Review:
    """A rating, 1 (again) to 4 (easy). `day` is the person's own day; of several ratings of one answer the last one counts."""

    kind: ClassVar[str] = "review"
    question: str
    rating: int
    day: str
    answer: str = ""


@dataclass(frozen=True)
class Called:
    """A question put on the deck from outside, and why: a failed exercise's misconception."""

    kind: ClassVar[str] = "called"
    question: str
    day: str
    because: str = ""


@dataclass(frozen=True)
class Setting:
    """A remembered choice; the latest one counts, an empty value means none."""

    kind: ClassVar[str] = "setting"
    key: str
    value: str


Record = Attempt | Hint | GiveUp | Answer | Flip | Review | Called | Setting
KINDS: dict[str, type[Any]] = {each.kind: each for each in (Attempt, Hint, GiveUp, Answer, Flip, Review, Called, Setting)}
_YEARS = range(1990, 2300)
_SUBJECTS = ("exercise", "question", "answer", "key")


@dataclass(frozen=True)
class Entry:
    """A record with its permanent id and its moment, in UTC."""

    id: str
    at: datetime
    record: Any


def subject(record: Record) -> str:
    """What a record is about: the id of an exercise, a question or an answer, or a setting's key."""
    return next(str(getattr(record, name)) for name in _SUBJECTS if hasattr(record, name))


def plain(record: Record) -> dict[str, Any]:
    """The record's fields as JSON data."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(record).items()}


def record_from(kind: str, data: dict[str, Any], *, strict: bool = True) -> Any:
    """The record of plain data. Raises RecordProblem; `strict` refuses fields that this version doesn't know."""
    if kind not in KINDS:
        raise RecordProblem(f"the kind {kind!r} is not one of {', '.join(KINDS)}")
    known = {each.name: each for each in fields(KINDS[kind])}
    extra = sorted(set(data) - set(known))
    if extra and strict:
        raise RecordProblem(f"the field {extra[0]!r} is unknown for {kind!r}; a newer attngrade may have written it")
    values = {name: _value(name, str(known[name].type), data[name]) for name in known if name in data}
    try:
        record = KINDS[kind](**values)
    except TypeError:
        missing = next(name for name, each in known.items() if name not in data and each.default is MISSING)
        raise RecordProblem(f"the field {missing!r} is missing") from None
    _sensible(record)
    return record


def moment_text(at: datetime) -> str:
    """A moment as UTC text of fixed width, so that text order is time order."""
    if at.tzinfo is None:
        raise ValueError("a moment must be timezone-aware")
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def moment_from(text: Any) -> datetime:
    """The moment of such text (any ISO form with an offset will do). Raises RecordProblem."""
    try:
        at = datetime.fromisoformat(text)
        if at.tzinfo is not None and at.year in _YEARS:
            return at.astimezone(UTC)
    except (TypeError, ValueError):
        pass
    raise RecordProblem(f"'at' must be a moment such as 2026-07-26T10:00:00Z, got {text!r}"[:200])


def _value(name: str, expected: str, value: Any) -> Any:
    if expected == "str" and isinstance(value, str):
        return value
    if expected == "bool" and isinstance(value, bool):
        return value
    if expected == "int" and isinstance(value, int) and not isinstance(value, bool):
        return value
    if expected == "float" and isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    if expected.startswith("tuple") and isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    wanted = {"str": "text", "bool": "true or false", "int": "a whole number", "float": "a number"}.get(expected, "a list of texts")
    raise RecordProblem(f"the field {name!r} must be {wanted}, got {value!r}"[:200])


def _sensible(record: Record) -> None:
    if isinstance(record, Review) and record.rating not in (1, 2, 3, 4):
        raise RecordProblem(f"'rating' must be 1, 2, 3 or 4, got {record.rating}")
    if isinstance(record, (Review, Called)) and not _is_day(record.day):
        raise RecordProblem(f"'day' must be a date such as 2026-07-26, got {record.day!r}"[:200])


def _is_day(text: str) -> bool:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return False
    return day.isoformat() == text and day.year in _YEARS
