"""Watch mode as a learner has it: a folder with files, a pseudo-terminal, keys."""

from __future__ import annotations

import codecs
import os
import re
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from attngrade.catalog import builtin
from attngrade.workspace import Workspace, init

pty = pytest.importorskip("pty")
fcntl = pytest.importorskip("fcntl")
termios = pytest.importorskip("termios")

ANSI = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|[78])")
CLEARED = "\x1b[2J"
PATIENCE_S = 90.0


class Watching:
    """``attngrade watch`` on a pseudo-terminal; ``screen`` is what came since the last clearing."""

    def __init__(self, place: Path, environ: dict[str, str], columns: int, rows: int, arguments: list[str]):
        self.master, slave = pty.openpty()
        self.resize(columns, rows)
        command = [sys.executable, "-m", "attngrade", "watch", *arguments]
        self.process = subprocess.Popen(command, cwd=place, stdin=slave, stdout=slave, stderr=slave, env=environ, start_new_session=True, preexec_fn=_own_terminal)
        os.close(slave)
        self.raw, self.decoder = "", codecs.getincrementaldecoder("utf-8")("replace")

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    @property
    def screen(self) -> str:
        return ANSI.sub("", self.raw.rpartition(CLEARED)[2]).replace("\r\n", "\n")

    @property
    def lines(self) -> list[str]:
        return self.screen.rstrip("\n").split("\n")

    def expect(self, text: str, timeout: float = PATIENCE_S) -> str:
        """The screen once the text is on it."""
        self.until(lambda: text in self.screen, repr(text), timeout)
        return self.screen

    def until(self, true: Callable[[], bool], what: str, timeout: float = PATIENCE_S) -> None:
        deadline = time.monotonic() + timeout
        while not true():
            assert time.monotonic() < deadline, f"{what} never came:\n{self.screen}"
            assert self.process.poll() is None or self._read(0.1), f"it ended before {what} came:\n{self.screen}"
            self._read(0.05)

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def forget(self) -> None:
        """Take what is on the screen as read."""
        while self._read(0.05):
            pass
        self.raw = ""

    def end(self) -> int:
        deadline = time.monotonic() + PATIENCE_S
        while self.process.poll() is None and time.monotonic() < deadline:
            self._read(0.1)
        self._read(0.1)
        return self.process.wait(timeout=1)

    def close(self) -> None:
        if self.process.poll() is None:
            self.type("q")  # Ctrl-C ends a check that runs; the key that waits behind it ends the watching
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        os.close(self.master)

    def _read(self, patience: float) -> bool:
        if select.select([self.master], [], [], patience)[0]:
            try:
                self.raw += self.decoder.decode(os.read(self.master, 65536))
                return True
            except OSError:
                time.sleep(0.05)
        return False


def _own_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    return init(tmp_path / "work", builtin())


@pytest.fixture
def path(place: Workspace) -> Path:
    """The first exercise's file."""
    return place.path(builtin().exercises[0])


@pytest.fixture
def watching(tmp_path: Path, place: Workspace) -> Iterator[Callable[..., Watching]]:
    """``watching(columns=60)``: a session in the workspace."""
    started: list[Watching] = []

    def start(*arguments: str, columns: int = 80, rows: int = 40, environ: dict[str, str] | None = None) -> Watching:
        own = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
        own |= {"ATTNGRADE_HOME": str(tmp_path / "home"), "TERM": "xterm-256color", "OMP_NUM_THREADS": "1", **(environ or {})}
        started.append(Watching(place.folder, own, columns, rows, list(arguments)))
        return started[-1]

    yield start
    for one in started:
        one.close()
