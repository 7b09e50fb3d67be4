"""The terminal as the quiz sees it: lines out, lines and single keys in, a clock that ticks while somebody types."""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from ..errors import UsageProblem
from ..render.ink import Ink
from ..render.marks import clock
from .plain import forgive

WIDEST = 88


class Console:
    """A real terminal. Tests put another object with these methods in its place."""

    def __init__(self) -> None:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise UsageProblem(
                "The quiz asks and listens, so it needs a terminal on both ends. In a script: `attngrade mark QUESTION --answer TEXT`,"
                " or `attngrade mark --batch FILE`."
            )
        forgive()
        self.plain = os.environ.get("TERM", "") in ("dumb", "")
        self.ink = Ink(not self.plain and "NO_COLOR" not in os.environ)
        self._readline = _readline()

    @property
    def width(self) -> int:
        """Columns to write in."""
        return max(30, min(WIDEST, shutil.get_terminal_size((80, 24)).columns - 1))

    def now(self) -> float:
        """Seconds on a clock that only runs forward."""
        return time.monotonic()

    def say(self, lines: str | Iterable[str] = "") -> None:
        """Write a line, or several."""
        for line in [lines] if isinstance(lines, str) else lines:
            sys.stdout.write(line + "\n")
        sys.stdout.flush()

    def line(self, left: Callable[[], float], prefill: str = "") -> str:
        """One typed line; the time left stands in front of it and ticks. Raises EOFError and KeyboardInterrupt."""
        prompt = _prompt(left(), self.plain)
        if prefill and self._readline:
            self._readline.set_startup_hook(lambda: self._readline.insert_text(prefill))
        try:
            with self._ticking(left):
                return input(prompt)
        except SystemError as error:  # Python's own trouble when Ctrl-C and the tick arrive at the same moment
            if isinstance(error.__cause__, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            raise
        finally:
            if self._readline:
                self._readline.set_startup_hook(None)

    def recall(self, text: str) -> bool:
        """Have the up key bring this line back; whether it can."""
        if self._readline:
            self._readline.clear_history()
            self._readline.add_history(text)
        return bool(self._readline)

    def unfinished(self) -> str:
        """What stood on a line that was broken off."""
        return str(self._readline.get_line_buffer()) if self._readline else ""

    def key(self, prompt: str) -> str:
        """One key, without Enter where the terminal can do that; "" for Enter itself."""
        sys.stdout.write(prompt)
        sys.stdout.flush()
        pressed = _pressed()
        sys.stdout.write("\r" + " " * len(prompt) + "\r" if not self.plain else "\n")
        sys.stdout.flush()
        return "" if pressed in ("\r", "\n") else pressed

    def edit(self, text: str) -> str | None:
        """The text out of the person's own editor; None where there is none or nothing was saved."""
        try:
            return click.edit(text, extension=".md")
        except (click.ClickException, OSError):
            return None

    @contextmanager
    def _ticking(self, left: Callable[[], float]) -> Iterator[None]:
        if self.plain or not self._readline or not hasattr(signal, "setitimer"):
            yield
            return
        before = signal.signal(signal.SIGALRM, lambda *_: self._tick(left()))
        signal.setitimer(signal.ITIMER_REAL, 1.0, 1.0)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def _tick(self, left: float) -> None:
        """Draw the time anew in place; not on a line that has wrapped, whose beginning is elsewhere."""
        prompt, typed = _prompt(left, self.plain), self.unfinished()
        if "\n" not in typed and len(prompt) + len(typed) < shutil.get_terminal_size((80, 24)).columns - 1:
            colour = "\x1b[31m" if left < 0 and self.ink.colour else ""
            with suppress(OSError):
                os.write(sys.stdout.fileno(), f"\x1b7\r{colour}{prompt.rstrip()}\x1b[0m\x1b8".encode())


def _pressed() -> str:
    """One key. What was typed ahead counts, which click's own way of reading a key throws away."""
    try:
        import termios
        import tty
    except ImportError:
        return click.getchar()
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal, termios.TCSADRAIN)
        key = os.read(terminal, 1)
        if key == b"\x1b":  # an arrow or a function key: one key, several bytes
            while select.select([terminal], [], [], 0.02)[0]:
                key += os.read(terminal, 1)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
    if key in (b"", b"\x04"):
        raise EOFError
    return key.decode("utf-8", "replace")


def _prompt(left: float, plain: bool) -> str:
    return f"{clock(left):>6} {'|' if plain else '│'} "


def _readline() -> Any:
    try:
        import readline
    except ImportError:
        return None
    readline.set_auto_history(False)
    if "libedit" not in (readline.__doc__ or ""):
        readline.parse_and_bind("set enable-bracketed-paste on")  # a pasted blank line is part of the answer, not its end
    return readline
