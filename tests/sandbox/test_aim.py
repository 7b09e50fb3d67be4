"""Signals go to a worker's own processes and to nothing else, whatever the kernel says of a worker that is gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest
from attngrade.sandbox import jail, nursery, processes
from attngrade.sandbox.host import Worker

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="pidfds are Linux's")


@pytest.fixture
def shots(monkeypatch):
    """What would have been signalled."""
    fired: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: fired.append((pid, number)))
    monkeypatch.setattr(os, "killpg", lambda group, number: fired.append((group, number)))
    return fired


@pytest.mark.parametrize("pid", [-1, 0, 1])
def test_no_number_that_means_everything_is_ever_signalled(shots, pid):
    processes.Tree(pid).kill()

    assert shots == []


def test_a_worker_that_has_been_waited_for_already_is_none():
    child = subprocess.Popen([sys.executable, "-c", ""])
    handle = os.pidfd_open(child.pid)
    child.wait()

    with pytest.raises(nursery.NestError):
        nursery.Hatched(handle)
    with pytest.raises(OSError):
        os.fstat(handle)


def test_a_living_one_is_known_by_its_own_number():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert nursery.Hatched(os.pidfd_open(child.pid)).pid == child.pid
    finally:
        child.send_signal(signal.SIGKILL)
        child.communicate()


def test_a_hatching_that_is_broken_off_ends_the_nest_so_that_its_answer_reaches_nobody(monkeypatch):
    nest = object.__new__(nursery.Nursery)
    ended = []
    nest._lock = threading.Lock()
    nest._process = type("Process", (), {"kill": lambda self: ended.append("killed")})()
    monkeypatch.setattr(nest, "_wait_ready", lambda: None, raising=False)

    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(nest, "_hatch", interrupted, raising=False)
    with pytest.raises(KeyboardInterrupt):
        nest.start()

    assert ended == ["killed"]


@pytest.mark.skipif(not jail.bubblewrap(), reason="needs bubblewrap")
def test_after_a_hatching_that_was_broken_off_nobody_gets_the_handle_of_another_worker(monkeypatch):
    nest = nursery.Nursery(jail.Plan(("numpy",), "numpy", "cpu", 1024))
    try:
        with Worker(nest.plan, "bubblewrap", nest.start()) as worker:
            worker.wait_ready()

        def interrupted():
            raise KeyboardInterrupt

        monkeypatch.setattr(nest, "_receive", interrupted)  # the request is out, its answer is not in
        with pytest.raises(KeyboardInterrupt):
            nest.start()
        monkeypatch.undo()
        with pytest.raises(nursery.NestError):
            nest.start()
    finally:
        nest.close()


def test_the_number_of_a_hatched_worker_that_has_ended_is_signalled_to_nobody(shots):
    start = jail.Start(SimpleNamespace(pid=4242, returncode=0, poll=lambda: 0, wait=lambda: 0), -1, -1, -1, "bubblewrap", whole=True)
    worker = object.__new__(Worker)
    worker._start, worker._open, worker._group, worker._tree, worker.death, worker.printed = start, {-1}, None, processes.Tree(4242), None, b""
    worker._drain = lambda: None

    worker.close()

    assert shots == []


def test_looking_at_a_worker_leaves_no_descriptor_open():
    tree = processes.Tree(os.getpid())
    before = len(os.listdir("/proc/self/fd"))

    tree.mark()
    tree.forget()

    assert len(os.listdir("/proc/self/fd")) == before
