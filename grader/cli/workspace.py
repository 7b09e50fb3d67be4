"""``attngrade init``, ``reset``, and ``attngrade`` alone: where one stands and the one next thing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .completion import exercise_names
from .exercises import DONE, PACK, WORKSPACE, state_of
from .plain import say

if TYPE_CHECKING:
    from ..catalog import Exercise
    from ..workspace import Workspace


@click.command("init", epilog="Example: attngrade init my_attention")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=".")
@PACK
def init(folder: Path, pack: Path | None) -> None:
    """Write the stubs and a short README into FOLDER (here, if none is named)."""
    from ..catalog import open_pack
    from ..workspace import init as write

    found = open_pack(pack)
    write(folder, found)
    outer = next((up for up in folder.resolve().parents if any((up / f"{one.module}.py").is_file() for one in found.exercises)), None)
    first = found.exercises[0]
    where, into = ("this folder", "") if str(folder) == "." else (folder, f"cd {folder}, ")
    watch = "attngrade watch" + (f" --pack {pack.resolve()}" if pack else "")
    beside = f"\nNote: it lies inside another workspace, {outer}; commands typed in {folder} are about {folder}." if outer else ""
    say(f"Wrote {len(found.exercises)} exercises into {where}.{beside}\nNext: {into}open {first.module}.py, and run `{watch}`.")


@click.command("reset", epilog="Example: attngrade reset exercise03")
@click.argument("exercise", shell_complete=exercise_names)
@PACK
@WORKSPACE
def reset(exercise: str, pack: Path | None, workspace: Path | None) -> None:
    """Put the stub of EXERCISE back; your old file is kept beside it."""
    from ..catalog import open_pack
    from ..errors import UsageProblem
    from ..workspace import Workspace, find

    found = open_pack(pack)
    one = found.find(exercise)
    try:
        place = find(workspace, found)
    except UsageProblem:
        if workspace is None:
            raise
        place = Workspace(workspace)
    kept = place.reset(one)
    say(f"{place.path(one)} is the stub again." + (f" Your old file is {kept.name}." if kept else ""))


def standing() -> None:
    """Where one stands, and the one next thing to do."""
    from ..catalog import builtin
    from ..errors import UsageProblem
    from ..workspace import find

    pack = builtin()
    try:
        place = find(None, pack)
    except UsageProblem:
        click.echo("You have no workspace here.\nNext: attngrade init my_attention   (writes the exercises into a new folder)")
        return
    found = {exercise.id: state_of(exercise, pack, place.folder) for exercise in pack.exercises}
    states = {name: state.word for name, state in found.items()}
    done = sum(state in DONE for state in states.values())
    click.echo(f"{place.folder}: {done} of {len(states)} exercises done.")
    for exercise in pack.exercises:
        again = " (its file is the stub again)" if states[exercise.id] in DONE and place.untouched(exercise) else ""
        click.echo(f"  {exercise.id}  {exercise.title}: {'passed before, its file fails now' if found[exercise.id].passed_before else states[exercise.id]}{again}")
    click.echo(_next(place, pack.exercises, states))


def _next(place: Workspace, exercises: tuple[Exercise, ...], states: dict[str, str]) -> str:
    for exercise in exercises:
        state = states[exercise.id]
        if state in DONE:
            continue
        if not place.path(exercise).is_file():
            near = place.renamed(exercise)
            return f"Next: rename {near.name} to {exercise.module}.py" if near else f"Next: attngrade reset {exercise.number}   (its file is missing)"
        if state == "untouched":
            return f"Next: attngrade show {exercise.number}   (then edit {exercise.module}.py, and attngrade watch)"
        return f"Next: attngrade watch {exercise.number}   (edit {exercise.module}.py and save; h is a hint)"
    return "Next: attngrade quiz --interview   (everything here is done)"


COMMANDS = [init, reset]
