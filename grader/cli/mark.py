"""`attngrade mark`: marks typed answers without asking anything."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from ..errors import PackProblem
from ..quiz.mark import mark
from ..quiz.marking.records import Marking
from ..quiz.question import Bank, BankError, Question, UnknownQuestion, load_bank
from .options import bank_options
from .plain import say

_MOST_BYTES = 4_000_000
_STATES = {"met": ("✓", "green"), "contradicted": ("✗", "red"), "not-detected": ("·", "yellow")}

_EXAMPLE = """\b
Examples:
  attngrade mark score-variance --answer "the variances add, so it is d_k"
  attngrade mark qk-norm --file answer.txt --format json
  attngrade mark --batch answers.yaml --format json
"""


@click.command("mark", epilog=_EXAMPLE)
@click.argument("question", required=False)
@click.option("--answer", help="The answer itself.")
@click.option("--file", "path", type=click.Path(path_type=Path), help="A file that holds the answer; - is standard input.")
@click.option("--batch", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="YAML or JSON: a list of {question, answer}.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@bank_options
def mark_command(
    question: str | None, answer: str | None, path: Path | None, batch: Path | None, form: str, bank: Path | None
) -> None:
    """Mark an answer to QUESTION, or a whole batch. The same answer always gets the same marks."""
    try:
        questions = load_bank(bank)
        if batch is not None:
            if question or answer is not None or path is not None:
                raise click.UsageError("--batch brings its own questions and answers; leave QUESTION, --answer and --file out.")
            _mark_batch(questions, _rows(batch), form)
        else:
            _mark_one(questions, question, answer, path, form)
    except UnknownQuestion as error:
        raise click.UsageError(str(error)) from error
    except BankError as error:
        raise PackProblem(str(bank or "The built-in question bank"), error.problems) from None


def _mark_one(bank: Bank, question: str | None, answer: str | None, path: Path | None, form: str) -> None:
    if not question:
        raise click.UsageError("Name a question (`attngrade questions` lists them), or give --batch FILE.")
    if answer is not None and path is not None:
        raise click.UsageError("--answer and --file both give an answer; use one of them.")
    asked = bank.get(question)
    marking = mark(asked, answer if answer is not None else _answer_from(path))
    click.echo(_json(marking)) if form == "json" else say(describe(asked, marking))


def _answer_from(path: Path | None) -> str:
    if path is None or str(path) == "-":
        if sys.stdin.isatty():
            click.echo("Type the answer; end it with Ctrl-D.", err=True)
        return _decode(sys.stdin.buffer.read(_MOST_BYTES))
    try:
        with path.open("rb") as file:
            return _decode(file.read(_MOST_BYTES))
    except OSError as error:
        raise click.UsageError(f"{path} can't be read: {error.strerror}. Give a file that holds the answer.") from error


def _decode(data: bytes) -> str:
    return data.decode("utf-8-sig", "replace")


def _rows(path: Path) -> list[dict[str, Any]]:
    text = path.read_text("utf-8-sig", "replace")
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError):
        rows = _yaml(path, text)
    if not isinstance(rows, list):
        raise click.UsageError(f"{path.name}: expected a list of {{question, answer}}, got {type(rows).__name__}.")
    wrong = [n for n, row in enumerate(rows, 1) if not isinstance(row, dict) or not isinstance(row.get("question"), str) or "answer" not in row]
    if wrong:
        raise click.UsageError(f"{path.name}: entry {wrong[0]} needs the keys 'question' (an id) and 'answer' (text).")
    return rows


def _yaml(path: Path, text: str) -> Any:
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=loader)):
            raise click.UsageError(f"{path.name}: aliases (*name) aren't read; write the text out.")
        return yaml.load(text, Loader=loader)
    except (yaml.YAMLError, RecursionError) as error:
        raise click.UsageError(f"{path.name} is neither JSON nor YAML: {error}") from error


def _mark_batch(bank: Bank, rows: list[dict[str, Any]], form: str) -> None:
    unknown = sorted({row["question"] for row in rows} - set(bank.ids))
    if unknown:
        raise click.UsageError(f"There is no question {unknown[0]!r}; `attngrade questions` lists them.")
    for row in rows:
        question = bank.get(row["question"])
        marking = mark(question, "" if row["answer"] is None else str(row["answer"]))
        if form == "json":
            click.echo(_json(marking, {key: value for key, value in row.items() if key not in ("question", "answer")}))
        else:
            say(describe(question, marking) + "\n")


def _json(marking: Marking, carried: dict[str, Any] | None = None) -> str:
    return json.dumps({**(carried or {}), **marking.record()}, ensure_ascii=False).replace("\x7f", "\\u007f")


def describe(question: Question, marking: Marking) -> str:
    """The marking as text: a line for each point, then what else is to be said."""
    if marking.unreadable:
        return f"{question.id}: not marked, no attempt spent. {marking.unreadable}"
    lines = [f"{click.style(question.id, bold=True)}: {marking.score:.0%} ({len(marking.earned)} of {len(question.points)} points)"]
    for point, each in zip(question.points, marking.points, strict=True):
        sign, color = _STATES[each.state]
        lines.append(f"  {click.style(sign, fg=color)} {point.claim}")
        if each.earned and (words := marking.evidence(each)):
            lines.append(f"      you said: {_shown(words)}")
        elif each.note:
            lines.append(f"      {each.note}")
    lines += [f"  ! {note}" for note in marking.notes if note not in {each.note for each in marking.points}]
    return "\n".join(lines)


def _shown(words: str) -> str:
    """One harmless line of the person's own text."""
    plain = "".join(c if c.isprintable() else " " for c in words)
    return plain if len(plain) <= 160 else plain[:157] + "..."


COMMANDS = [mark_command]
