"""The host's side of a nest: one jailed process per kind of worker that imports once; every ``start`` hatches a fresh jailed worker in milliseconds."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading

from . import jail
from .host import Worker


class NestError(Exception):
    """No nest can be had here (nested namespaces are refused, or bubblewrap is): start workers one by one instead."""


class Hatched:
    """A process known by its pidfd, with the parts of Popen that a Worker uses."""

    def __init__(self, handle: int):
        self._handle = handle
        self.pid = _pid_of(handle)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code once the process has ended (its own is not told to strangers: 0 stands for any)."""
        if self.returncode is None and _readable(self._handle, 0):
            self._end()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end. Raises TimeoutExpired."""
        if self.returncode is None:
            if not _readable(self._handle, timeout):
                raise subprocess.TimeoutExpired("worker", timeout or 0)
            self._end()
        return self.returncode or 0

    def kill(self) -> None:
        """Kill process 1 of the worker's pid namespace, and with it everything in there."""
        if self.returncode is None:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def _end(self) -> None:
        self.returncode = 0
        os.close(self._handle)


class Nursery:
    """A nest for workers of one plan. Thread-safe; ``close`` ends the nest and what it hatched."""

    def __init__(self, plan: jail.Plan):
        if not jail.bubblewrap():
            raise NestError("bubblewrap is not installed")
        self.plan = plan
        self._lock = threading.Lock()
        self._control, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._printed, printed = os.pipe()
        try:
            self._process = _launch(plan, inner.fileno(), printed)
        finally:
            inner.close()
            os.close(printed)
        self.ready = False

    def start(self) -> jail.Start:
        """A fresh worker. Raises NestError."""
        with self._lock:
            try:
                self._wait_ready()
                return self._hatch()
            except NestError:
                raise
            except BaseException:  # broken off: an answer may be on its way that the next who asks would take for his own
                self._process.kill()
                raise

    def _wait_ready(self) -> None:
        if not self.ready:
            self._control.settimeout(60)
            if self._receive()[0] != b"ready":
                raise NestError(self._last_words())
            self.ready = True

    def fallen(self) -> bool:
        """Whether the nest has ended: with it ends whatever it hatched."""
        if self._process.poll() is not None:
            return True
        try:
            return _readable(self._control.fileno(), 0) and not self._control.recv(1, socket.MSG_PEEK)
        except OSError:
            return True

    def _receive(self) -> tuple[bytes, list[int]]:
        try:
            data, fds, _, _ = socket.recv_fds(self._control, 64, 1)
        except OSError as error:
            raise NestError(str(error)) from None
        return data, list(fds)

    def _hatch(self) -> jail.Start:
        inward, outward, printed = os.pipe(), os.pipe(), os.pipe()
        request = {**json.loads(jail._settings(self.plan, (0, 0), "/tmp")), "tmp_bytes": jail.TMP_BYTES}
        try:
            socket.send_fds(self._control, [json.dumps(request).encode()], [inward[0], outward[1], printed[1]])
        except OSError:
            raise NestError(self._last_words()) from None
        finally:
            for fd in (inward[0], outward[1], printed[1]):
                os.close(fd)
        self._control.settimeout(10)
        try:
            data, handles = self._receive()
        except NestError:
            data, handles = b"", []
        if data != b"hatched" or len(handles) != 1:
            said = os.read(printed[0], 4096).decode("utf-8", "replace")
            for fd in (inward[1], outward[0], printed[0]):
                os.close(fd)
            raise NestError(said.strip() or self._last_words())
        try:
            hatched = Hatched(handles[0])
        except NestError:
            for fd in (inward[1], outward[0], printed[0]):
                os.close(fd)
            raise
        for fd in (inward[1], outward[0], printed[0]):
            os.set_blocking(fd, False)
        return jail.Start(hatched, inward[1], outward[0], printed[0], "bubblewrap", fallen=self.fallen, whole=True)  # type: ignore[arg-type]

    def _last_words(self) -> str:
        with contextlib.suppress(OSError):
            if _readable(self._printed, 0.2):
                return os.read(self._printed, 4096).decode("utf-8", "replace").strip() or "the nest ended"
        return "the nest ended"

    def close(self) -> None:
        """End the nest; workers still alive die with it."""
        self._control.close()
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):
            os.close(self._printed)


def _launch(plan: jail.Plan, control: int, printed: int) -> subprocess.Popen[bytes]:
    names = ("nest.py", *jail.WORKER_FILES)
    settings = json.dumps({**json.loads(jail._settings(plan, (0, 0), "/tmp")), "control": control, "below_tmp": jail.below_tmp()})
    data = {**{f"/attngrade/{name}": (jail.HERE / name).read_bytes() for name in names}, "/attngrade/settings.json": settings.encode(),
            "/etc/passwd": jail.PASSWD}
    held = {target: jail._held(content) for target, content in data.items()}
    arguments = jail._mounts(plan, nest=True)
    for target, fd in held.items():
        arguments += ["--ro-bind-data", str(fd), target]
    arguments += ["--remount-ro", "/"]
    for name, value in jail._environment(plan, "/tmp").items():
        arguments += ["--setenv", name, value]
    listed = jail._held(b"".join(argument.encode() + b"\0" for argument in [*arguments, "--chdir", "/"]))
    command = [sys.executable, "-I", "-S", "-B", "/attngrade/nest.py", "/attngrade/settings.json"]
    try:
        return subprocess.Popen([str(jail.bubblewrap()), "--args", str(listed), *command], stdin=subprocess.DEVNULL, stdout=printed, stderr=printed, env={},
                                cwd="/", pass_fds=(control, *held.values(), listed), start_new_session=True)
    finally:
        for fd in (*held.values(), listed):
            os.close(fd)


def _pid_of(handle: int) -> int:
    """The process id behind a pidfd, as this process's /proc counts."""
    with open(f"/proc/self/fdinfo/{handle}", encoding="ascii") as file:
        pid = next(int(line.split()[1]) for line in file if line.startswith("Pid:"))
    if pid < 1:  # -1: it has ended and been waited for; kill(-1) would end whatever this user runs
        os.close(handle)
        raise NestError("a worker ended before it could be watched")
    return pid


def _readable(fd: int, timeout: float | None) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(None if timeout is None else timeout * 1000))


class Crew:
    """Warm workers for any plan: hatched from nests where those can be had, started one by one where not. A context manager."""

    def __init__(self, isolation: str = "auto"):
        self.isolation = isolation
        self._nests: dict[jail.Plan, Nursery | None] = {}
        self._troupes: dict[jail.Plan, Worker] = {}

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def worker(self, plan: jail.Plan) -> Worker:
        """A fresh worker that has loaded nothing yet."""
        if jail.resolve(self.isolation) == "bubblewrap" and plan.device == "cpu":
            for _ in range(2):  # a nest that worked and was killed has a successor; one that never worked has none
                nest = self._nest(plan)
                if nest is None:
                    break
                try:
                    return Worker(plan, "bubblewrap", nest.start())
                except NestError:
                    self._give_up(plan, nest)
        return Worker(plan, self.isolation)

    def _give_up(self, plan: jail.Plan, nest: Nursery) -> None:
        nest.close()
        if nest.ready:
            del self._nests[plan]
        else:
            self._nests[plan] = None

    def _nest(self, plan: jail.Plan) -> Nursery | None:
        if plan not in self._nests:
            try:
                self._nests[plan] = Nursery(plan)
            except (NestError, OSError):
                self._nests[plan] = None
        return self._nests[plan]

    def troupe(self, plan: jail.Plan) -> Worker:
        """The trusted worker that replays misconceptions of a plan's exercises; it is kept."""
        kept = self._troupes.get(plan)
        if kept is None or kept.death is not None:
            kept = self._troupes[plan] = Worker(plan, "trusted")
        return kept

    def close(self) -> None:
        """End every nest and troupe."""
        for nest in self._nests.values():
            if nest is not None:
                nest.close()
        for troupe in self._troupes.values():
            troupe.close()
        self._nests, self._troupes = {}, {}
