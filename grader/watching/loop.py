"""The loop of watch mode: look at the files, look at the keys, show what came of it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable

import click

from ..catalog import Exercise
from ..render.terminal import as_text
from ..verdict import Verdict
from . import DONE, Bench, Files, settled
from .keys import key, keyboard

TICK_S = 0.03
KEYS = "h hint · s statement · l list · n next · p plot · r reset · z quiz · q quit"


class Watch:
    """One session. ``on_verdict`` records an attempt; ``commands`` run what other keys ask for, by name and exercise."""

    def __init__(self, bench: Bench, files: Files, states: dict[str, bool], current: Exercise, on_verdict: Callable[[Exercise, bytes, Verdict], None],
                 commands: dict[str, Callable[[Exercise], None]]):
        self.bench, self.files, self.done, self.current = bench, files, states, current
        self.on_verdict, self.commands = on_verdict, commands
        self.shown: Verdict | None = None
        self.interactive = False
        self.size = (0, 0)

    def run(self) -> None:
        """Until ``q`` or Ctrl-C (or for ever, where there is no keyboard)."""
        with keyboard() as self.interactive:
            self.bench.prepare(self.current)
            self.files.look()
            self.check(self.current)
            while self.step():
                pass

    def step(self) -> bool:
        """One look at keys and files; False when it is time to leave."""
        pressed = self._key()
        if pressed == "q":
            return False
        if pressed:
            self.press(pressed)
        saved = self.files.changed()
        if saved is not None:
            self.current = saved
            self.check(saved)
        elif self.shown is not None and self.interactive and self.size != shutil.get_terminal_size():
            self.draw(self.shown)
        return True

    def _key(self) -> str:
        if self.interactive:
            return key(TICK_S)
        import time

        time.sleep(TICK_S)
        return ""

    def press(self, pressed: str) -> None:
        """What a key does. Unknown keys show the list of keys."""
        if pressed == "n":
            following = self.next_open(after=self.current)
            if following is None:
                click.echo("Everything is done. q quits.")
                return
            self.current = following
            self.bench.prepare(following)
            self.check(following)
        elif pressed in ("\n", "\r", "c"):
            self.check(self.current)
        elif pressed == "r":
            self.reset()
        elif pressed in self.commands:
            self.commands[pressed](self.current)
        else:
            click.echo(KEYS)

    def reset(self) -> None:
        """Ask, then put the stub back; the old file is kept."""
        click.echo(f"Put the stub of {self.current.id} back? Your file is kept beside it. y/n")
        if key(30) == "y":
            kept = self.files.place.reset(self.current)
            self.files.look()
            click.echo(f"Done.{f' Your old file is {kept.name}.' if kept else ''}")
        else:
            click.echo("Nothing changed.")

    def check(self, exercise: Exercise) -> None:
        """Show that it is being checked, check, show the verdict."""
        path = self.files.place.path(exercise)
        data = settled(path)
        if data is None:
            click.echo(f"{path.name} can't be read: it is missing, or its permissions forbid it. r writes a fresh stub.")
            return
        click.echo(f"checking {path.name} …", nl=True)
        sys.stdout.flush()
        verdict = self.bench.judge(exercise, data)
        was_done = self.done.get(exercise.id, False)
        self.done[exercise.id] = verdict.word in DONE
        self.on_verdict(exercise, data, verdict)
        self.draw(verdict)
        if self.done[exercise.id] and not was_done:
            self.move_on(exercise)
        self.bench.prepare(self.current)

    def move_on(self, exercise: Exercise) -> None:
        """After a pass: the next open exercise is the current one; when none is left, all are checked once more."""
        following = self.next_open(after=exercise)
        if following is not None:
            click.echo(f"\nNext is {following.id}: open {following.module}.py. (s shows the statement.)")
            self.current = following
        elif all(self.done.get(e.id) for e in self.files.exercises):
            self.once_more()

    def once_more(self) -> None:
        """Check everything again, and say what no longer holds."""
        click.echo("\nAll done. Everything is checked once more …")
        fallen = []
        for exercise in self.files.exercises:
            data = settled(self.files.place.path(exercise))
            verdict = self.bench.judge(exercise, data or b"")
            if verdict.word not in DONE:
                self.done[exercise.id] = False
                self.on_verdict(exercise, data or b"", verdict)
                fallen.append(exercise)
        if fallen:
            click.echo(f"No longer right: {', '.join(e.id for e in fallen)}.")
            self.current = fallen[0]
        else:
            click.echo("All of it holds. Next: attngrade quiz --interview")

    def next_open(self, after: Exercise) -> Exercise | None:
        """The next exercise that isn't done, in order, starting behind ``after`` and going round."""
        order = list(self.files.exercises)
        place = order.index(after)
        return next((e for e in (*order[place + 1 :], *order[:place]) if not self.done.get(e.id)), None)

    def draw(self, verdict: Verdict) -> None:
        """The verdict, with progress and keys at the bottom."""
        self.shown, self.size = verdict, shutil.get_terminal_size()
        width = min(100, max(40, self.size[0]))
        colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        if self.interactive and sys.stdout.isatty():
            click.clear()
        click.echo(as_text([verdict], colour=colour, width=width))
        count = sum(self.done.get(e.id, False) for e in self.files.exercises)
        total = len(self.files.exercises)
        bar = "█" * round(20 * count / total) + "░" * (20 - round(20 * count / total))
        click.echo(f"\n{bar} {count}/{total} done · watching {self.current.module}.py"[:width] if width > 60 else f"\n{count}/{total} done · {self.current.id}")
        if self.interactive:
            click.echo(click.wrap_text(KEYS, width))
