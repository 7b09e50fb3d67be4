"""The command line: one lazy group; the single place where an error becomes a line and an exit code."""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
import threading
from typing import Any

import click

from .. import __version__
from ..errors import AttngradeError
from .plain import forgive, say

COMMANDS = {  # command -> (module of this package, one line for the list of commands)
    "init": ("workspace", "write the exercises into a folder of yours"),
    "list": ("exercises", "exercises with state, points, and whether a GPU is needed"),
    "show": ("exercises", "the statement of an exercise"),
    "check": ("check", "run the hidden checks on your files"),
    "reset": ("workspace", "put a stub back; your old file is kept beside it"),
    "watch": ("watch", "check on every save"),
    "hint": ("exercises", "the next hint, one at a time"),
    "solution": ("exercises", "the reference solution, once passed or with --give-up"),
    "plot": ("plot", "the picture that makes the point, from your code where it passes"),
    "takehome": ("takehome", "a kit for candidates; a folder of returns graded; pages about them"),
    "pack": ("pack", "verify an exercise set, or start one of your own"),
    "mark": ("mark", "mark typed answers without asking anything"),
    "questions": ("questions", "the question bank: prompts, model answers, points"),
    "quiz": ("quiz", "rapid-fire questions, timed, marked, scheduled"),
    "progress": ("progress", "points, attempts, what is due; --export and --import"),
    "export": ("export", "questions and exercises for Anki, Moodle, a printer, ..."),
    "doctor": ("doctor", "what works on this machine, and how to get the rest"),
    "completion": ("completion", "tab completion for bash, zsh or fish"),
}


class LazyGroup(click.Group):
    """A group that imports a command's module when that command is run or asked for help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in COMMANDS if _exists(COMMANDS[name][0])]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f".{COMMANDS[name][0]}", __name__)
        return next((command for command in module.COMMANDS if command.name == name), None)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        own = [CompletionItem(name, help=COMMANDS[name][1]) for name in self.list_commands(ctx) if name.startswith(incomplete)]
        return own + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, 1, cutoff=0.7)  # "next" is no "export"
            raise click.UsageError(f"There is no command {args[0]!r}." + (f" Did you mean `attngrade {near[0]}`?" if near else " `attngrade --help` lists them."), ctx) from None


def _exists(module: str) -> bool:
    return importlib.util.find_spec(f".{module}", __name__) is not None


@click.group(cls=LazyGroup, invoke_without_command=True, epilog="Tab completion: attngrade completion",
             context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(__version__, prog_name="attngrade")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Interview practice about attention: exercises with hidden checks that name your mistake, and a marked quiz.

    Start with `attngrade list`, then edit a stub and run `attngrade check 3`.
    """
    if ctx.invoked_subcommand is None:
        from .workspace import standing

        standing()


def tidy_ends() -> list[int]:
    """Being told to end, or losing the terminal, ends this process as Ctrl-C does: everything is tidied up first. Gives the signals that came."""
    came: list[int] = []
    own = os.getpid()

    def end(number: int, _: object) -> None:
        came.append(number)
        if os.getpid() != own:  # forked from here: not ours to tidy
            os._exit(128 + number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        return came
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, end)
    return came


def own_fault(error: Exception) -> str:
    """What is said of an error that nobody foresaw; all of it where ATTNGRADE_TRACEBACK is set."""
    import traceback

    if "ATTNGRADE_TRACEBACK" in os.environ:
        traceback.print_exception(error)
    *_, place = traceback.extract_tb(error.__traceback__)
    return (f"this is a fault of attngrade, not of what was checked: {type(error).__name__}: {error} ({os.path.basename(place.filename)}, line {place.lineno}). "
            "Nobody is charged for it. Set ATTNGRADE_TRACEBACK=1 and run it again for a report that helps to mend it.")


def complain(error: click.ClickException | AttngradeError) -> None:
    """Say an error."""
    text = f"Error: {error}"
    if isinstance(error, click.ClickException):
        error.show(told := io.StringIO())
        text = told.getvalue().removesuffix("\n")
        if isinstance(error, click.MissingParameter) and error.ctx is not None and error.ctx.command.epilog:
            text += f" {error.ctx.command.epilog}"
    say(text, err=True)


def main(args: list[str] | None = None) -> None:
    """Run the command line; every error a person sees is one sentence and an exit code."""
    forgive()
    stopped_by = tidy_ends()
    try:
        code: Any = cli.main(args, prog_name="attngrade", standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("Stopped.", err=True)
        sys.exit(128 + (stopped_by[0] if stopped_by else signal.SIGINT))
    except (click.ClickException, AttngradeError) as error:
        complain(error)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except Exception as error:  # exit code 1 would be somebody's failed check
        complain(AttngradeError(own_fault(error)))
        sys.exit(AttngradeError.exit_code)
    sys.exit(code if isinstance(code, int) else 0)
