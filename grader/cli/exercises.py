"""``attngrade list``, ``show``, ``hint``, ``solution``: everything about an exercise short of checking it."""

from __future__ import annotations

import ast
import difflib
import json
import shutil
import textwrap
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..errors import UsageProblem
from .completion import exercise_names
from .plain import colours

if TYPE_CHECKING:
    from ..catalog import Exercise, Pack
    from ..store import Store

GPU = "  (GPU to pass)"
DONE = ("passed", "provisional")
PACK = click.option("--pack", type=click.Path(path_type=Path, file_okay=False), help="Use the exercise set in this folder.")
FORMAT = click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
WORKSPACE = click.option("--workspace", type=click.Path(path_type=Path, file_okay=False), help="The folder with your files.")


@click.command("list", epilog="Example: attngrade list --format json")
@FORMAT
@PACK
@WORKSPACE
def list_(style: str, pack: Path | None, workspace: Path | None) -> None:
    """The exercises with their state, points, and whether a GPU is needed."""
    from ..catalog import open_pack
    from ..workspace import find

    found = open_pack(pack)
    if workspace is not None:
        find(workspace, found)  # what was named has to be there
    states = [state_of(exercise, found, workspace) for exercise in found.exercises]
    rows = [_row(exercise, state) for exercise, state in zip(found.exercises, states, strict=True)]
    if style == "json":
        click.echo(json.dumps({"schema_version": 1, "exercises": rows}, indent=1))
        return
    width = shutil.get_terminal_size((80, 24)).columns
    title = max(len(row["title"]) for row in rows)
    for row, state in zip(rows, states, strict=True):
        where = "fails now, best " if state.passed_before else f"{state.word:<11}  "
        stands = f"  {where}{row['best']:g}/{row['points'] + row['stretch_points']:g}"
        room = max(8, min(title, width - len(row["exercise"]) - 2 - len(stands)))
        line = f"{row['exercise']}  {textwrap.shorten(row['title'], room, placeholder='…'):<{room}}{stands}"
        beside = GPU if row["gpu"] and len(line) + len(GPU) <= width else ""
        below = f"{GPU.strip()} " if row["gpu"] and not beside else ""
        click.echo(line + beside)
        click.echo(click.wrap_text(below + row["promise"], width, "            ", "            "))
    click.echo("\n" + click.wrap_text("Read one: attngrade show 1.  Check one: attngrade check 1.", width))


def _row(exercise: Exercise, state: State) -> dict[str, Any]:
    return {
        "exercise": exercise.id, "slug": exercise.slug, "title": exercise.title, "promise": exercise.promise, "state": state.word, "best": state.best,
        "points": exercise.points, "stretch_points": exercise.stretch_points, "gpu": exercise.gpu, "framework": exercise.framework,
    }


class State(NamedTuple):
    """``passed``, ``provisional``, ``failed``, ``started``, ``untouched`` or ``no file``; the best score so far; whether what fails has passed before."""

    word: str
    best: float
    passed_before: bool = False


def state_of(exercise: Exercise, pack: Pack, folder: Path | None = None) -> State:
    """Where one stands with an exercise."""
    from ..store import StoreProblem, open_store
    from ..workspace import find

    try:
        with open_store(writing=False) as store:
            attempts = [entry.record for entry in store.attempts(exercise.key)]
    except StoreProblem:
        attempts = []
    best = max((attempt.score for attempt in attempts), default=0.0)
    if attempts:
        same = {attempt.verdict for attempt in attempts if attempt.sha256 == attempts[-1].sha256} | {attempts[-1].verdict}
        last = attempts[-1].verdict  # what no longer holds is demoted; a pass on a GPU outlasts a look without one
        if last not in DONE:
            return State("failed", best, any(attempt.verdict in DONE for attempt in attempts))
        return State("passed" if "passed" in same else last, best)
    try:
        place = find(folder, pack)
    except UsageProblem:
        return State("no file", best)
    if not place.path(exercise).is_file():
        return State("no file", best)
    return State("untouched" if place.untouched(exercise) else "started", best)


@click.command("show", epilog="Example: attngrade show exercise03")
@click.argument("exercise", shell_complete=exercise_names)
@PACK
def show(exercise: str, pack: Path | None) -> None:
    """The statement of EXERCISE: what to build, shapes, rules."""
    from ..catalog import open_pack
    from .statements import function, off_limits, statement

    found = open_pack(pack).find(exercise)
    tree = ast.parse(found.stub.read_text(encoding="utf-8"))
    width = min(shutil.get_terminal_size((80, 24)).columns, 100)
    points = f"{found.points:g} points" + (f" + {found.stretch_points:g} stretch" if found.stretch_points else "")
    click.secho(click.wrap_text(f"{found.id}, {found.title}: {points}", width), bold=True, color=colours())
    click.echo(click.wrap_text(found.promise, width) + "\n")
    text = ast.get_docstring(tree) or ""
    click.echo("\n".join(statement(text, width)) + "\n")
    if found.off_limits and "off limits" not in text.lower():
        click.echo(click.wrap_text(off_limits(found), width) + "\n")
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in found.functions:
            click.echo("\n".join(function(node, width)))
    needs = "numpy" if found.framework == "numpy" else "torch" + (", triton, and a CUDA device to pass" if found.gpu else "")
    click.echo(click.wrap_text(f"Needs {needs}.  Check it: attngrade check {found.number}.  Help: attngrade hint {found.number}.", width))


@click.command("hint", epilog="Example: attngrade hint exercise03")
@click.argument("exercise", shell_complete=exercise_names)
@click.option("--again", is_flag=True, help="Show the hints seen so far once more.")
@FORMAT
@PACK
def hint(exercise: str, again: bool, style: str, pack: Path | None) -> None:
    """The next hint for EXERCISE, one at a time; after a named mistake, one about that mistake first."""
    from ..catalog import open_pack
    from ..store import Hint, open_store
    from .hinting import following, seen

    found = open_pack(pack).find(exercise)
    with open_store() as store:
        coming = None if again else following(found, store)
        if coming is not None:
            store.add(Hint(found.key, store.hints_shown(found.key) + 1, coming.about), at=datetime.now(UTC))
        open_to_see = _may_see(found, store)
        said = seen(found, store) if again else [coming] if coming is not None else []
    if style == "json":
        click.echo(json.dumps({"schema_version": 1, "exercise": found.id, "hints": [asdict(each) for each in said]}, indent=1))
        return
    reference = f"attngrade solution {found.number}" + ("" if open_to_see else " --give-up")
    none = (f"You have seen no hint yet. `attngrade hint {found.number}` shows the first." if again else
            f"You have seen all {len(found.hints)} hints (--again shows them). `{reference}` shows the reference.")
    for sentence in [each.sentence for each in said] or [none]:
        click.echo(click.wrap_text(sentence, min(shutil.get_terminal_size((80, 24)).columns, 100)))


@click.command("solution", epilog="Example: attngrade solution exercise03 --diff")
@click.argument("exercise", shell_complete=exercise_names)
@click.option("--give-up", is_flag=True, help="Show it though the exercise isn't passed; this is recorded.")
@click.option("--diff", is_flag=True, help="Show what differs from your own file.")
@FORMAT
@PACK
@WORKSPACE
def solution(exercise: str, give_up: bool, diff: bool, style: str, pack: Path | None, workspace: Path | None) -> None:
    """The reference solution of EXERCISE, once it is passed (or with --give-up)."""
    from ..catalog import open_pack
    from ..store import GiveUp, open_store
    from ..workspace import find

    pack_found = open_pack(pack)
    found = pack_found.find(exercise)
    with open_store() as store:
        earned = _may_see(found, store)
        if not earned and not give_up:
            raise UsageProblem(f"{found.id} isn't passed yet. `attngrade hint {found.number}` helps; `--give-up` shows the reference and is recorded.")
        if not earned:
            store.add(GiveUp(found.key), at=datetime.now(UTC))
    text = found.solution.read_text(encoding="utf-8")
    apart = _apart(find(workspace, pack_found).file(found), text) if diff else None
    if style == "json":
        click.echo(json.dumps({"schema_version": 1, "exercise": found.id, "source": text, "diff": apart}, indent=1))
    else:
        click.echo(text if apart is None else apart or "Your file is the reference, line by line.")


def _may_see(exercise: Exercise, store: Store) -> bool:
    """Whether the reference is open: passed, or given up already."""
    return store.passed(exercise.key) or store.gave_up(exercise.key) or any(entry.record.verdict == "provisional" for entry in store.attempts(exercise.key))


def _apart(own: Path, reference: str) -> str:
    """What stands in one and not in the other, as a unified diff."""
    mine = own.read_text(encoding="utf-8", errors="replace")
    return "".join(difflib.unified_diff(mine.splitlines(True), reference.splitlines(True), f"yours/{own.name}", f"reference/{own.name}"))


COMMANDS = [list_, show, hint, solution]
