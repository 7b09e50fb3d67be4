"""Questions as a table: CSV for a spreadsheet, TSV with the header lines that Anki's text import reads."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from ..quiz.layout import laid_out
from ..quiz.question import Question
from ..render.prose import folded
from .markup import clean, mathjax
from .sheet import sheet, tags

COLUMNS = ("id", "topic", "kind", "difficulty", "prompt", "answer", "points", "why", "follow_ups", "sources", "exercise")
ANKI_COLUMNS = ("GUID", "Front", "Back", "Tags")


def as_csv(questions: Iterable[Question]) -> str:
    """Plain text, one row a question, header first."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    writer.writerows([_safe(cell) for cell in _row(question)] for question in questions)
    return out.getvalue()


def as_tsv(questions: Iterable[Question]) -> str:
    """HTML fields, one line a question: any flashcard program's "front TAB back", and Anki finds key and tags by itself."""
    head = ["#separator:tab", "#html:true", "#columns:" + "\t".join(ANKI_COLUMNS), "#guid column:1", "#tags column:4"]
    return "\n".join([*head, *("\t".join(_card(question)) for question in questions)]) + "\n"


def _row(question: Question) -> list[str]:
    options = [f"{option.id}) {option.text}" for option in laid_out(question)]
    return [
        question.id, question.topic, question.kind, str(question.difficulty), "\n".join([folded(question.prompt), *options]), folded(question.answer),
        "\n".join(point.claim for point in question.points), folded(question.why), "\n".join(question.follow_ups), "\n".join(question.sources),
        question.exercise or "",
    ]  # fmt: skip


def _card(question: Question) -> list[str]:
    pieces = sheet(question, mathjax)
    back = pieces.answer + pieces.points + pieces.why + pieces.sources
    return [f"attngrade-{question.id}", *(" ".join(text.split()) for text in (pieces.asked, back)), " ".join(tags(question))]


def _safe(cell: str) -> str:
    """A spreadsheet runs a cell that begins like a formula; an apostrophe in front makes it text."""
    return "'" + clean(cell) if cell[:1] in ("=", "+", "-", "@", "\t") else clean(cell)
