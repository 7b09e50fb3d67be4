"""Memory by the kernel's own accounting: found where it may be had, no trace where not, and the word of the kernel is a sentence."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from attngrade.sandbox import cgroup, jail
from attngrade.sandbox.errors import WorkerError, WorkerMemory
from attngrade.sandbox.host import Worker

PLAN = jail.Plan(memory_mib=512)
EATER = "import mmap\nheld = []\n\n\ndef eat():\n    while True:\n        held.append(mmap.mmap(-1, 64 << 20))\n        held[-1].write(bytes(64 << 20))\n"
LOAD = {"op": "load", "module": "m", "source": EATER, "modules": [], "names": [], "paths": []}
CALL = {"op": "call", "name": "eat", "args": (), "kwargs": {}}
HERE = {  # what a process is told of itself -> where it may try, of the groups that hand our controllers on
    "a session of systemd": ("0::/user.slice/user-0.slice/session-1.scope\n", "cgroup2 {root} cgroup2 rw 0 0\n", ["user.slice/user-0.slice"]),
    "a group with children": ("0::/user.slice\n", "cgroup2 {root} cgroup2 rw 0 0\n", ["user.slice", ""]),
    "a container": ("0::/\n", "proc /proc proc rw 0 0\ncgroup {root} cgroup2 rw 0 0\n", [""]),
    "version 1": ("4:memory:/x\n0::/\n", "cgroup {root} cgroup rw,memory 0 0\n", []),
    "no groups at all": ("", "", []),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A tree of groups, as far as files go."""
    root = tmp_path / "cgroup"
    (root / "user.slice/user-0.slice/session-1.scope").mkdir(parents=True)
    for place in ("", "user.slice", "user.slice/user-0.slice"):
        (root / place / "cgroup.subtree_control").write_text("cpu memory pids\n")
    (root / "user.slice/user-0.slice/session-1.scope/cgroup.subtree_control").write_text("\n")
    return root


@pytest.mark.parametrize("where", HERE)
def test_groups_are_made_where_our_controllers_are_handed_on(where: str, root: Path, tmp_path: Path) -> None:
    told, mounts, wanted = HERE[where]
    process = tmp_path / "self"
    process.mkdir()
    (process / "cgroup").write_text(told)
    (process / "mounts").write_text(mounts.format(root=root))

    assert cgroup.candidates(process) == [root / place if place else root for place in wanted]


def test_where_the_kernel_hands_nothing_out_nothing_is_left(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "home", lambda: root)  # a folder that can be made and holds no limits

    assert cgroup.enclose([os.getpid()], 1 << 30, 100) is None
    assert not list(root.glob("attngrade-*"))


def test_a_folder_that_cannot_be_written_is_no_home(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "candidates", lambda process: [root / "not-there", root])
    cgroup.home.cache_clear()

    assert cgroup.home() is None and not list(root.glob("attngrade-*"))
    cgroup.home.cache_clear()


def test_empty_groups_of_dead_graders_are_swept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "attngrade-1-left").mkdir()
    (root / "attngrade-1-full/inner").mkdir(parents=True)
    monkeypatch.setattr(cgroup, "YOUNG_S", -1)

    cgroup.sweep(root)

    assert [path.name for path in root.glob("attngrade-*")] == ["attngrade-1-full"]


class Told(cgroup.Group):
    """A group of which the kernel says that it ended somebody for memory."""

    def __init__(self) -> None:
        self.closed = False

    def out_of_memory(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True


def test_a_process_that_the_kernel_ended_for_memory_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    group = Told()
    monkeypatch.setattr(cgroup, "enclose", lambda *_: group)

    with Worker(PLAN, "auto") as worker, pytest.raises(WorkerMemory, match="512 MiB"):
        worker.ask({**LOAD, "source": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"})

    assert group.closed


@pytest.fixture
def enclosed() -> Iterator[Worker]:
    """A worker in a real group."""
    if cgroup.home() is None:
        pytest.skip("no group with a limit on memory can be made here: the process tree is watched")
    with Worker(PLAN, "auto") as worker:
        worker.wait_ready()
        yield worker


def test_the_kernel_holds_a_worker_to_its_memory_and_the_group_is_removed(enclosed: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    assert enclosed._group is not None
    folder = enclosed._group.folder
    monkeypatch.setattr(enclosed._tree, "over", lambda memory: None)  # the kernel alone
    enclosed.ask(LOAD)

    with pytest.raises(WorkerError, match="memory"):
        enclosed.ask(CALL)

    assert not folder.exists()
