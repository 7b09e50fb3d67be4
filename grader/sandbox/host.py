"""The trusted end of the pipe: one worker, its deadline, its memory, and everything it says taken as hostile."""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any, NoReturn

from . import cgroup, jail, processes, scrub, wire
from .errors import JailLost, NoGradient, Raised, StartFailed, WorkerDied, WorkerError, WorkerGarbage, WorkerMemory, WorkerTimeout

TICK_S = 0.05
PRINTED_CAP = 64 << 10
START_S = 60.0


class Worker:
    """A started worker. Use as a context manager; ``close`` leaves no process behind."""

    def __init__(self, plan: jail.Plan, isolation: str = "auto", early: jail.Start | None = None):
        self.plan = plan
        self._asked = isolation
        self.note = ""
        self._refusal = ""
        self.deadline = float("inf")
        self.printed = bytearray()
        self.printed_in_all = 0
        self.bare_bytes = 0  # resident before anything of the submission's was there
        self.death: Exception | None = None
        self._begin(early or jail.start_for(plan, isolation))

    def _begin(self, start: jail.Start) -> None:
        self._start = start
        self.isolation = start.isolation
        self._poll = select.poll()
        self._poll.register(self._start.receive, select.POLLIN)
        self._poll.register(self._start.printed, select.POLLIN)
        self._open = {self._start.receive, self._start.printed}
        self._inbox = bytearray()
        self._tree = processes.Tree(self._start.process.pid)
        self._ready = False
        self._group: cgroup.Group | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------ talking

    def wait_ready(self) -> None:
        """Block until the worker has imported what it needs. Where bwrap is refused, ``auto`` falls back to a plain process and notes it.

        Raises StartFailed: a worker that does not start is the grader's fault.
        """
        if self._ready:
            return None
        try:
            hello = self._receive(0, time.monotonic() + START_S)
        except WorkerError as error:
            self.close()
            if self._asked != "auto" or self.isolation != "bubblewrap":
                raise StartFailed(f"{error} Run `attngrade doctor`.") from None
            self._refusal = f"bubblewrap is refused here ({scrub.one_line(str(error), 200)})"
            self.printed, self.printed_in_all, self.death = bytearray(), 0, None
            self._begin(jail.start_for(self.plan, "process"))
            return self.wait_ready()
        self._ready = True
        members = self._tree.settle()
        self.bare_bytes = self._tree.mark()
        self._group = cgroup.enclose(members, self.plan.memory_mib << 20, processes.PROCESS_CAP + processes.THREAD_CAP) if self.isolation != "trusted" else None
        if self.isolation == "process":
            self.note = jail.describe(hello.get("walls"), self._refusal, self._group is not None)
        return None

    def ask(self, message: dict[str, Any], aside: Callable[[Any], dict[str, Any]] | None = None) -> dict[str, Any]:
        """Send one message, wait for its reply; ``aside`` answers what the worker asks meanwhile (launches of kernels: sibling.py).

        Raises the errors of ``errors.py``; after any but Raised the worker is dead.
        """
        if self.death is not None:
            raise self.death
        self.wait_ready()
        question = secrets.randbits(62) + 1  # nobody can answer it beforehand
        try:
            self._silence()
            self._send(wire.pack({**message, "id": question}))
            reply = self._receive(question, self.deadline)
            while aside is not None and "launch" in reply:
                self._send(wire.pack({**aside(reply["launch"]), "id": question}))
                reply = self._receive(question, self.deadline)
        except (WorkerDied, WorkerTimeout, WorkerMemory, WorkerGarbage, JailLost) as error:
            self.death = error
            self.close()
            raise
        return reply

    def _silence(self) -> None:
        """Nothing may lie in the pipe before a question is asked."""
        piece = self._read(self._start.receive)
        if piece or self._inbox:
            raise WorkerGarbage("The submission's process wrote into the grader's channel without being asked.")
        if piece == b"":
            raise self._died()

    def _send(self, pieces: list[bytes | memoryview]) -> None:
        fd = self._start.send
        poll = select.poll()
        poll.register(fd, select.POLLOUT)
        left = wire.Left(pieces)
        while left:
            self._tick(self.deadline)
            if not poll.poll(TICK_S * 1000):
                self._drain()
                continue
            try:
                left.write(fd)
            except BlockingIOError:
                continue
            except OSError:
                raise self._died() from None

    def _receive(self, expected: int, deadline: float) -> dict[str, Any]:
        prefix = self._take(wire.PREFIX.size, deadline)
        try:
            header_size, payload_size = wire.lengths(prefix)
            header = self._take(header_size, deadline)
            reply = wire.unpack(header, self._take(payload_size, deadline))
        except wire.WireError as error:
            raise WorkerGarbage(f"The submission's process wrote something into the grader's channel that is not a reply ({error}).") from None
        if type(reply.get("id")) is not int or reply["id"] != expected:
            raise WorkerGarbage("The submission's process answered a question that nobody asked.")
        return {key: value if key == "launch" else scrub.clean(value) for key, value in reply.items()}

    def _take(self, size: int, deadline: float) -> bytes:
        while len(self._inbox) < size:
            self._tick(deadline)
            ready = [fd for fd, _ in self._poll.poll(TICK_S * 1000)]
            if self._start.printed in ready:
                self._read_printed()
            gone = self._start.process.poll() is not None
            piece = self._read(self._start.receive) if gone or self._start.receive in ready else None
            if piece == b"" or (gone and piece is None):  # an orphan may hold the pipe open: the worker is gone all the same
                raise self._died()
            self._inbox += piece or b""
        taken = bytes(self._inbox[:size])
        del self._inbox[:size]
        return taken

    @staticmethod
    def _read(fd: int) -> bytes | None:
        try:
            return os.read(fd, 1 << 20)
        except BlockingIOError:
            return None

    def _read_printed(self) -> bool:
        piece = self._read(self._start.printed)
        if piece == b"":
            with contextlib.suppress(KeyError):
                self._poll.unregister(self._start.printed)
            return False
        if piece:
            self.printed_in_all += len(piece)
            self.printed += piece[: PRINTED_CAP - len(self.printed)]
        return bool(piece)

    def _drain(self) -> None:
        for _ in range(64):
            if not self._read_printed():
                return

    def _tick(self, deadline: float) -> None:
        if time.monotonic() > deadline:
            raise WorkerTimeout("The time limit ran out before the submission answered.")
        over = self._tree.over(self.plan.memory_mib << 20)
        if over:
            raise WorkerMemory(over)

    def _died(self) -> Exception:
        self._drain()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._start.process.wait(timeout=1.0)
        code = self._start.process.returncode
        if self._ready is False:
            said = self.printed.decode("utf-8", "replace").strip().splitlines()
            return WorkerDied(f"The worker did not start: {said[-1] if said else 'it said nothing'}.")
        if self._group is not None and self._group.out_of_memory():
            return WorkerMemory(f"The submission used more than {self.plan.memory_mib} MiB of memory.")
        if self._start.fallen():
            return JailLost("The jail was ended from outside while a result was owed; free memory, and let nothing kill `bwrap`.")
        if code is not None and code < 0:
            return WorkerDied(f"The submission's process was ended by signal {named(-code)} while a result was owed.")
        if code is not None and code > 128 and code - 128 in signal.valid_signals():
            return WorkerDied(f"The submission's process was ended by signal {named(code - 128)} while a result was owed.")
        return WorkerDied("The submission ended its process while a result was owed; leaving early earns nothing.")

    # ------------------------------------------------------------ looking from outside

    def alive(self) -> bool:
        """Whether the process is still there to be asked."""
        return self.death is None and self._start.process.poll() is None

    def mark_memory(self) -> int:
        """Set the worker's high-water mark back (where the kernel allows it) and return it, in bytes."""
        return self._tree.mark()

    def peak_bytes(self) -> int:
        """The resident high-water mark of the worker's own process, from the kernel."""
        return self._tree.peak()

    def close_files(self) -> None:
        """Let the worker write into no file any more, and count those that it has: what is in them is in no resident memory."""
        self._tree.close_files()

    def cpu_seconds(self) -> float:
        """Processor time of the worker's own process so far, from the kernel; 0 where it doesn't tell."""
        return self._tree.cpu()

    def process_ids(self) -> list[int]:
        """The processes of the worker's tree."""
        return self._tree.members()

    # ------------------------------------------------------------ the end

    def give_up(self, error: WorkerError) -> NoReturn:
        """End a worker that lives and can be used no more; raises the error that says why."""
        self.death = error
        self.close()
        raise error

    def kill(self) -> None:
        """Kill the whole tree, whoever is waiting for it: ``close`` does the rest."""
        if self._start.process.poll() is None:
            self._tree.kill()

    def close(self) -> None:
        """Kill the whole tree, wait until it is gone, keep the last of what was printed."""
        if self._start.process.returncode is None or self._open:
            if not (self._start.whole and self._start.process.poll() is not None):  # its number may be somebody else's by now
                self._tree.kill()
            self._start.process.wait()
            self._drain()
        self._tree.forget()
        if self._group is not None:
            self._group.close()
            self._group = None
        for fd in (*self._open, self._start.send):
            with contextlib.suppress(OSError):
                os.close(fd)
        self._open = set()
        self._start.send = -1
        if self._start.scratch:
            self._start.scratch.close()
        if self.death is None:
            self.death = WorkerDied("The worker was closed.")


def named(number: int) -> str:
    """A signal's name, or its number: those in between, for real time, have none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def raise_if_raised(reply: dict[str, Any], function: str) -> None:
    """Turn the ``raised`` part of a reply into Raised (or what it stands for)."""
    said = reply.get("raised")
    if said is None:
        return
    if not isinstance(said, dict):
        raise WorkerGarbage("The submission's process sent a reply of no known form.")
    raised = Raised(said, function)
    if "MemoryError" in raised.bases or ("alloc" in raised.said and "memory" in raised.said):
        raise WorkerMemory(f"{function or 'The file'} asked for more memory than the limit allows ({raised.said[:200] or 'MemoryError'}).")
    raise NoGradient(said, function) if raised.type == "NoGradient" else raised
