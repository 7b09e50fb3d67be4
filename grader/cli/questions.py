"""`attngrade questions`: the bank; with a name, prompt, model answer and points; `--evaluate`, how good the marker is."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from pathlib import Path
from typing import Any

import click

from ..errors import PackProblem, UsageProblem
from ..quiz.layout import laid_out
from ..quiz.question import Bank, BankError, Question, UnknownQuestion, load_bank
from ..render.prose import filled, wrapped
from .options import bank_options
from .plain import colours, say

_EXAMPLE = """\b
Examples:
  attngrade questions --topic softmax
  attngrade questions qk-norm
  attngrade questions --evaluate
  attngrade questions --evaluate --answers unseen.yaml --format json
"""


@click.command("questions", epilog=_EXAMPLE)
@click.argument("question", required=False)
@click.option("--topic", help="Only the questions of this topic.")
@click.option("--evaluate", is_flag=True, help="Measure the marker on labelled answers.")
@click.option("--answers", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="With --evaluate: labelled answers of your own.")
@click.option("--lint", is_flag=True, help="Say what is wrong with the bank; exit 1 if anything is.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@bank_options
def questions_command(
    question: str | None, topic: str | None, evaluate: bool, answers: Path | None, lint: bool, form: str, bank: Path | None
) -> None:
    """The question bank. With a name: its prompt, model answer and points."""
    try:
        questions = load_bank(bank)
        if lint:
            _lint(questions, form)
        elif evaluate or answers:
            _evaluate(questions, question, answers, form)
        elif question:
            _one(questions.get(question), form)
        else:
            _list(questions, topic, form)
    except UnknownQuestion as error:
        raise click.UsageError(str(error)) from error
    except BankError as error:
        if answers:
            raise UsageProblem(str(error)) from None
        raise PackProblem(str(bank or "The built-in question bank"), error.problems) from None


def _list(bank: Bank, topic: str | None, form: str) -> None:
    rows = [each for each in bank.questions if topic is None or each.topic.lower() == topic.lower()]
    if not rows:
        topics = ", ".join(sorted({each.topic for each in bank.questions}))
        raise click.UsageError(f"No question has the topic {topic!r}; topics are {topics}.")
    if form == "json":
        keys = ("id", "rev", "kind", "topic", "difficulty", "time_s", "prompt", "exercise")
        click.echo(json.dumps([{key: getattr(each, key) for key in keys} for each in rows], ensure_ascii=False, indent=1))
        return
    for name in dict.fromkeys(each.topic for each in rows):
        click.secho(name, bold=True, color=colours())
        for each in (row for row in rows if row.topic == name):
            click.echo(_listed(each))
    say(f"\n{len(rows)} questions. `attngrade questions NAME` shows one, `attngrade quiz` asks them.")


def _listed(question: Question) -> str:
    """One line: what a terminal has no room for is left out, the kind first."""
    width = _width() or 123
    kind = f"{question.kind:<12} " if width >= 96 else ""
    head = f"  {question.id:<28} {kind}{'●' * question.difficulty:<5} "
    return head + textwrap.shorten(question.prompt, max(20, width - len(head)), placeholder=" …")


def _width() -> int:
    """The columns of the terminal, at most 100; 0 where output goes elsewhere and stays as it is."""
    return min(100, shutil.get_terminal_size((80, 24)).columns) if sys.stdout.isatty() else 0


def _told(text: str, first: str = "", rest: str = "") -> str:
    """A text for the terminal at hand, no word of it cut."""
    width = _width()
    if not width:
        return first + text
    if first:
        return "\n".join(filled(" ".join(text.split()), width, first, rest))
    return "\n".join(wrapped(text, width))


def _one(question: Question, form: str) -> None:
    if form == "json":
        click.echo(json.dumps(_record(question), ensure_ascii=False, indent=1))
        return
    click.secho(f"{question.id}  ({question.topic}, difficulty {question.difficulty}, {question.time_s} s)", bold=True, color=colours())
    click.echo("\n" + _told(question.prompt))
    for option in laid_out(question):
        click.echo(_told(option.text, f"{option.id}) ", "   "))
    for title, text in (("Answer", question.answer), ("Why", question.why)):
        click.echo(f"\n{title}\n{_told(text)}")
    points = [f"{point.id}: {point.claim}" for point in question.points]
    for title, mark, lines in (("Points", "  ", points), ("Follow-ups", "  - ", question.follow_ups), ("Sources", "  - ", question.sources)):
        if lines:
            click.echo(f"\n{title}\n" + "\n".join(_told(line, mark, "    ") for line in lines))
    if question.exercise:
        click.echo(f"\nPractise it: attngrade show {question.exercise}")


def _record(question: Question) -> dict[str, Any]:
    keys = ("id", "rev", "kind", "topic", "difficulty", "time_s", "prompt", "answer", "why", "sources", "exercise", "follow_ups", "hints")
    points = [{"id": p.id, "claim": p.claim, "weight": p.weight, "required": p.required} for p in question.points]
    options = [{"id": o.id, "text": o.text, "correct": o.correct, "why": o.why} for o in question.options]
    return {**{key: getattr(question, key) for key in keys}, "points": points, "options": options}


def _evaluate(bank: Bank, question: str | None, answers: Path | None, form: str) -> None:
    from ..quiz.evaluate import evaluate
    from ..quiz.reading import read_labelled

    names = (bank.get(question).id,) if question else bank.ids
    if answers:
        given = read_labelled(answers)
        unknown = sorted({row.question for row in given} - set(bank.ids))
        if unknown:
            raise click.UsageError(f"{answers.name} answers questions that the bank doesn't have: {', '.join(unknown)}. `attngrade questions` lists them.")
        rows = [row for row in given if row.question in names]
        where = f"{answers.name}"
    else:
        rows = [row for name in names for row in bank.labelled(name)]
        where = "the bank's own labelled answers, which its patterns were tuned on and its second reader has learned: unseen answers do worse"
    if not rows:
        raise click.UsageError("There are no labelled answers to measure on; give some with --answers FILE.")
    tallies = evaluate(bank, rows)
    if form == "json":
        click.echo(json.dumps({"measured_on": where, **{name: tally.record() for name, tally in tallies.items()}}, indent=1))
        return
    click.echo(f"Measured on {where}.\n")
    click.secho(f"{'question':<28}{'answers':>8}{'exact':>7}{'precision':>11}{'recall':>8}{'F1':>7}{'bad > 1/3':>11}", bold=True, color=colours())
    for name in [*sorted(set(tallies) - {"overall"}, key=list(bank.ids).index), "overall"]:
        t = tallies[name]
        click.echo(f"{name:<28}{t.answers:>8}{t.exact:>7}{t.precision:>11.3f}{t.recall:>8.3f}{t.f1:>7.3f}{t.above_a_third:>11}")
    click.echo("\nanswers that should earn nothing")
    for kind, scores in sorted(tallies["overall"].bad.items()):
        above = sum(score > 1 / 3 + 1e-9 for score in scores)
        click.echo(f"  {kind:<14}{len(scores):>4} answers, highest {max(scores):.0%}, above a third: {above}")


def _lint(bank: Bank, form: str) -> None:
    problems = bank.problems()
    if form == "json":
        click.echo(json.dumps({"questions": len(bank.ids), "problems": problems}, ensure_ascii=False, indent=1))
    else:
        click.echo("\n".join(problems) if problems else f"{len(bank.ids)} questions, no problem found.")
    if problems:
        raise SystemExit(1)


COMMANDS = [questions_command]
