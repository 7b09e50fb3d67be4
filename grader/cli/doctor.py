"""``attngrade doctor``: what works here and how to get the rest."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import click

from .plain import colours

if TYPE_CHECKING:
    from ..doctor import Finding


@click.command("doctor", epilog="Example: attngrade doctor --format json")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
def doctor(style: str) -> int:
    """What works on this machine, part by part, with the remedy for the rest. Exit code 3 where no check can run."""
    from ..doctor import State, examine

    found = examine()
    if style == "json":
        click.echo(json.dumps({"schema_version": 1, "findings": [_plain(one) for one in found]}, indent=1, ensure_ascii=False))
    else:
        colour = colours()
        width = min(100, max(40, shutil.get_terminal_size((80, 24)).columns))
        click.echo(_text(found, colour, width))
    return 3 if any(one.state is State.BROKEN for one in found) else 0


def _plain(one: Finding) -> dict[str, object]:
    return {"part": one.part, "state": one.state.value, "detail": one.detail, "remedy": one.remedy, "facts": one.facts}


def _text(found: list[Finding], colour: bool, width: int) -> str:
    from ..doctor import State
    from ..render.prose import filled

    marks = {State.GOOD: ("✓", "green"), State.LESS: ("◐", "reset"), State.ABSENT: ("–", "reset"), State.BROKEN: ("✗", "red")}
    room = max(len(one.part) for one in found) + 4
    lines = []
    for one in found:
        mark, hue = marks[one.state]
        first, *rest = filled(one.detail, width, " " * room, " " * room)
        head = f"{mark} {one.part:<{room - 3}} "
        lines += [(click.style(head, fg=hue, bold=True) if colour else head) + first[room:], *rest]
        if one.remedy:
            lines += filled(f"→ {one.remedy}", width, " " * room, " " * (room + 2))
    return "\n".join([*lines, "", _summary(found)])


def _summary(found: list[Finding]) -> str:
    from ..doctor import State

    broken = [one.part for one in found if one.state is State.BROKEN]
    if broken:
        return f"Checks can't run yet: {', '.join(broken)}. Follow the arrows from the top, then run `attngrade doctor` again."
    lesser = [one.part for one in found if one.state is State.LESS]
    return f"Checks run here. Could be better: {', '.join(lesser)}." if lesser else "Checks run here. Next: attngrade"


COMMANDS = [doctor]
