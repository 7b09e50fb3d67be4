"""``attngrade completion``: tab completion for a shell, click's own; and what it offers for the name of an exercise."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

VARIABLE = "_ATTNGRADE_COMPLETE"
SHELLS = {  # shell -> the line that switches completion on, and the file that it goes into
    "bash": ('eval "$(attngrade completion bash)"', "~/.bashrc"),
    "zsh": ('eval "$(attngrade completion zsh)"', "~/.zshrc, after compinit"),
    "fish": ("attngrade completion fish | source", "~/.config/fish/config.fish"),
}


@click.command("completion", epilog='Example: eval "$(attngrade completion bash)"')
@click.argument("shell", required=False, type=click.Choice(list(SHELLS)))
def completion(shell: str | None) -> None:
    """Print the completion script for SHELL; without SHELL, the line to put into your shell's start-up file."""
    if shell is None:
        own = Path(os.environ.get("SHELL", "")).name
        for name in [own] if own in SHELLS else SHELLS:
            line, file = SHELLS[name]
            click.echo(f"{name}: put this line into {file}:\n    {line}")
        return
    from . import cli

    found = get_completion_class(shell)
    assert found is not None, "click has a class for each of SHELLS"
    click.echo(found(cli, {}, "attngrade", VARIABLE).source())


def exercise_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Exercises whose id or slug begins with what is typed."""
    from ..catalog import open_pack
    from ..errors import AttngradeError

    try:
        found = open_pack(ctx.params.get("pack")).exercises
    except AttngradeError:
        return []
    offered = [(name, one.title) for one in found for name in ((one.id, one.slug) if incomplete else (one.id,))]
    return [CompletionItem(name, help=title) for name, title in offered if name.startswith(incomplete)]


COMMANDS = [completion]
