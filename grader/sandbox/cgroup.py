"""Memory and processes of a worker by the kernel's own accounting: a group of its own (cgroup v2), where this process may make one.

A worker moves in after it has imported what it needs and before a submission arrives, so that the limit counts what the submission takes. Groups are
made beside this process's own (or below it where that is allowed), are killed as one, and are removed at the end; what a killed grader left is removed by the
next. Where none can be had (version 1, read-only, not delegated) nothing is lost but precision: the process tree is watched in any case.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from functools import cache
from pathlib import Path

PREFIX = "attngrade-"
CONTROLLERS = ("memory", "pids")
REMOVED_S = 1.0
YOUNG_S = 60


class Group:
    """One worker's group. ``close`` kills whoever is in it and removes it."""

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir()

    def limit(self, memory: int, tasks: int) -> None:
        """Set the limits. Raises OSError."""
        for name, value in (("memory.max", memory), ("memory.swap.max", 0), ("pids.max", tasks)):
            with contextlib.suppress(FileNotFoundError) if name == "memory.swap.max" else contextlib.nullcontext():  # a kernel without swap has no limit on it
                _write(self.folder / name, str(value))

    def adopt(self, pids: list[int]) -> None:
        """Move processes in. Raises OSError."""
        for pid in pids:
            _write(self.folder / "cgroup.procs", str(pid))

    def out_of_memory(self) -> bool:
        """Whether the kernel has ended a process here for its memory."""
        try:
            events = dict(line.split() for line in (self.folder / "memory.events").read_text().splitlines())
        except (OSError, ValueError):
            return False
        return int(events.get("oom_kill", 0)) > 0

    def close(self) -> None:
        """End everything in the group, and the group."""
        with contextlib.suppress(OSError):
            _write(self.folder / "cgroup.kill", "1")
        limit = time.monotonic() + REMOVED_S
        while not _removed(self.folder) and time.monotonic() < limit:
            time.sleep(0.002)


def enclose(pids: list[int], memory: int, tasks: int) -> Group | None:
    """A group with these processes in it, or None where the kernel doesn't let us."""
    parent = home()
    if parent is None or not pids:
        return None
    group = None
    try:
        group = Group(parent / f"{PREFIX}{os.getpid()}-{secrets.token_hex(4)}")
        group.limit(memory, tasks)
        group.adopt(pids)
    except OSError:
        if group is not None:
            _removed(group.folder)
        return None
    return group


@cache
def home() -> Path | None:
    """The group below which this process may make others that have our controllers; found by trying, once."""
    for place in candidates(Path("/proc/self")):
        trial = place / f"{PREFIX}{os.getpid()}-trial-{secrets.token_hex(4)}"
        try:
            trial.mkdir()
        except OSError:
            continue
        usable = all((trial / name).exists() for name in ("memory.max", "pids.max", "cgroup.procs")) and os.access(trial / "memory.max", os.W_OK)
        trial.rmdir()
        if usable:
            sweep(place)
            return place
    return None


def candidates(process: Path) -> list[Path]:
    """This process's own group, where its children have our controllers, and the one above it."""
    try:
        mounts = [line.split() for line in (process / "mounts").read_text().splitlines()]
        path = next(line.partition("::")[2] for line in (process / "cgroup").read_text().splitlines() if line.startswith("0::"))
        root = next(Path(mount[1]) for mount in mounts if mount[2] == "cgroup2")
    except (OSError, StopIteration, IndexError):
        return []
    own = root / path.lstrip("/")
    return [place for place in (own, own.parent) if (place == root or root in place.parents) and _hands_on(place)]


def _hands_on(place: Path) -> bool:
    try:
        return set(CONTROLLERS) <= set((place / "cgroup.subtree_control").read_text().split())
    except OSError:
        return False


def sweep(place: Path) -> None:
    """Remove empty groups of graders that were killed; one with a process in it can't be removed."""
    for left in place.glob(f"{PREFIX}[0-9]*-*"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_ctime > YOUNG_S:
                left.rmdir()


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _write(path: Path, text: str) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
