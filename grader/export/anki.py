"""An Anki package: a second import adds nothing, an edited question updates its card and keeps its history."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from ..errors import AttngradeError
from ..quiz.question import Question
from .markup import mathjax
from .sheet import sheet, tags

DECK, MODEL = 1_753_500_401, 1_753_500_402  # fixed for ever: Anki knows deck and note type by them
FIELDS = ("Prompt", "Answer", "Points", "Why", "Follow-ups", "Sources", "Id")
_BACK = """{{FrontSide}}<hr id="answer">{{Answer}}
{{#Points}}<h4>Points</h4>{{Points}}{{/Points}}
{{#Why}}<details><summary>Why</summary>{{Why}}</details>{{/Why}}
{{#Follow-ups}}<h4>And then they ask</h4>{{Follow-ups}}{{/Follow-ups}}
{{#Sources}}<footer>{{Sources}}</footer>{{/Sources}}"""
_CSS = """.card { font: 18px/1.45 system-ui, sans-serif; max-width: 42em; margin: auto; text-align: left; }
h4 { margin: 1em 0 .2em; font-size: .8em; letter-spacing: .05em; text-transform: uppercase; opacity: .7; }
footer { margin-top: 1em; font-size: .75em; opacity: .7; } code { font-size: .9em; }"""


def guid(question_id: str) -> str:
    """The note's permanent key."""
    return str(_genanki().guid_for("attngrade", question_id))


def write_package(questions: Iterable[Question], path: Path, now: datetime) -> int:
    """Write an .apkg; `now` must grow from export to export, or Anki keeps the old text. Returns the number of notes."""
    genanki = _genanki()
    model = genanki.Model(
        MODEL,
        "attngrade question",
        fields=[{"name": name} for name in FIELDS],
        templates=[{"name": "Question", "qfmt": "{{Prompt}}", "afmt": _BACK}],
        css=_CSS,
    )
    deck = genanki.Deck(DECK, "Attention interview")
    for question in questions:
        deck.add_note(genanki.Note(model=model, fields=_fields(question), guid=guid(question.id), tags=tags(question)))
    genanki.Package(deck).write_to_file(str(path), timestamp=now.timestamp())
    return len(deck.notes)


def _fields(question: Question) -> list[str]:
    pieces = sheet(question, mathjax)
    return [pieces.asked, pieces.answer, pieces.points, pieces.why, pieces.follow_ups, pieces.sources, question.id]


def _genanki() -> Any:
    try:
        return importlib.import_module("genanki")
    except ImportError:
        instead = "`attngrade export tsv` needs nothing more, and Anki imports it too."
        raise AttngradeError(f"Anki packages need genanki: `pip install 'attngrade[anki]'`. {instead}") from None
