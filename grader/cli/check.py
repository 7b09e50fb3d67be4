"""``attngrade check``: the hidden checks on a learner's files."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import UsageProblem
from ..verdict import CheckResult, Outcome, Reason, Verdict, Word, exit_code
from .completion import exercise_names
from .plain import colours

if TYPE_CHECKING:
    from ..catalog import Exercise, Pack
    from ..sandbox.host import Worker

SOURCE_CAP = 1 << 20  # bytes of a submission that are read at all
FORMATS = ["text", "json", "junit", "ctrf", "gradescope"]


@click.command("check", epilog="Example: attngrade check exercise03 --file my_mask.py --format json")
@click.argument("exercises", nargs=-1, metavar="[EXERCISE]...", shell_complete=exercise_names)
@click.option("--file", "file", type=click.Path(path_type=Path), help="Check this file instead of the workspace's (one exercise).")
@click.option("--workspace", type=click.Path(path_type=Path, file_okay=False), help="The folder with your files (default: found from here).")
@click.option("--pack", type=click.Path(path_type=Path, file_okay=False), help="Check against the exercise set in this folder.")
@click.option("--format", "style", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the report to this file.")
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto", show_default=True)
@click.option("--isolation", type=click.Choice(["auto", "bubblewrap", "process"]), default="auto", show_default=True)
@click.option("--timeout", type=click.FloatRange(min=0.1), default=60.0, show_default=True, metavar="SECONDS", help="Wall clock per exercise; five times as long on a GPU.")
@click.option("--memory", type=click.IntRange(min=256), default=4096, show_default=True, metavar="MIB", help="Memory limit.")
@click.option("--seed", type=click.IntRange(min=0), default=None, help="Seed of the hidden inputs (default: a fresh one).")
def check(
    exercises: tuple[str, ...], file: Path | None, workspace: Path | None, pack: Path | None, style: str, output: Path | None, device: str,
    isolation: str, timeout: float, memory: int, seed: int | None,
) -> int:
    """Run the hidden checks on your files and say which mistake it was. All exercises when none is named."""
    from ..catalog import open_pack
    from ..doctor.posix import need_workers

    found = open_pack(pack)
    chosen = [found.find(name) for name in exercises] or list(found.exercises)
    if file is not None and len(chosen) != 1:
        raise UsageProblem("--file goes with one exercise: attngrade check exercise03 --file PATH")
    if output is not None and not output.absolute().parent.is_dir():
        raise UsageProblem(f"{output.parent} is not a folder. Make it first, or name another --output.")
    need_workers()
    files = {exercise.id: _data(file) if file else _workspace_file(exercise, workspace, found) for exercise in chosen}
    verdicts = []
    for exercise in chosen:
        with announced(exercise.id if len(chosen) > 1 else ""):
            verdicts.append(judge(exercise, *files[exercise.id], Options(device, isolation, timeout, memory, fresh_seed() if seed is None else seed)))
    if file is None:  # looking at a stub is no attempt
        remember([(exercise, files[exercise.id][0], verdict) for exercise, verdict in zip(chosen, verdicts, strict=True) if files[exercise.id][0] != exercise.stub.read_bytes()])
    report(verdicts, style, output)
    return exit_code(verdicts)


@contextlib.contextmanager
def announced(name: str) -> Iterator[None]:
    """While one of several is checked, a person sees which; nothing of it stays."""
    if not (name and sys.stderr.isatty()):
        yield
        return
    told = f"checking {name} …"
    click.echo(told, err=True, nl=False)
    try:
        yield
    finally:
        click.echo("\r" + " " * len(told) + "\r", err=True, nl=False)


def remember(attempts: Iterable[tuple[Exercise, bytes, Verdict]]) -> None:
    """Record the attempts, and put the questions of named misconceptions on the deck. A store that can't be written costs no verdict."""
    from ..quiz.deck import remember_misconceptions
    from ..store import Attempt, StoreProblem, open_store

    now = datetime.now().astimezone()
    try:
        with open_store() as store:
            for exercise, data, verdict in attempts:
                if verdict.word is Word.ERROR:
                    continue  # a fault of the grader charges nobody an attempt
                named = verdict.misconceptions
                store.add(Attempt(exercise.key, verdict.word.value, verdict.score, verdict.max_score, tuple(item.id for item in named),
                                  hashlib.sha256(data).hexdigest(), verdict.duration_s, verdict.reason or "",
                                  tuple(item.hint or "" for item in named)), at=now)
                if not exercise.pack:  # the deck is dealt from the built-in questions
                    remember_misconceptions(store, [item.question for item in named], now, because=exercise.id)
    except StoreProblem as error:
        click.echo(f"Note: this attempt was not recorded. {error}", err=True)


@dataclass(frozen=True)
class Options:
    """How a check is run."""

    device: str = "auto"
    isolation: str = "auto"
    timeout_s: float = 60.0
    memory_mib: int = 4096
    seed: int = 0


def judge(exercise: Exercise, data: bytes, name: str, options: Options) -> Verdict:
    """Grade one file and name its mistakes. The worker that names them starts to import at the first failure, while the other checks run."""
    from ..grading import Limits, grade

    troupe: list[Worker] = []

    def prepare(result: CheckResult) -> None:
        if not troupe and result.outcome is Outcome.FAILED and result.reason is not Reason.NOT_IMPLEMENTED:
            troupe.append(started_troupe(exercise, options))

    try:
        verdict = grade(
            exercise, data, name=name, limits=Limits(options.timeout_s, options.memory_mib), seed=options.seed, device=chosen_device(exercise, options.device),
            isolation=options.isolation, on_result=prepare,
        )
        return with_names(exercise, data, verdict, options, next(iter(troupe), None))
    finally:
        for worker in troupe:
            worker.close()


def started_troupe(exercise: Exercise, options: Options) -> Worker:
    """A trusted worker on its way, for the naming of mistakes."""
    from ..grading import Limits, plan_for
    from ..sandbox.host import Worker

    return Worker(plan_for(exercise, Limits(options.timeout_s, options.memory_mib), "cpu"), "trusted")


def with_names(exercise: Exercise, data: bytes, verdict: Verdict, options: Options, troupe: Worker | None = None) -> Verdict:
    """The verdict with its mistakes named, by a trusted worker (started here if none is given)."""
    from ..diagnosis import diagnosed, leaning, wants_diagnosis

    if not wants_diagnosis(verdict):
        return verdict
    try:
        leans = leaning(data, exercise.solution.read_bytes())
        if troupe is not None:
            return diagnosed(exercise, verdict, troupe, leans=leans)
        with started_troupe(exercise, options) as own:
            return diagnosed(exercise, verdict, own, leans=leans)
    except Exception:  # a verdict is not lost to its explanation, whatever a hostile result does to it
        return verdict


def chosen_device(exercise: Exercise, asked: str) -> str:
    """``auto``: cuda for an exercise that needs one where there is one."""
    if asked != "auto":
        return asked
    from ..grading.devices import best_for

    return best_for(exercise)


def fresh_seed() -> int:
    """A seed nobody knows beforehand."""
    return int.from_bytes(os.urandom(4), "little")


def report(verdicts: list[Verdict], style: str, output: Path | None) -> None:
    """Render to the screen or a file (written beside, then renamed)."""
    from ..render import as_text, renderer

    terminal = output is None and colours()
    width = min(100, max(40, shutil.get_terminal_size((80, 24)).columns))
    text = as_text(verdicts, colour=terminal, width=width) if style == "text" else renderer(style)(verdicts)
    if output is None:
        click.echo(text)
    else:
        write_whole(output, text + "\n")


def write_whole(path: Path, text: str) -> None:
    """Write beside, then rename, so that no half-written file is ever seen. Raises UsageProblem."""
    from ..workspace import write_beside

    try:
        write_beside(path, text.encode("utf-8"))
    except OSError as error:
        raise UsageProblem(f"{path} can't be written ({error.strerror}). Name another file.") from None


def _data(path: Path) -> tuple[bytes, str]:
    from ..sandbox.scrub import one_line

    shown = one_line(str(path), 300)
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise UsageProblem(f"{shown} is no file (a device, a pipe or a socket); --file wants one Python file.")
        with path.open("rb") as file:
            return file.read(SOURCE_CAP + 1), path.name  # what is longer is refused by the reader
    except IsADirectoryError:
        raise UsageProblem(f"{shown} is a folder; --file wants one Python file.") from None
    except OSError as error:
        raise UsageProblem(f"{shown} can't be read ({error.strerror}). Check the path.") from None


def _workspace_file(exercise: Exercise, folder: Path | None, pack: Pack) -> tuple[bytes, str]:
    from ..workspace import find

    return _data(find(folder, pack).file(exercise))


COMMANDS = [check]
