"""A question as pieces of HTML: what is asked, what is right, and why."""

from __future__ import annotations

from dataclasses import dataclass

from ..quiz.layout import laid_out
from ..quiz.question import Question
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
    shown = [inline(option.text, formula) for _, option in laid_out(question)]
    return '<ol type="a">' + "".join(f"<li>{text}</li>" for text in shown) + "</ol>" if shown else ""


def _blanks(question: Question, formula: Formula) -> str:
    return items([f"{slot.label} = ?" for slot in question.slots], formula)


def _right(question: Question, formula: Formula) -> str:
    if question.slots:
        return items([f"{slot.label} = `{slot.answer}`" for slot in question.slots], formula)
    letters = {option.id: letter for letter, option in laid_out(question)}
    right = [option for option in question.options if option.correct or question.kind == "order"]
    arrow = " → " if question.kind == "order" else "<br>"
    return "<p>" + arrow.join(f"<b>{letters[option.id]})</b> {inline(option.text, formula)}" for option in right) + "</p>" if right else ""


def _points(question: Question, formula: Formula) -> str:
    return items([point.claim for point in question.points], formula) if question.kind == "open" else ""


def _distractors(question: Question, formula: Formula) -> str:
    rows = [f"{option.text}: {option.why}" for option in question.options if option.why and not option.correct]
    rows += [f"`{wrong.pattern}`: {wrong.note}" for slot in question.slots for wrong in slot.wrong]
    return items(rows, formula)
