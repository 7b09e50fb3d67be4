"""``attngrade progress``: points, attempts, what is due; the record out and in as JSON Lines."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import UsageProblem
from .reckoning import PASSING, mistakes, spoken, streak, time_to_pass

if TYPE_CHECKING:
    from ..catalog import Pack
    from ..quiz.deck import Deck
    from ..quiz.question import Bank
    from ..store import Store

MISTAKES = 5
_DAYS = 14
_A_FILE = click.Path(path_type=Path, dir_okay=False, allow_dash=True)


@click.command("progress", epilog="Example: attngrade progress --export my-record.jsonl")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--export", "out", type=_A_FILE, help="Write the whole record as JSON Lines (- for the screen).")
@click.option("--import", "into", type=_A_FILE, help="Take such lines in; what is there already isn't doubled.")
@click.option("--pack", type=click.Path(path_type=Path, file_okay=False), help="Count the exercise set in this folder.")
def progress(style: str, out: Path | None, into: Path | None, pack: Path | None) -> None:
    """Where you stand: exercises passed, questions due, what went wrong how often."""
    from ..store import open_store

    if out is not None and into is not None:
        raise UsageProblem("--export and --import exclude one another. Give one of them.")
    if into is not None:
        with open_store() as store:
            _take_in(store, into)
        return
    with open_store(writing=False) as store:
        if out is not None:
            _write_out(store, out)
            return
        from ..catalog import open_pack
        from .bank import open_bank

        record = standing(store, open_pack(pack), open_bank(), datetime.now().astimezone())
    click.echo(json.dumps(record, indent=1) if style == "json" else "\n".join(_text(record)))


def standing(store: Store, pack: Pack, bank: Bank, now: datetime) -> dict[str, Any]:
    """Everything that `progress` knows, as plain data."""
    from ..quiz.deck import given_answers, load_deck

    deck = load_deck(store, now)
    attempts, answers = store.attempts(), given_answers(store)
    moments = [entry.at for entry in attempts] + [given.at for given in answers]
    days = Counter(at.astimezone(now.tzinfo).date().isoformat() for at in moments)
    current, longest = streak((at.astimezone(now.tzinfo).date() for at in moments), now.date())
    return {
        "schema_version": 1,
        "exercises": [_exercise(store, exercise, attempts) for exercise in pack.exercises],
        "questions": _questions(bank, deck, answers),
        "misconceptions": mistakes(attempts),
        "streak": {"days": current, "longest": longest},
        "days": [{"day": day, "entries": days[day]} for day in sorted(days)],
        "interview": _interview(bank, deck),
        "record": str(store.path),
    }


def _exercise(store: Store, exercise: Any, attempts: list[Any]) -> dict[str, Any]:
    mine = [entry for entry in attempts if entry.record.exercise == exercise.key]
    from ..store import Hint

    best = max(mine, key=lambda entry: (entry.record.verdict == "passed", entry.record.score), default=None)
    return {
        "id": exercise.id, "title": exercise.title, "verdict": best.record.verdict if best else "untried",
        "latest": mine[-1].record.verdict if mine else "untried",
        "score": best.record.score if best else 0.0, "max_score": best.record.max_score if best else exercise.points + exercise.stretch_points,
        "attempts": len(mine), "hints": store.hints_shown(exercise.key), "gave_up": store.gave_up(exercise.key),
        "time_to_pass_s": time_to_pass(mine, [entry.at for entry in store.entries(Hint, about=exercise.key)]),
        "last": mine[-1].at.isoformat() if mine else None,
    }  # fmt: skip


def _questions(bank: Bank, deck: Deck, answers: list[Any]) -> dict[str, Any]:
    names = set(bank.ids)
    last = {given.question: given.score for given in answers if given.question in names}
    topics: dict[str, list[str]] = {}
    for question in bank.questions:
        topics.setdefault(question.topic, []).append(question.id)
    return {
        "total": len(names), "seen": len(last), "answers": len(answers), "due": len(names & set(deck.due)), "wrong": len(names & set(deck.wrong)),
        "topics": [
            {"topic": topic, "total": len(group), "seen": sum(name in last for name in group), "score": _mean([last[name] for name in group if name in last])}
            for topic, group in topics.items()
        ],
    }  # fmt: skip


def _interview(bank: Bank, deck: Deck) -> dict[str, Any] | None:
    from ..quiz.schedule import plan

    if deck.interview is None or deck.interview < deck.today:
        return None
    ahead = plan(bank.ids, deck.cards, deck.today, deck.interview)
    return {"date": ahead.interview.isoformat(), "days_left": ahead.days_left, "unseen": ahead.unseen, "new_a_day": ahead.new_a_day}


def _mean(scores: list[float]) -> float | None:
    return round(sum(scores) / len(scores), 4) if scores else None


def _text(record: dict[str, Any]) -> list[str]:
    questions = record["questions"]
    wide = min(40, max((len(row["title"]) for row in record["exercises"]), default=0))
    lines = ["Exercises", *(_exercise_row(row, wide) for row in record["exercises"]), ""]
    lines += [f"Questions: {questions['seen']} of {questions['total']} seen, {questions['due']} due, {questions['wrong']} rated again or hard"]
    begun = [row for row in questions["topics"] if row["seen"]]
    unseen = len(questions["topics"]) - len(begun)
    lines += [_topic_row(row) for row in begun]
    lines += [f"  {unseen} topic{'s' if unseen > 1 else ''} not begun: attngrade quiz"] if unseen else []
    if record["misconceptions"]:
        beaten = sum(row["overcome"] for row in record["misconceptions"])
        lines += ["", f"Misconceptions: {len(record['misconceptions'])} met, {beaten} overcome", *(_mistake_row(row) for row in record["misconceptions"][:MISTAKES])]
        lines += [f"  and {len(record['misconceptions']) - MISTAKES} more: --format json lists them"] if len(record["misconceptions"]) > MISTAKES else []
    if record["days"]:
        run = record["streak"]
        lines += ["", f"Streak: {run['days']} day{'s' if run['days'] != 1 else ''}, longest {run['longest']}", *(f"  {row['day']}  {'▪' * min(row['entries'], 30)} {row['entries']}" for row in record["days"][-_DAYS:])]
    if record["interview"]:
        ahead = record["interview"]
        lines += ["", f"Interview on {ahead['date']}, {ahead['days_left']} days left: {ahead['unseen']} questions not seen yet ({ahead['new_a_day']} a day)."]
    return [*lines, "", _next(record)]


def _exercise_row(row: dict[str, Any], wide: int) -> str:
    extra = [f"{row['attempts']} tr{'y' if row['attempts'] == 1 else 'ies'}"] if row["attempts"] else []
    extra += [f"{row['hints']} hint{'s' if row['hints'] > 1 else ''}"] if row["hints"] else []
    extra += [spoken(row["time_to_pass_s"])] if row["time_to_pass_s"] else []
    extra += ["solution seen"] if row["gave_up"] else []
    extra += ["its file fails now"] if row["verdict"] in PASSING and row["latest"] not in PASSING else []
    sign = {"passed": "✓", "untried": " "}.get(row["verdict"], "·")
    return f"  {sign} {row['id'][-2:]} {row['title'][:wide]:{wide}} {row['verdict']:11} {row['score']:g}/{row['max_score']:g}  {', '.join(extra)}".rstrip()


def _mistake_row(row: dict[str, Any]) -> str:
    return f"  {'✓' if row['overcome'] else ' '} {row['times']:3}× {row['id']} ({row['exercise'][-2:]})"


def _topic_row(row: dict[str, Any]) -> str:
    score = f"{row['score']:.0%}" if row["score"] is not None else ""
    filled = round(10 * row["seen"] / row["total"])
    return f"  {row['topic'][:22]:22} {'█' * filled}{'░' * (10 - filled)} {row['seen']:>2}/{row['total']:<3} {score}".rstrip()


def _next(record: dict[str, Any]) -> str:
    if record["questions"]["due"]:
        return "Next: attngrade quiz --due"
    open_ones = [row["id"] for row in record["exercises"] if row["verdict"] != "passed"]
    return f"Next: attngrade show {open_ones[0]}" if open_ones else "Next: attngrade quiz"


def _write_out(store: Store, path: Path) -> None:
    from ..store import write_lines
    from .check import write_whole

    text = "\n".join(write_lines(store)) + "\n"
    if str(path) == "-":
        click.echo(text, nl=False)
        return
    write_whole(path, text)
    click.echo(f"{text.count(chr(10)) - 1} entries written to {path}.", err=True)


def _take_in(store: Store, path: Path) -> None:
    from ..store import read_lines

    try:
        with click.open_file(str(path), encoding="utf-8") as lines:
            added, there = read_lines(store, lines, str(path))
    except UnicodeDecodeError:
        raise UsageProblem(f"{path} is not UTF-8 text. `attngrade progress --export FILE` writes what can be imported.") from None
    except OSError as error:
        raise UsageProblem(f"{path} can't be read ({error.strerror}). Check the path.") from None
    click.echo(f"{added} new entr{'y' if added == 1 else 'ies'}, {there} already there.")


COMMANDS = [progress]
