"""What watch mode puts on the screen: a verdict that fits, progress and keys below it."""

from __future__ import annotations

import os
import shutil
import sys

import click

from ..catalog import Exercise
from ..render.prose import keys_told
from ..render.terminal import as_text, next_step, not_written
from ..verdict import Reason, Verdict, Word

KEYS = "h hint · s statement · l list · n next · p plot · r reset · z quiz · q quit"
BACK = "m verdict again"
LEAST_ROWS = 6


class Screen:
    """The terminal as it is now: its size is looked up at each drawing."""

    def __init__(self, interactive: bool):
        self.interactive = interactive
        self.drawn_at: tuple[int, int] = (0, 0)
        self.last = ""  # what stands at the bottom

    def size(self) -> tuple[int, int]:
        """Columns and rows. The terminal itself is asked, since COLUMNS and LINES don't follow a resize."""
        for stream in (sys.__stdout__, sys.__stdin__):
            try:
                found = os.get_terminal_size(stream.fileno())  # type: ignore[union-attr]
            except (OSError, ValueError, AttributeError):
                continue
            if found.columns > 0 and found.lines > 0:
                return found.columns, found.lines
        return tuple(shutil.get_terminal_size((80, 24)))  # type: ignore[return-value]

    def say(self, text: str) -> None:
        """A sentence below what is there, wrapped at words, seen at once."""
        self.last = text
        width = min(100, self.size()[0])
        click.echo("\n".join("\n".join(keys_told(line, width)) if " · " in line else click.wrap_text(line, width) for line in text.split("\n")))
        sys.stdout.flush()

    def say_once(self, text: str) -> None:
        """The same, unless that is what stands there."""
        if text != self.last:
            self.say(text)

    def resized(self) -> bool:
        """Whether the last drawing was for another size."""
        return self.interactive and self.drawn_at != (0, 0) and self.drawn_at != self.size()

    def draw(self, verdict: Verdict, done: int, total: int, watching: Exercise, whole: bool = False) -> None:
        """The verdict from its top, cut where it would push itself off the screen (unless ``whole``), with progress and keys at the bottom."""
        columns, rows = self.drawn_at = self.size()
        width = min(100, max(40, columns))
        live = self.interactive and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        lines = as_text([verdict], colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb", width=width,
                        closing=closing(verdict)).split("\n")
        foot = self.foot(done, total, watching, width)
        room = max(LEAST_ROWS, rows - len(foot) - 2)  # a line stays free for "checking ..."
        if live and not whole and len(lines) > room:
            lines = [*lines[: room - 1], f"  … {len(lines) - room + 1} more lines: m shows everything"]
        if live:
            click.clear()
        click.echo("\n".join([*lines, *foot]))
        self.last = ""

    def back(self, done: int, total: int, watching: Exercise) -> None:
        """After another command: what is watched, and the keys."""
        self.last = f"{BACK} · {KEYS}"
        click.echo("\n".join(self.foot(done, total, watching, min(100, max(40, self.size()[0])), self.last)))

    def foot(self, done: int, total: int, watching: Exercise, width: int, keys: str = KEYS) -> list[str]:
        """Progress, and the keys where there is a keyboard."""
        filled = round(20 * done / total)
        bar = f"{'█' * filled}{'░' * (20 - filled)} " if width > 60 else ""
        told = f"{bar}{done}/{total} done · watching {watching.module}.py"
        lines = ["", told if len(told) <= width else f"{done}/{total} done · {watching.id}"]
        return lines + (keys_told(keys, width) if self.interactive else [])


def closing(verdict: Verdict) -> str:
    """What to do next, where the answer is a save and not a command; the keys stand below."""
    if verdict.word is Word.FAILED and verdict.reason is Reason.NOT_IMPLEMENTED:
        return f"Next: write {(not_written(verdict) or ['it'])[0]} and save."
    if verdict.word is Word.FAILED:
        return next_step(verdict) if verdict.reason is Reason.LOAD_ERROR else ""
    if verdict.word is Word.PROVISIONAL:
        return f"For the rest: attngrade check {verdict.exercise}, on a machine with a CUDA device."
    return f"To compare: attngrade solution {verdict.exercise} --diff" if verdict.word is Word.PASSED else next_step(verdict)
