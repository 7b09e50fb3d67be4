"""A question as pieces of HTML: what is asked, what is right, and why."""

from __future__ import annotations

from dataclasses import dataclass

from ..quiz.layout import laid_out, right_options
from ..quiz.question import Option, Question, Slot
from .markup import Formula, html, inline, items, mathml


@dataclass(frozen=True)
class Sheet:
    """Every piece is HTML, "" where the question has none."""

    asked: str
    answer: str
    points: str
    why: str
    follow_ups: str
    sources: str
    exercise: str


def sheet(question: Question, formula: Formula = mathml) -> Sheet:
    """The question's pieces."""
    return Sheet(
        asked=html(question.prompt, formula) + _options(question, formula) + _blanks(question, formula),
        answer=_right(question, formula) + html(question.answer, formula),
        points=_points(question, formula),
        why=html(question.why, formula) + _distractors(question, formula),
        follow_ups=items(list(question.follow_ups), formula),
        sources=items(list(question.sources), formula),
        exercise=inline(question.exercise or "", formula),
    )


def tags(question: Question) -> list[str]:
    """Topic and exercise as tags without spaces."""
    words = [f"topic::{question.topic}", *([question.exercise] if question.exercise else []), "attngrade"]
    return ["-".join(word.split()) for word in words]


def _options(question: Question, formula: Formula) -> str:
    shown = [_option(option, formula) for option in laid_out(question)]
    return "<p>" + "<br>".join(shown) + "</p>" if shown else ""


def _option(option: Option, formula: Formula) -> str:
    return f"<b>{inline(option.id, formula)})</b> {inline(option.text, formula)}"


def _blanks(question: Question, formula: Formula) -> str:
    return items([f"{slot.label} = ?" for slot in question.slots], formula)


def _right(question: Question, formula: Formula) -> str:
    if question.slots:
        return items([f"{slot.label} = `{accepted(slot)[0]}`" for slot in question.slots], formula)
    arrow = " → " if question.kind == "order" else "<br>"
    right = [_option(option, formula) for option in right_options(question)]
    return "<p>" + arrow.join(right) + "</p>" if right else ""


def accepted(slot: Slot) -> list[str]:
    """The forms of a slot's answer, the usual one first."""
    return slot.answer.split(" | ")


def _points(question: Question, formula: Formula) -> str:
    return items([point.claim for point in question.points], formula) if question.kind == "open" else ""


def _distractors(question: Question, formula: Formula) -> str:
    rows = [f"{option.id}) {option.text}: {option.why}" for option in question.options if option.why and not option.correct]
    rows += [f"`{wrong.pattern}`: {wrong.note}" for slot in question.slots for wrong in slot.wrong]
    return items(rows, formula)
