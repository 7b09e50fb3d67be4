"""A worker's process tree as the kernel shows it: memory, number of processes and threads, and its end. Linux reads /proc; elsewhere the group is all."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import time

PROCESS_CAP = 64
THREAD_CAP = 512
LET_GO = 4 << 20  # bytes that may be freed within a call without a question
FOLDERS = ("tmp", "dev/shm")  # where a jail lets a submission write: file systems of its own, which lie in memory
FACTS = re.compile(rb"^(VmRSS|Threads):\s*(\d+)( kB)?", re.M)
HIGH = re.compile(rb"^VmHWM:\s*(\d+) kB", re.M)  # at the start of a line: a process names itself as it likes, on one line
PROC = sys.platform == "linux"


class Tree:
    """The processes that descend from ``pid`` (bwrap, or the worker itself)."""

    def __init__(self, pid: int):
        self.pid = pid
        self._worker: int | None = None
        self._looked = 0.0
        self._closed = False  # whether files are closed to the worker
        self._marked, self._lowest = 0, 0  # its resident bytes when they were last marked, and the fewest that were seen since
        self._watched: tuple[int, int] | None = None  # descriptors of the worker's memory: its high-water mark, and what sets that back

    def members(self) -> list[int]:
        """The tree's process ids, root first."""
        found: list[int] = []
        queue = [self.pid]
        while queue and len(found) <= 4 * PROCESS_CAP:
            pid = queue.pop(0)
            found.append(pid)
            queue += _children(pid)
        return found

    def over(self, memory: int) -> str | None:
        """A sentence if the tree is over a limit. Looks at most twenty times a second."""
        now = time.monotonic()
        if not PROC or now - self._looked < 0.04:
            return None
        self._looked = now
        members = self.members()
        if len(members) > PROCESS_CAP:
            return f"The submission started more than {PROCESS_CAP} processes."
        facts = [_facts(pid) for pid in members]
        self._lowest = min(self._lowest, dict(zip(members, facts, strict=True)).get(self._leaf(), {}).get("VmRSS", self._lowest))
        if sum(fact.get("VmRSS", 0) for fact in facts) > memory:
            return f"The submission used more than {memory >> 20} MiB of memory."
        if sum(fact.get("Threads", 0) for fact in facts) > THREAD_CAP:
            return f"The submission started more than {THREAD_CAP} threads."
        return None

    def mark(self) -> int:
        """Resident bytes of the worker's own process now, its high-water mark set back to that where the kernel allows it."""
        with contextlib.suppress(OSError):
            os.write(self._memory()[1], b"5")
        self._marked = self._lowest = self._high()
        return self._marked

    def peak(self) -> int:
        """The resident high-water mark of the worker's own process, in bytes; 0 where the kernel doesn't tell.

        Once files are closed to it: with what it holds in them, and what it let go of since the mark, which made room that no high-water mark shows.
        """
        return self._high() + (self._files() + max(0, self._marked - self._lowest - LET_GO) if self._closed else 0)

    def close_files(self) -> None:
        """From now on the worker writes nothing into files, where it could hold what its memory doesn't show, and what lies there counts."""
        if PROC and not self._closed:
            import resource

            with contextlib.suppress(OSError):
                resource.prlimit(self._leaf(), resource.RLIMIT_FSIZE, (0, 0))
            self._closed = True

    def _high(self) -> int:
        try:
            told = HIGH.search(os.pread(self._memory()[0], 4096, 0))
        except OSError:
            return 0
        return int(told[1]) << 10 if told else 0

    def _files(self) -> int:
        """Bytes in the folders that are the worker's alone."""
        held = 0
        for folder in FOLDERS:
            with contextlib.suppress(OSError):
                inside = f"/proc/{self._leaf()}/root/{folder}"
                if os.stat(inside).st_dev != os.stat(f"/{folder}").st_dev:
                    facts = os.statvfs(inside)
                    held += (facts.f_blocks - facts.f_bfree) * facts.f_frsize
        return held

    def _memory(self) -> tuple[int, int]:
        """Opened once: a check asks before and after every call."""
        if self._watched is None:
            self._watched = _opened(f"/proc/{self._leaf()}/status", os.O_RDONLY), _opened(f"/proc/{self._leaf()}/clear_refs", os.O_WRONLY)
        return self._watched

    def cpu(self) -> float:
        """Processor seconds of the worker's own process; 0 where the kernel doesn't tell."""
        try:
            with open(f"/proc/{self._leaf()}/stat", "rb") as file:
                user, system = file.read().rpartition(b")")[2].split()[11:13]
        except OSError:
            return 0.0
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def settle(self) -> list[int]:
        """Note which process is the worker: the end of the chain that bwrap starts, before a submission could lengthen it. Gives the chain."""
        members = self.members() if PROC else []
        for pid in members:  # should the whole machine run out of memory, the kernel takes these first
            with contextlib.suppress(OSError), open(f"/proc/{pid}/oom_score_adj", "w", encoding="ascii") as file:
                file.write("1000")
        self._worker = members[-1] if members else None
        return members

    def _leaf(self) -> int:
        return self._worker or self.pid

    def kill(self) -> None:
        """End every process of the tree and wait until the kernel has let go of each."""
        if self.pid <= 1:  # no process of ours: to kill(2) these mean a group, or everything
            return
        members = self.members() if PROC else [self.pid]
        handles = [handle for pid in members if (handle := _open(pid)) is not None]
        for pid in (*members[1:], self.pid):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        _await(handles)

    def forget(self) -> None:
        """Close what was opened to look at the worker."""
        for descriptor in self._watched or ():
            if descriptor >= 0:
                os.close(descriptor)
        self._watched = None


def _opened(path: str, how: int) -> int:
    """A descriptor, or -1, which no call takes."""
    try:
        return os.open(path, how | os.O_CLOEXEC)
    except OSError:
        return -1


def _children(pid: int) -> list[int]:
    try:
        listed: list[int] = []
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                listed += [int(word) for word in file.read().split()]
        return listed
    except OSError:
        return []


def _facts(pid: int) -> dict[str, int]:
    """VmRSS in bytes, Threads as a count."""
    try:
        with open(f"/proc/{pid}/status", "rb", buffering=0) as file:
            told = FACTS.findall(file.read())
    except OSError:
        return {}
    return {name.decode(): int(number) << (10 if unit else 0) for name, number, unit in told}


def _open(pid: int) -> int | None:
    """A pidfd, which can't be taken for another process later."""
    try:
        return os.pidfd_open(pid)
    except (OSError, AttributeError):
        return None


def _await(handles: list[int], seconds: float = 5.0) -> None:
    import select

    limit = time.monotonic() + seconds
    for handle in handles:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        poll.poll(max(0.0, limit - time.monotonic()) * 1000)
        os.close(handle)
