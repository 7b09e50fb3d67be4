"""Notebooks: ``%%attngrade exercise03`` checks the cell below it in the same jail as the command line; ``%attngrade hint 3`` runs a command.

The cell is the submission: it is not run in the notebook's own process. A warm worker stands ready after the first check.
"""

from __future__ import annotations

import atexit
import shlex
from typing import Any

import click

USAGE = "Write `%%attngrade EXERCISE` as the first line of the cell with your code, for instance `%%attngrade exercise03`."
ELSEWHERE = {"watch": "A cell is checked when you run it: `%%attngrade EXERCISE`.", "quiz": "It needs a terminal: run `attngrade quiz` in one."}


class Marker:
    """The warm workers behind a notebook's magics, made at the first check."""

    def __init__(self) -> None:
        self._benches: dict[tuple[str, str, float], Any] = {}

    def judge(self, name: str, cell: str, *, isolation: str, device: str, timeout: float, seed: int | None) -> Any:
        """The verdict on a cell, recorded like any other attempt."""
        from .catalog import builtin
        from .cli.check import fresh_seed, remember
        from .doctor.posix import need_workers

        need_workers()
        exercise = builtin().find(name)
        bench = self._bench(isolation, device, timeout)
        bench.seed = fresh_seed if seed is None else lambda: seed
        data = cell.encode()
        verdict = bench.judge(exercise, data)
        remember([(exercise, data, verdict)])
        bench.prepare(exercise)
        return verdict

    def _bench(self, isolation: str, device: str, timeout: float) -> Any:
        key = isolation, device, timeout
        if key not in self._benches:
            from .catalog import builtin
            from .cli.check import chosen_device, fresh_seed
            from .grading import Limits
            from .sandbox.nursery import Crew
            from .watching import Bench

            self._benches[key] = Bench(builtin(), Crew(isolation), Limits(timeout_s=timeout), fresh_seed, lambda one: chosen_device(one, device))
        return self._benches[key]

    def close(self) -> None:
        """Leave nothing running."""
        for bench in self._benches.values():
            bench.close()
            bench.crew.close()
        self._benches.clear()


@click.command("%%attngrade", add_help_option=False, epilog=USAGE)
@click.argument("exercise")
@click.option("--isolation", type=click.Choice(["auto", "bubblewrap", "process"]), default="auto")
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto")
@click.option("--timeout", type=click.FloatRange(min=0.1), default=60.0)
@click.option("--seed", type=click.IntRange(min=0), default=None)
def cell_options(**given: Any) -> dict[str, Any]:
    """What may stand behind ``%%attngrade``."""
    return given


def magic(marker: Marker, line: str, cell: str | None = None) -> Any:
    """Both magics: with a cell, its verdict (something that a notebook shows); without one, a command of attngrade."""
    from .errors import AttngradeError

    try:
        words = shlex.split(line)
        if cell is None:
            return _command(words)
        if not words:
            raise click.UsageError(USAGE)
        given = cell_options.main(words, prog_name="%%attngrade", standalone_mode=False)
        return Shown(marker.judge(given.pop("exercise"), cell, **given))
    except click.ClickException as error:
        print(f"Error: {error.format_message()}" + ("" if USAGE in error.format_message() else f" {USAGE}" if cell is not None else ""))
    except (AttngradeError, ValueError) as error:
        print(f"Error: {error}")
    except KeyboardInterrupt:
        print("Stopped.")
    return None


class Shown:
    """A verdict as a notebook shows it: HTML where it can, text where not. ``verdict`` is the record."""

    def __init__(self, verdict: Any):
        self.verdict = verdict

    def __repr__(self) -> str:
        from .render.terminal import as_text

        return as_text([self.verdict], colour=False, width=80)

    def _repr_html_(self) -> str:
        from .render.cell import as_html

        return as_html(self.verdict)


def _command(words: list[str]) -> None:
    from .cli import cli

    if words and words[0] in ELSEWHERE:
        raise click.UsageError(ELSEWHERE[words[0]])
    try:
        cli.main(words, prog_name="attngrade", standalone_mode=False)
    except click.exceptions.Exit:
        return
    except click.exceptions.Abort:
        raise KeyboardInterrupt from None


def load(shell: Any) -> None:
    """Register the magics with a running IPython."""
    if getattr(shell, "attngrade_marker", None) is not None:
        return
    marker = shell.attngrade_marker = Marker()
    atexit.register(marker.close)
    for kind in ("line", "cell"):
        shell.register_magic_function(lambda line, cell=None: magic(marker, line, cell), kind, "attngrade")


def unload(shell: Any) -> None:
    """End the workers and take the magics back."""
    marker = getattr(shell, "attngrade_marker", None)
    if marker is None:
        return
    marker.close()
    atexit.unregister(marker.close)
    shell.attngrade_marker = None
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("attngrade", None)
