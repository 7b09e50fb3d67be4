"""``attngrade pack``: verify an exercise set, or start one of your own."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .plain import say

if TYPE_CHECKING:
    from ..catalog import Exercise, Pack
    from ..verify import Report

SHARES = 8  # of one exercise; each loads the wrong ideas anew


@click.group("pack", epilog="Example: attngrade pack verify my_pack")
def pack() -> None:
    """Exercise sets: verify one, or write a new one to start from."""


@pack.command("verify", epilog="Example: attngrade pack verify --exercise exercise03")
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.option("--exercise", "names", multiple=True, metavar="EXERCISE", help="Only this one (may be repeated).")
@click.option("--jobs", type=click.IntRange(min=1), default=None, help="Processes at once (default: the number of cores).")
@click.option("--format", "style", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
@click.option("--sample", type=click.IntRange(min=1), default=None, help="Try only this many wrong ideas of each function, drawn with the seed.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
def verify(folder: Path | None, names: tuple[str, ...], jobs: int | None, style: str, sample: int | None, seed: int) -> int:
    """Admit an exercise set: stub fails, right versions pass, every wrong idea is caught and named.

    Without FOLDER the built-in set is verified.
    """
    from ..doctor.posix import need_workers
    from ..proofread import question_problems, strays, unknown_questions
    from ..render.pack import as_markdown, as_text

    found = _opened(folder)
    need_workers()
    chosen = [found.find(name) for name in names] or list(found.exercises)
    done = _verified(chosen, jobs or os.cpu_count() or 1, seed, sample)
    lost = [] if names else [*strays(found), *unknown_questions(found), *(question_problems(found.questions_dir) if folder else [])]
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
    say(f"Wrote {len(files)} files into {folder}.\nNext: attngrade pack verify {folder}")


def _opened(folder: Path | None) -> Pack:
    """The pack. Raises PackProblem with everything that can be seen without running it, where the catalog can't be used."""
    from ..catalog import open_pack
    from ..errors import PackProblem

    try:
        return open_pack(folder)
    except PackProblem as error:
        from ..proofread import unlisted_problems

        raise PackProblem(str(folder), [*error.problems, *unlisted_problems(Path(folder or "."))]) from None


def _verified(chosen: list[Exercise], jobs: int, seed: int, sample: int | None) -> list[Report]:
    """A report of each exercise. Each is cut into shares, the slowest first, so that no core waits for one long exercise."""
    from concurrent.futures import ProcessPoolExecutor, as_completed

    from ..verify import joined, part

    shares = 1 if sample is not None else min(jobs, SHARES)
    with ProcessPoolExecutor(min(jobs, shares * len(chosen))) as pool:
        given = {pool.submit(part, one, share, shares, seed=seed, sample=sample): one for one in sorted(chosen, key=lambda one: -one.budget_s) for share in range(shares)}
        for number, ended in enumerate(as_completed(given), 1):
            click.echo(f"{given[ended].id}: {number} of {len(given)} shares done", err=True)
        return [joined([ended.result() for ended, its in given.items() if its is one], sample) for one in chosen]


def _plain(report: Report) -> dict[str, object]:
    return {**report.__dict__, "table": {name: sorted(failed) for name, failed in report.table.items()}}


COMMANDS = [pack]
