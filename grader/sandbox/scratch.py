"""Private folders of workers that have no /tmp of their own, and sweeping those whose grader is dead.

A grader holds a lock on each of its folders. The kernel lets go of it however the grader ends, so a folder without a lock is nobody's.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from functools import cache
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: folders are removed at the end alone
    fcntl = None  # type: ignore[assignment]

PREFIX = "attngrade-worker-"
YOUNG_S = 60  # a folder is made before it is locked


class Scratch:
    """A folder with a lock on it. ``close`` removes both."""

    def __init__(self) -> None:
        sweep(tempfile.gettempdir())
        self.path = tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-")
        self._lock = locked(self.path)

    def close(self) -> None:
        """Remove the folder with everything in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def locked(folder: str | Path) -> int | None:
    """A descriptor that holds the lock of a folder; None where somebody else does, or it is no folder."""
    if fcntl is None:
        return None
    fd = None
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        if fd is not None:
            os.close(fd)
        return None
    return fd


@cache
def sweep(place: str) -> None:
    """Remove what graders left that were killed, once per process; root removes everybody's."""
    for left in Path(place).glob(f"{PREFIX}[0-9]*-*"):
        with contextlib.suppress(OSError):
            if time.time() - left.lstat().st_mtime > YOUNG_S and (lock := locked(left)) is not None:
                shutil.rmtree(left, ignore_errors=True)
                os.close(lock)
