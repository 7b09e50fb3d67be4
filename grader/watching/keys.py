"""Single keys from a terminal, without Enter; nothing at all where standard input is no terminal."""

from __future__ import annotations

import contextlib
import os
import re
import select
import sys
import time
from collections.abc import Iterator

try:
    import termios
    import tty
except ImportError:  # Windows: msvcrt below
    termios = tty = None  # type: ignore[assignment]

ESCAPES = re.compile(rb"\x1b(\[[0-9;?]*[ -/]*[@-~]|O.|.)?")  # arrows, function keys, pastes' brackets: no keys of ours
LEAVE = "q"


class Keyboard:
    """Keys one by one, none lost however fast they come. ``there`` says whether there is a keyboard at all."""

    def __init__(self) -> None:
        self.there = sys.stdin is not None and sys.stdin.isatty()
        self._before = termios.tcgetattr(sys.stdin) if self.there and termios is not None else None
        self._ahead = ""

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Within it keys arrive one by one. The terminal is put back whatever happens."""
        if self._before is None:
            yield
            return
        try:
            tty.setcbreak(sys.stdin, termios.TCSADRAIN)
            yield
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._before)

    @contextlib.contextmanager
    def lent(self) -> Iterator[None]:
        """Within it the terminal is as another command expects it: whole lines, echoed."""
        if self._before is None:
            yield
            return
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._before)
        try:
            yield
        finally:
            tty.setcbreak(sys.stdin, termios.TCSADRAIN)

    def key(self, timeout: float) -> str:
        """The next key within ``timeout`` seconds, or an empty string; ``q`` once the terminal is gone."""
        if not self.there:
            time.sleep(timeout)
            return ""
        if termios is None:
            return _windows_key(timeout)
        if not self._ahead and select.select([sys.stdin], [], [], timeout)[0]:
            self._ahead = self._typed()
        pressed, self._ahead = self._ahead[:1], self._ahead[1:]
        return pressed

    def _typed(self) -> str:
        try:
            data = os.read(sys.stdin.fileno(), 1024)
        except OSError:
            data = b""
        if data in (b"", b"\x04"):
            return LEAVE
        return ESCAPES.sub(b"", data).decode("ascii", "ignore")


def _windows_key(timeout: float) -> str:
    import msvcrt

    limit = time.monotonic() + timeout
    while time.monotonic() < limit:
        if msvcrt.kbhit():  # type: ignore[attr-defined]
            pressed = str(msvcrt.getwch())  # type: ignore[attr-defined]
            if pressed in ("\x00", "\xe0"):  # an arrow or a function key: its second half is no letter
                msvcrt.getwch()  # type: ignore[attr-defined]
                return ""
            return pressed
        time.sleep(0.02)
    return ""
