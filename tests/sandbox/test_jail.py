"""The jail from inside and from outside: what a worker sees, what it may do, what is left when somebody pulls the plug."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from attngrade.sandbox import jail, scratch
from attngrade.sandbox.confine import landlock_version
from attngrade.sandbox.errors import WorkerError
from attngrade.sandbox.host import Worker

ISOLATIONS = ["bubblewrap", "process"]
PLAN = jail.Plan(memory_mib=1024, hidden=("yaml", "click"))
SLEEPER = "import time\n\n\ndef softmax(z, axis=-1):\n    time.sleep(120)\n"


def start(isolation: str) -> Worker:
    if isolation == "bubblewrap" and not jail.bubblewrap():
        pytest.skip("bubblewrap is not installed here")
    if isolation == "process" and landlock_version() < 1:
        pytest.skip("this kernel has no Landlock")
    return Worker(PLAN, isolation)


@pytest.fixture(scope="module", params=ISOLATIONS)
def inside(request: pytest.FixtureRequest) -> Iterator[Worker]:
    """A worker that evaluates expressions for the tests."""
    with start(request.param) as worker:
        source = "import ctypes, os, resource, socket, subprocess, sys, threading\nlibc = ctypes.CDLL(None, use_errno=True)\n\n\ndef run(text):\n    return eval(text)\n"
        worker.ask({"op": "load", "module": "probe", "source": source, "modules": [], "names": [], "paths": []})
        yield worker


def said(worker: Worker, text: str) -> object:
    """The value of an expression in the worker, or the name of what it raised."""
    reply = worker.ask({"op": "call", "name": "run", "args": (text,), "kwargs": {}})
    return reply["raised"]["type"] if "raised" in reply else reply["value"]


REFUSED = {
    "fork": "os.fork()",
    "system": "0 if os.system('true') else 1/0",
    "run": "subprocess.run(['true'])",
    "tcp": "socket.socket()",
    "unix": "socket.socket(socket.AF_UNIX)",
    "kill": "os.kill(1, 0)",
    "kill all": "os.kill(-1, 0)",
    "kill parent": "os.kill(os.getppid(), 0)",
    "chmod": "os.chmod('/tmp', 0o777)",
    "root": "open('/x', 'w')",
    "usr": "open('/usr/x', 'w')",
    "etc": "open('/etc/x', 'w')",
    "clear_refs": "open('/proc/self/clear_refs', 'w')",
    "memfd": "os.memfd_create('x')",
    "raise limit": "resource.setrlimit(resource.RLIMIT_NOFILE, (10**6, 10**6))",
    "yaml": "__import__('yaml').safe_load",
    "click": "__import__('click').command",
    "grader": f"open({str(Path(jail.__file__))!r})",
    "home": f"os.listdir({os.path.expanduser('~/.ssh')!r})",
    "passwd": "open('/etc/shadow')",
    "disk": "open('/dev/vda', 'rb')",
    "pidfd": "os.pidfd_open(1)",
}


@pytest.mark.parametrize("what", REFUSED)
def test_is_refused_inside(what: str, inside: Worker) -> None:
    answer = said(inside, REFUSED[what])

    assert answer in ("PermissionError", "OSError", "FileNotFoundError", "ValueError", "ModuleNotFoundError", "AttributeError") or (
        what == "system" and answer == 0
    ), answer


ALLOWED = {
    "thread": "[t.start() or t.join() or 'ok' for t in [threading.Thread(target=int)]][0]",
    "null": "open(os.devnull).read() or 'ok'",
    "library": "__import__('decimal') and 'ok'",
    "random": "len(os.urandom(4)) == 4 and 'ok'",
    "pair": "socket.socketpair() and 'ok'",
    "processors": "os.cpu_count() and 'ok'",
    "dynamic library": "ctypes.CDLL('libm.so.6') and 'ok'",
    "numpy": "__import__('numpy.fft') and 'ok'",
}


@pytest.mark.parametrize("what", ALLOWED)
def test_is_allowed_inside(what: str, inside: Worker) -> None:
    assert said(inside, ALLOWED[what]) == "ok"


def test_only_a_folder_with_a_size_can_be_written_to(inside: Worker) -> None:
    answer = said(inside, "open(os.path.join(os.environ['HOME'], 'x'), 'w').write('ok') and 'ok'")

    assert answer == ("ok" if inside.isolation == "bubblewrap" else "OSError")


FACTS = {"NoNewPrivs": "1", "Seccomp": "2", "CapEff": "0000000000000000", "CapPrm": "0000000000000000", "CapBnd": "0000000000000000"}


@pytest.mark.parametrize("fact", FACTS)
def test_the_kernel_says_so_too(fact: str, inside: Worker) -> None:
    line = said(inside, f"[l for l in open('/proc/self/status') if l.startswith('{fact}:')][0].split()[1]")

    assert line == FACTS[fact]


def test_only_the_channel_and_the_standard_streams_are_open(inside: Worker) -> None:
    kinds = said(
        inside, "sorted(os.readlink('/proc/self/fd/' + fd).partition(':')[0] for fd in os.listdir('/proc/self/fd') if os.path.lexists('/proc/self/fd/' + fd))"
    )

    assert kinds == ["/dev/null", *["pipe"] * 4]


def test_the_environment_is_made_for_the_worker(inside: Worker) -> None:
    names = set(said(inside, "sorted(os.environ)"))  # type: ignore[arg-type]

    assert names <= {
        *jail.PASSED_ON,
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "TORCH_COMPILE_DISABLE",
        "MKL_NUM_THREADS",
        "TRITON_CACHE_DIR",
        "TRITON_INTERPRET",
        "PATH",
        "HOME",
        "TMPDIR",
        "LANG",
        "PWD",
    }


def test_nothing_of_the_project_is_there(inside: Worker) -> None:
    project = Path(jail.own_folders()[0])

    for path in (project / "pyproject.toml", Path(jail.__file__), project / "solutions", project / ".git"):
        assert said(inside, f"open({str(path)!r}) if not os.path.isdir({str(path)!r}) else os.listdir({str(path)!r})") in (
            "PermissionError",
            "FileNotFoundError",
        )


def test_the_note_names_what_is_not_covered() -> None:
    with start("process") as worker:
        worker.wait_ready()

    assert "Landlock" in worker.note and "can be seen" in worker.note and "doctor" in worker.note


def test_the_note_of_a_process_without_landlock_says_what_lies_open() -> None:
    note = jail.describe({"landlock": 0, "filter": True}, "bubblewrap is refused here (no)")

    assert "bubblewrap is refused" in note and "every file that you can read can be read" in note


def test_a_refused_bubblewrap_falls_back_under_auto_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    refusing = tmp_path / "bwrap"
    refusing.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n", encoding="ascii")
    refusing.chmod(0o755)
    monkeypatch.setattr(jail, "bubblewrap", lambda: str(refusing))

    with Worker(PLAN, "auto") as worker:
        worker.wait_ready()
        assert worker.isolation == "process" and "uid map" in worker.note
    with pytest.raises(Exception, match="uid map"), Worker(PLAN, "bubblewrap") as worker:
        worker.wait_ready()


# ---------------------------------------------------------------- layout


def test_a_project_inside_a_shown_folder_is_covered_and_its_interpreter_shown_again() -> None:
    order = jail.layout(["/usr", "/usr/src/app/.venv"], ["/usr/src/app", "/usr/src/app/.venv/lib/attngrade"])

    assert order == [("/usr", True), ("/usr/src/app", False), ("/usr/src/app/.venv", True), ("/usr/src/app/.venv/lib/attngrade", False)]


def test_what_lies_outside_of_everything_shown_needs_no_cover() -> None:
    assert jail.layout(["/usr", "/usr/lib/python3"], ["/home/me", "/usrlocal"]) == [("/usr", True)]


# ---------------------------------------------------------------- pulling the plug


def alive(marker: str) -> list[int]:
    """Processes with a marker among their arguments or in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if int(pid) != os.getpid() and marker.encode() in Path(f"/proc/{pid}/cmdline").read_bytes() + Path(f"/proc/{pid}/environ").read_bytes():
                found.append(int(pid))
        except OSError:
            continue
    return found


def below(pid: int) -> list[int]:
    """A process's descendants."""
    try:
        own = [int(child) for task in os.listdir(f"/proc/{pid}/task") for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split()]
    except OSError:
        return []
    return own + [inner for child in own for inner in below(child)]


def ended(pids: list[int], seconds: float = 5.0) -> bool:
    """Whether all of these are gone in time (a zombie that waits for its parent is gone)."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if not any(
            os.path.exists(f"/proc/{pid}") and "State:\tZ" not in Path(f"/proc/{pid}/status").read_text() for pid in pids if os.path.exists(f"/proc/{pid}")
        ):
            return True
        time.sleep(0.05)
    return False


@pytest.fixture(params=ISOLATIONS)
def checking(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A running ``attngrade check`` of a submission that sleeps, and everything below it."""
    if request.param == "bubblewrap" and not jail.bubblewrap():
        pytest.skip("bubblewrap is not installed here")
    (tmp_path / "sleeper.py").write_text(SLEEPER, encoding="utf-8")
    command = [sys.executable, "-m", "attngrade", "check", "2", "--file", str(tmp_path / "sleeper.py"), "--format", "json", "--isolation", request.param]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/", env={**os.environ, "TMPDIR": str(tmp_path)})
    limit = time.monotonic() + 20
    while time.monotonic() < limit and not any("S (sleeping)" in _status(pid) and _has_numpy(pid) for pid in below(process.pid)):
        time.sleep(0.05)
    time.sleep(0.5)
    yield process, below(process.pid)
    if process.poll() is None:
        process.kill()
    process.communicate()


def _status(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return ""


def _has_numpy(pid: int) -> bool:
    try:
        return "numpy" in Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return False


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_grader_that_is_killed_leaves_nobody(blow: signal.Signals, checking: tuple[subprocess.Popen[str], list[int]], tmp_path: Path) -> None:
    process, family = checking
    assert family

    process.send_signal(blow)

    assert ended([process.pid, *family], 10)
    assert blow == signal.SIGKILL or not list(tmp_path.glob(scratch.PREFIX + "*"))


def test_two_interrupts_leave_nobody(checking: tuple[subprocess.Popen[str], list[int]]) -> None:
    process, family = checking

    process.send_signal(signal.SIGINT)
    time.sleep(0.02)
    process.send_signal(signal.SIGINT)

    assert ended([process.pid, *family], 10)


@pytest.mark.parametrize("which", [0, -1])
def test_a_worker_or_jail_that_is_killed_is_told_and_leaves_nobody(which: int, checking: tuple[subprocess.Popen[str], list[int]]) -> None:
    process, family = checking

    os.kill(family[which], signal.SIGKILL)
    out, _ = process.communicate(timeout=60) if _kill_the_rest(process) else ("", "")

    assert '"verdict": "failed"' in out and '"reason": "' in out
    assert ended(family)


def _kill_the_rest(process: subprocess.Popen[str]) -> bool:
    """Kill the replacements of the dead worker as well, until the grader gives up."""
    limit = time.monotonic() + 40
    while process.poll() is None and time.monotonic() < limit:
        time.sleep(0.3)
        for pid in below(process.pid):
            if _has_numpy(pid) and "S (sleeping)" in _status(pid):
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
    return True


def test_what_a_killed_grader_left_is_swept_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = left, held, elsewhere = [tmp_path / f"{scratch.PREFIX}{os.getpid()}-{name}" for name in ("dead", "alive", "link")]
    for folder in (left, held, tmp_path / "other"):
        folder.mkdir()
        os.utime(folder, (1, 1))
    elsewhere.symlink_to(tmp_path / "other")
    if os.getuid() == 0:
        os.chown(left, 65534, 65534)
    lock = scratch.locked(held)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    with start("process") as worker:
        worker.wait_ready()
        assert [folder.exists() for folder in folders] == [False, True, True] and (tmp_path / "other").exists()
    assert lock is not None
    os.close(lock)
    assert sorted(tmp_path.iterdir()) == sorted([held, elsewhere, tmp_path / "other"])


def test_a_full_disk_is_a_sentence_and_the_graders_fault(tmp_path: Path) -> None:
    (tmp_path / "any.py").write_text(SLEEPER, encoding="utf-8")
    script = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); from attngrade.cli import main; main(sys.argv[1:])"

    done = subprocess.run(
        [sys.executable, "-c", script, "check", "2", "--file", str(tmp_path / "any.py"), "--format", "json"], capture_output=True, text=True, cwd="/"
    )

    assert done.returncode == 3
    assert "No worker can be started here" in done.stderr and "Traceback" not in done.stderr


def test_a_worker_outlives_no_close(inside: Worker) -> None:
    worker = start(inside.isolation)
    worker.wait_ready()
    family = [worker._start.process.pid, *below(worker._start.process.pid)]

    worker.close()

    assert ended(family, 1)


def test_the_worker_is_gone_though_the_host_forgets_to_close() -> None:
    worker = start("bubblewrap")
    worker.wait_ready()
    with pytest.raises(WorkerError):
        worker.deadline = time.monotonic()
        worker.ask({"op": "load", "module": "m", "source": SLEEPER, "modules": [], "names": [], "paths": []})

    assert worker._start.process.poll() is not None
