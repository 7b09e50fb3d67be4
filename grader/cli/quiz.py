"""``attngrade quiz``: rapid fire against the clock, marked, scheduled."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import UsageProblem
from .options import bank_options

if TYPE_CHECKING:
    from ..quiz.deck import Deck
    from ..quiz.marking.records import Marking
    from ..quiz.question import Bank, Question
    from ..store import Store
    from .console import Console


@click.command("quiz", epilog="Example: attngrade quiz --topic masks --count 5 --until 2027-03-01")
@click.argument("questions", nargs=-1, metavar="[QUESTION]...")
@click.option("--topic", "topics", multiple=True, help="Only questions of this topic (again for more).")
@click.option("--due", is_flag=True, help="Only what is due today.")
@click.option("--wrong", is_flag=True, help="Only what was rated again or hard last time.")
@click.option("--count", type=click.IntRange(min=1), default=8, show_default=True, help="At most so many questions.")
@click.option("--interview", is_flag=True, help="Eight questions, no marks until the end, then a report.")
@click.option("--until", metavar="DATE", help="Plan up to an interview on this date (remembered; `none` forgets it).")
@click.option("--judge", is_flag=True, help="Let a language model mark as well (your answers leave this machine).")
@bank_options
def quiz(
    questions: tuple[str, ...], topics: tuple[str, ...], due: bool, wrong: bool, count: int, interview: bool, until: str | None, judge: bool,
    bank: Path | None,
) -> int:
    """Answer as you would aloud; see what earned, what is missing, and when the question comes back.

    What is due comes first, then new questions, topic by topic. Ctrl-C leaves at any moment and loses nothing.
    """
    from ..quiz.deck import load_deck, settle
    from ..render.prose import filled
    from ..store import open_store
    from .bank import open_bank
    from .console import Console
    from .quiz_session import Session

    if due + wrong + interview + bool(questions) > 1:
        raise UsageProblem("--due, --wrong, --interview and named questions exclude one another. Give one of them.")
    console, asked = Console(), open_bank(bank)
    with open_store() as store:
        _remember_date(store, until)
        settle(store, asked, now())
        deck = load_deck(store, now())
        only = "due" if due else "wrong" if wrong else "interview" if interview else ""
        names = _names(asked, deck, questions, topics, only, count)
        console.say([line for told in _heading(asked, deck) for line in filled(told, console.width)])
        if not names:
            console.say(filled(_nothing(only), console.width))
            return 0
        finished = Session(console, store, asked, _marker(judge, console), now).run(names, interview=interview)
    return 0 if finished else 130


def now() -> datetime:
    """This moment in the person's own time zone."""
    return datetime.now().astimezone()


def _names(bank: Bank, deck: Deck, questions: tuple[str, ...], topics: tuple[str, ...], only: str, count: int) -> list[str]:
    from ..quiz.schedule import choose, interview_set
    from .bank import named, of_topics

    if questions:
        return [question.id for question in named(bank, questions)]
    at_hand = {question.id: question.topic for question in of_topics(bank, topics)}
    if only == "interview":
        return interview_set(at_hand, deck.cards, count)
    return choose(at_hand, deck.cards, deck.today, count=count, only=only, interview=deck.interview)


def _remember_date(store: Store, until: str | None) -> None:
    from ..quiz.deck import INTERVIEW
    from ..quiz.schedule import day_of

    if until is None:
        return
    if until.lower() == "none":
        store.remember(INTERVIEW, "", now())
        return
    try:
        day = date.fromisoformat(until)
    except ValueError:
        raise UsageProblem(f"--until takes a date such as 2027-03-01 (or `none`), got {until!r}.") from None
    if day < day_of(now()):
        raise UsageProblem(f"--until {day} is past. Give the date of an interview that is still to come.")
    store.remember(INTERVIEW, day.isoformat(), now())


def _heading(bank: Bank, deck: Deck) -> list[str]:
    from ..quiz.schedule import plan
    from ..render.marks import in_days

    if deck.interview is None or deck.interview < deck.today:
        return []
    ahead = plan(bank.ids, deck.cards, deck.today, deck.interview)
    when = in_days(ahead.days_left)
    return [f"Interview {when}: {ahead.due} due today, {ahead.unseen} not seen yet ({ahead.new_a_day} a day)."]


def _nothing(only: str) -> str:
    if only == "due":
        return "Nothing is due today. `attngrade quiz` asks new questions, then the ones due soonest."
    if only == "wrong":
        return "Nothing was rated again or hard last time. `attngrade quiz` asks what is due, then new questions."
    return "There are no questions to ask. `attngrade questions` lists the bank."


def _marker(judge: bool, console: Console) -> Callable[[Question, str], Marking]:
    from ..quiz.mark import mark

    if not judge:
        return mark
    from ..quiz.judge import Judge, read_settings
    from ..render.prose import filled

    settings = read_settings()
    told = f"Answers go to {settings.host} (model {settings.model}) for marking. Ctrl-C now, or leave --judge away, if they shouldn't."
    console.say(filled(told, console.width))
    return Judge(settings, tell=lambda told: console.say(filled(told, console.width)))


COMMANDS = [quiz]
