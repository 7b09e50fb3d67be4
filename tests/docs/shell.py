"""The commands of a page, run as a reader runs them."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shlex
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterable
from pathlib import Path

Reasoned = dict[str, tuple[object, str]]  # command -> (what holds for it, why)


def sections(page: str) -> list[list[str]]:
    """The commands under each heading, without remarks; a here-document stays with its command."""
    return [[command for block in re.findall(r"^```sh\n(.*?)^```", part, re.M | re.S) for command in _commands(block)] for part in re.split(r"^## ", page, flags=re.M)]


def _commands(block: str) -> Iterable[str]:
    lines = iter(block.splitlines())
    for line in lines:
        here = re.search(r"<<'(\w+)'", line)
        if here:
            yield "\n".join([line, *iter(lambda: next(lines), here.group(1)), here.group(1)])
        elif line.strip() and not line.startswith("#"):
            yield re.sub(r"\s+# .*", "", line).strip()


def faults(commands: Iterable[str], folder: Path, home: Path, *, instead: Reasoned, keys: dict[str, bytes], codes: Reasoned) -> list[str]:
    """What didn't end as it should, of commands run one after the other from ``folder``."""
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "ATTNGRADE_HOME": str(home), "OMP_NUM_THREADS": "1", "TERM": "xterm"}
    found = []
    for command in commands:
        if command.startswith("cd "):
            folder = folder / command[3:]
            continue
        run: Callable[..., tuple[int, str]] = at_a_terminal if command in keys else plainly
        code, told = run(str(instead.get(command, (command,))[0]), folder, environ, keys.get(command, b""))
        if code != codes.get(command, (0,))[0]:
            found.append(f"$ {command}\nended with {code}\n{told[-2000:]}")
    return found


def plainly(command: str, folder: Path, environ: dict[str, str], key: bytes) -> tuple[int, str]:
    """In a shell, with nobody at the keyboard."""
    told = subprocess.run(["bash", "-c", command], cwd=folder, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    return told.returncode, told.stdout + told.stderr


def at_a_terminal(command: str, folder: Path, environ: dict[str, str], key: bytes) -> tuple[int, str]:
    """On a pseudo-terminal: the keys are pressed once it has drawn something and waits; then it has to end."""
    ours, theirs = pty.openpty()
    running = subprocess.Popen(shlex.split(command), cwd=folder, env=environ, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                               preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(theirs)
    shown, pressed, until = b"", False, time.monotonic() + 60
    while time.monotonic() < until and (running.poll() is None or select.select([ours], [], [], 0)[0]):
        if select.select([ours], [], [], 0.5)[0]:
            try:
                shown += os.read(ours, 65536)
            except OSError:  # it has ended
                break
        elif shown and not pressed:
            os.write(ours, key)
            pressed = True
    if not pressed or running.poll() is None:
        _end(running)
    os.close(ours)
    return running.returncode, shown.decode(errors="replace")


def _end(running: subprocess.Popen[bytes]) -> None:
    """A moment to end by itself; then it is ended, which shows in its code."""
    try:
        running.wait(timeout=10)
    except subprocess.TimeoutExpired:
        running.kill()
        running.wait()
