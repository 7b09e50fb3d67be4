"""The question bank for a command: its problems become the one kind of error that a person sees."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import PackProblem, UsageProblem
from ..quiz.question import Bank, BankError, Question, UnknownQuestion, load_bank


def open_bank(folder: Path | None = None) -> Bank:
    """The bank in a folder, or the built-in one, with every question read. Raises PackProblem."""
    try:
        bank = load_bank(folder)
        for name in bank.ids:
            bank.get(name)
        return bank
    except BankError as error:
        raise PackProblem(str(folder or "The built-in question bank"), error.problems) from None


def of_topics(bank: Bank, topics: Sequence[str]) -> list[Question]:
    """The questions of these topics, all where none is named. Raises UsageProblem for a topic that isn't there."""
    known = list(dict.fromkeys(question.topic for question in bank.questions))
    for topic in topics:
        if topic not in known:
            raise UsageProblem(f"There is no topic {topic!r}. Topics: {', '.join(known)}.")
    return [question for question in bank.questions if not topics or question.topic in topics]


def named(bank: Bank, names: Sequence[str]) -> list[Question]:
    """The questions of these ids. Raises UsageProblem, with the nearest ids."""
    try:
        return [bank.get(name) for name in names]
    except UnknownQuestion as error:
        raise UsageProblem(str(error.args[0])) from None
