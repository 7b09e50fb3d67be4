"""``attngrade plot``: the picture that makes the point."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .completion import exercise_names
from .exercises import FORMAT, PACK, WORKSPACE
from .plain import colours

if TYPE_CHECKING:
    from ..catalog import Exercise, Pack
    from ..plot.own import Source


@click.command("plot", epilog="Example: attngrade plot exercise02 --output softmax.svg")
@click.argument("exercise", shell_complete=exercise_names)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write a PNG or an SVG here instead (needs attngrade[plots]).")
@click.option("--reference", is_flag=True, help="From the reference, whatever your file does.")
@click.option("--seed", type=click.IntRange(min=0), default=None, help="Seed of the picture's random numbers (default: a fresh one).")
@click.option("--isolation", type=click.Choice(["auto", "bubblewrap", "process"]), default="auto", show_default=True)
@FORMAT
@PACK
@WORKSPACE
def plot(
    exercise: str, output: Path | None, reference: bool, seed: int | None, isolation: str, style: str, pack: Path | None, workspace: Path | None,
) -> None:
    """The picture that makes the point of EXERCISE, computed now: from your code where it passes, from the reference otherwise."""
    from ..catalog import open_pack
    from ..doctor.posix import need_workers
    from ..plot.own import author_of, drawn
    from .check import fresh_seed

    found = open_pack(pack)
    one = found.find(exercise)
    author_of(one)
    need_workers()
    if output is not None:
        from ..plot.paper import ready_for

        ready_for(output)
    source = _source(one, found, reference, workspace)
    made, because = drawn(one, source, seed=fresh_seed() if seed is None else seed, isolation=isolation)
    if output is not None:
        from ..plot.paper import write

        write(made, because, output)
        click.echo(f"{because} Written to {output}.")
        return
    if style == "json":
        from ..plot.data import as_data

        click.echo(json.dumps({"schema_version": 1, "exercise": one.id, "own": source.own and because == source.because, "because": because, **as_data(made)}, indent=1))
        return
    from ..plot.terminal import as_text

    width = min(100, max(40, shutil.get_terminal_size((80, 24)).columns))
    click.echo(as_text(made, width=width, colour=colours()))
    click.echo("\n" + click.wrap_text(because, width))


def _source(exercise: Exercise, pack: Pack, reference: bool, workspace: Path | None) -> Source:
    """Whose code: a record that can't be read counts as none."""
    from ..errors import UsageProblem
    from ..plot.own import Source, chosen
    from ..store import StoreProblem, open_store
    from ..workspace import find

    if reference:
        return Source(exercise.solution.read_bytes(), False, "From the reference, as asked.")
    try:
        place = find(workspace, pack)
    except UsageProblem:
        if workspace is not None:
            raise
        return chosen(exercise, None, None)
    try:
        with open_store(writing=False) as store:
            return chosen(exercise, place, store)
    except StoreProblem:
        return chosen(exercise, place, None)


COMMANDS = [plot]
