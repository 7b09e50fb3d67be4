"""``attngrade watch``: checks on every save."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .completion import exercise_names
from .exercises import PACK, WORKSPACE

if TYPE_CHECKING:
    from ..catalog import Exercise
    from ..verdict import Verdict


@click.command("watch", epilog="Example: attngrade watch, then edit and save exercise01_variance.py")
@click.argument("exercise", required=False, shell_complete=exercise_names)
@PACK
@WORKSPACE
@click.option("--isolation", type=click.Choice(["auto", "bubblewrap", "process"]), default="auto", show_default=True)
def watch(exercise: str | None, pack: Path | None, workspace: Path | None, isolation: str) -> None:
    """Check on every save, and move on when an exercise passes. Starts at the first that isn't done, or at EXERCISE."""
    from ..catalog import open_pack
    from ..doctor.posix import need_workers
    from ..grading import Limits
    from ..sandbox.nursery import Crew
    from ..watching import Bench, Files
    from ..watching.loop import Watch
    from ..workspace import find
    from .check import chosen_device, fresh_seed, remember
    from .exercises import DONE, state_of

    need_workers()
    found = open_pack(pack)
    place = find(workspace, found)
    exercises = found.exercises
    done = {e.id: state_of(e, found, place.folder).word in DONE for e in exercises}
    current = found.find(exercise) if exercise else next((e for e in exercises if not done[e.id]), exercises[0])

    def on_verdict(one: Exercise, data: bytes, verdict: Verdict) -> None:
        if not known(one, data, verdict):
            remember([(one, data, verdict)])

    with Crew(isolation) as crew:
        bench = Bench(found, crew, Limits(), fresh_seed, lambda one: chosen_device(one, "auto"))
        try:
            Watch(bench, Files(place, exercises), done, current, on_verdict, _commands(pack)).run()
        except KeyboardInterrupt:
            click.echo("\nStopped watching. Your files are as you left them.")
        finally:
            bench.close()


def known(exercise: Exercise, data: bytes, verdict: Verdict) -> bool:
    """Whether this is no attempt: the stub as it comes, or the very file of the last attempt with the very same verdict."""
    from ..store import StoreProblem, open_store

    stub = data == exercise.stub.read_bytes()
    try:
        with open_store(writing=False) as store:
            last = next((entry.record for entry in reversed(store.attempts(exercise.key))), None)
    except StoreProblem:
        return stub
    if last is None or (stub and last.verdict not in ("passed", "provisional")):  # a stub where there was a pass demotes
        return stub
    return (last.sha256, last.verdict) == (hashlib.sha256(data).hexdigest(), verdict.word.value)


def _commands(pack: Path | None) -> dict[str, Callable[[Exercise], None]]:
    """What the keys run: other commands of this program, in this process."""
    from ..errors import AttngradeError
    from . import cli, complain, own_fault

    def run(*words: str) -> None:
        options = ["--pack", str(pack)] if pack is not None and words[0] in ("hint", "show", "list") else []
        try:
            cli.main([*words, *options], prog_name="attngrade", standalone_mode=False)
        except click.exceptions.Exit:
            return
        except (click.exceptions.Abort, KeyboardInterrupt):
            click.echo("Stopped.")
        except (click.ClickException, AttngradeError) as error:
            complain(error)
        except Exception as error:
            complain(AttngradeError(own_fault(error)))

    def drawn(one: Exercise) -> None:
        click.echo(f"drawing {one.id} …")
        run("plot", one.id)

    return {
        "h": lambda one: run("hint", one.id), "s": lambda one: run("show", one.id), "l": lambda one: run("list"), "p": drawn,
        "z": lambda one: run("quiz"),
    }


COMMANDS = [watch]
