"""``attngrade pack``: verify an exercise set, or start one of your own."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..verify import Report


@click.group("pack", epilog="Example: attngrade pack verify my_pack")
def pack() -> None:
    """Exercise sets: verify one, or write a new one to start from."""


@pack.command("verify", epilog="Example: attngrade pack verify --exercise exercise03")
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.option("--exercise", "names", multiple=True, metavar="EXERCISE", help="Only this one (may be repeated).")
@click.option("--jobs", type=click.IntRange(min=1), default=None, help="Exercises verified at once (default: the number of cores).")
@click.option("--format", "style", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
def verify(folder: Path | None, names: tuple[str, ...], jobs: int | None, style: str, seed: int) -> int:
    """Admit an exercise set: stub fails, right versions pass, every wrong idea is caught and named.

    Without FOLDER the built-in set is verified.
    """
    from concurrent.futures import ProcessPoolExecutor

    from ..catalog import open_pack
    from ..render.pack import as_markdown, as_text
    from ..verify import strays

    found = open_pack(folder)
    chosen = [found.find(name) for name in names] or list(found.exercises)
    slowest_first = sorted(chosen, key=lambda exercise: -exercise.budget_s)
    with ProcessPoolExecutor(min(jobs or os.cpu_count() or 1, len(chosen))) as pool:
        reports = {exercise.id: pool.submit(_verify, exercise, seed) for exercise in slowest_first}
        done = [reports[exercise.id].result() for exercise in chosen]
    lost = [] if names else strays(found)
    if style == "json":
        click.echo(json.dumps({"exercises": [_plain(report) for report in done], "strays": lost}, indent=1))
    else:
        click.echo((as_markdown if style == "markdown" else as_text)(done, lost))
    return 1 if lost or any(report.problems for report in done) else 0


@pack.command("new", epilog="Example: attngrade pack new my_pack")
@click.argument("folder", type=click.Path(path_type=Path))
def new(folder: Path) -> None:
    """Write a small exercise set that verifies into FOLDER, to start your own from."""
    from ..starter import write_pack

    files = write_pack(folder)
    click.echo(f"Wrote {len(files)} files into {folder}. Next: attngrade pack verify {folder}")


def _verify(exercise: object, seed: int) -> Report:
    from ..verify import verify as verify_one

    return verify_one(exercise, seed=seed)  # type: ignore[arg-type]


def _plain(report: Report) -> dict[str, object]:
    return {**report.__dict__, "table": {name: sorted(failed) for name, failed in report.table.items()}}


COMMANDS = [pack]
