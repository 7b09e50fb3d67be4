"""A small bank, a clock that is moved by hand, a terminal that is a list of keystrokes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from attngrade.cli.quiz_session import Session
from attngrade.quiz.marking.records import CONTRADICTED, MET, NOT_DETECTED, Marking, PointMark
from attngrade.quiz.question import Option, Point, Question, Slot
from attngrade.render.ink import Ink
from attngrade.store import Store, open_store

HOME_ZONE = timezone(timedelta(hours=2))


def make_question(name: str, topic: str = "scores", **more: object) -> Question:
    points = (Point("mean", "The mean is zero.", feedback="Say what the mean is."), Point("std", "The deviation is the root of d_k.", required=True))
    fields: dict[str, object] = {"rev": 1, "kind": "open", "difficulty": 2, "time_s": 60}
    fields |= {"answer": "Zero mean, root deviation.", "why": "Because variances add."}
    fields |= {"prompt": f"What about {name}?", "points": points, "follow_ups": ("And with bias?",), "hints": ("Look at one term.",), "sources": ("A book",)}
    return Question(id=name, topic=topic, **(fields | more))  # type: ignore[arg-type]


QUESTIONS = (
    make_question("variance"),
    make_question("jacobian", "softmax"),
    make_question("masks", "masks"),
    make_question("scale", "scores"),
    make_question(
        "pick", "softmax", kind="choice", points=(Point("choice", "softmax", required=True),),
        options=(Option("a1", "before the softmax", True), Option("b2", "after it", why="It looks the same."), Option("c3", "nowhere")),
    ),
    make_question(
        "pair", "masks", kind="slots", points=(Point("x", "x: 1"), Point("y", "y: 2")), slots=(Slot("x", "x", "1"), Slot("y", "y", "2"))
    ),
    make_question("slot", "masks", kind="slots", points=(Point("x", "x: 1"),), slots=(Slot("x", "x", "1"),)),
)  # fmt: skip


class SmallBank:
    """Just enough of a bank."""

    def __init__(self, questions: Iterable[Question] = QUESTIONS):
        self.questions = tuple(questions)
        self.ids = tuple(question.id for question in self.questions)

    def get(self, name: str) -> Question:
        return next(question for question in self.questions if question.id == name)


def keyword_marker(question: Question, answer: str) -> Marking:
    """A point is met when its id is in the answer, contradicted by "not" and its id."""
    if "???" in answer:
        return Marking(question.id, answer, (), 0.0, unreadable="the bracket isn't closed")
    words = answer.split()
    marks = tuple(_word_mark(point, answer, words) for point in question.points)
    earned = [point.weight for point, mark in zip(question.points, marks, strict=True) if mark.state == MET]
    return Marking(question.id, answer, marks, sum(earned) / question.total, () if answer else ("empty",), () if answer else ("Nothing was answered.",))


def _word_mark(point: Point, answer: str, words: list[str]) -> PointMark:
    word = point.id if point.id != "choice" else "a1"
    if word not in words:
        return PointMark(point.id, NOT_DETECTED, None, point.feedback)
    at = answer.index(word)
    wrong = words.index(word) > 0 and words[words.index(word) - 1] == "not"
    return PointMark(point.id, CONTRADICTED if wrong else MET, (at, at + len(word)), "It is." if wrong else "")


class Leaves(Exception):
    """The script has run out: the quiz asked for more than the test expected."""


class Script:
    """A terminal whose person types what is listed; exceptions in the list are raised, numbers let time pass."""

    def __init__(self, keys: Iterable[object], width: int = 78):
        self.keys, self.width, self.ink = list(keys), width, Ink(False)
        self.shown: list[str] = []
        self.seconds = 0.0
        self.half = ""
        self.prefilled: list[str] = []
        self.recalled: list[str] = []
        self.left: list[float] = []

    @property
    def text(self) -> str:
        return "\n".join(self.shown)

    def now(self) -> float:
        return self.seconds

    def say(self, lines: str | Iterable[str] = "") -> None:
        self.shown += [lines] if isinstance(lines, str) else list(lines)

    def line(self, left: Callable[[], float], prefill: str = "") -> str:
        self.left.append(left())
        self.prefilled.append(prefill)
        return self._next()

    def key(self, prompt: str) -> str:
        self.shown.append(prompt)
        return self._next()

    def unfinished(self) -> str:
        return self.half

    def recall(self, text: str) -> bool:
        self.recalled.append(text)
        return True

    def edit(self, text: str) -> str | None:
        return text + "\nfrom the editor"

    def _next(self) -> str:
        while True:
            if not self.keys:
                raise Leaves(self.text)
            key = self.keys.pop(0)
            if isinstance(key, (int, float)):
                self.seconds += key
            elif isinstance(key, (BaseException, type)):
                raise key  # type: ignore[misc]
            else:
                return str(key)


class Clock:
    """Now, until it's moved."""

    def __init__(self, at: datetime):
        self.at = at

    def __call__(self) -> datetime:
        return self.at

    def tomorrow(self, days: int = 1) -> None:
        self.at += timedelta(days=days)


@pytest.fixture
def clock() -> Clock:
    return Clock(datetime(2026, 7, 26, 18, 0, tzinfo=HOME_ZONE))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "attngrade.db") as opened:
        yield opened


@pytest.fixture
def bank() -> SmallBank:
    return SmallBank()


@pytest.fixture
def sit(store: Store, clock: Clock, bank: SmallBank):  # type: ignore[no-untyped-def]
    def run(keys: Iterable[object], names: list[str], *, width: int = 78, half: str = "", **more: bool) -> tuple[Script, bool]:
        script = Script(keys, width)
        script.half = half
        finished = Session(script, store, bank, keyword_marker, clock).run(names, **more)  # type: ignore[arg-type]
        assert not script.keys, f"never asked for: {script.keys}"
        return script, finished

    return run
