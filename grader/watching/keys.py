"""Single keys from a terminal, without Enter; nothing at all where standard input is no terminal."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from collections.abc import Iterator

try:
    import termios
    import tty
except ImportError:  # Windows: msvcrt below
    termios = tty = None  # type: ignore[assignment]


@contextlib.contextmanager
def keyboard() -> Iterator[bool]:
    """Within it keys arrive one by one; yields whether there is a keyboard. The terminal is put back whatever happens."""
    if not sys.stdin.isatty():
        yield False
        return
    if termios is None:
        yield True
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin)
        yield True
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def key(timeout: float) -> str:
    """The next key within ``timeout`` seconds, or an empty string."""
    if termios is None:
        return _windows_key(timeout)
    if not select.select([sys.stdin], [], [], timeout)[0]:
        return ""
    typed = os.read(sys.stdin.fileno(), 64)
    return "" if typed.startswith(b"\x1b") else typed[:1].decode("ascii", "ignore")


def _windows_key(timeout: float) -> str:
    import msvcrt

    limit = time.monotonic() + timeout
    while time.monotonic() < limit:
        if msvcrt.kbhit():  # type: ignore[attr-defined]
            return str(msvcrt.getwch())  # type: ignore[attr-defined]
        time.sleep(0.02)
    return ""
