"""The jails, each tried by starting a worker in it: what starts, works."""

from __future__ import annotations

import sys
from pathlib import Path

from ..errors import AttngradeError
from ..sandbox import cgroup, jail
from .findings import Finding, State
from .posix import REMEDY, runs_workers

TRIAL = jail.Plan(("numpy",), "numpy", "cpu", 1024)
PACKAGED = "`apt-get install bubblewrap` (or dnf, pacman, apk), then run this again."
SWITCHES = (  # file of the kernel, value that forbids, how to allow
    ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "`sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "`sudo sysctl kernel.unprivileged_userns_clone=1`"),
    ("/proc/sys/user/max_user_namespaces", "0", "`sudo sysctl user.max_user_namespaces=15000`"),
)
CONTAINER = ("In a container, allow namespaces when it is started: `docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined"
             " --security-opt systempaths=unconfined ...`.")

DELEGATED = "With systemd and control groups of version 2: `systemd-run --user --scope attngrade ...`. Without, nothing is lost but precision."


def bubblewrap() -> Finding:
    """The real jail: installed, and a worker starts in it."""
    if sys.platform != "linux":
        return Finding("Jail", State.ABSENT, "bubblewrap is for Linux: your own code is checked as a plain process, and each verdict says so",
                       "To grade other people's code, use Linux (WSL 2 or a container).")
    if not jail.bubblewrap():
        return Finding("Jail", State.LESS, "bubblewrap is not installed; the second jail is used instead", PACKAGED)
    refusal, _ = _tried("bubblewrap")
    if refusal:
        return Finding("Jail", State.LESS, f"bubblewrap is installed and refused: {refusal}", permission())
    return Finding("Jail", State.GOOD, f"bubblewrap at {jail.bubblewrap()}, and a worker starts in it")


def nest() -> Finding:
    """Warm workers for watch mode: jails inside a jail that has imported everything."""
    if sys.platform != "linux" or not jail.bubblewrap():
        return Finding("Warm jails", State.ABSENT, "none without bubblewrap: watch mode starts a worker before each save instead")
    from ..sandbox.errors import WorkerError
    from ..sandbox.host import Worker
    from ..sandbox.nursery import NestError, Nursery

    hatchery = None
    try:
        hatchery = Nursery(TRIAL)
        with Worker(TRIAL, "bubblewrap", hatchery.start()) as worker:
            worker.wait_ready()
    except (NestError, WorkerError, AttngradeError, OSError) as error:
        return Finding("Warm jails", State.LESS, f"refused ({_short(error)}); watch mode starts workers one by one", permission())
    finally:
        if hatchery is not None:
            hatchery.close()
    return Finding("Warm jails", State.GOOD, "watch mode hatches a fresh jailed worker for each save")


def process() -> Finding:
    """The second jail: a process that confines itself with Landlock and a system-call filter."""
    if not runs_workers():
        return Finding("Second jail", State.BROKEN, "checks run in a process that only Linux, macOS and WSL can start", REMEDY)
    refusal, note = _tried("process")
    if refusal:
        return Finding("Second jail", State.BROKEN, f"no worker starts: {refusal}", f"`{sys.executable} -c 'import numpy'` must work; then run this again.")
    if sys.platform != "linux":
        return Finding("Second jail", State.ABSENT, "a plain process: what runs here can read what you can read", "Check only code that you trust here.")
    if "not confined" in note:
        return Finding("Second jail", State.LESS, "the process can't be confined: this kernel has neither Landlock nor filters",
                       "A kernel of 5.13 or newer with Landlock (`lsm=landlock,...` on its command line) confines it.")
    return Finding("Second jail", State.GOOD, f"a process {note.partition('a process of this machine, ')[2].partition(':')[0] or 'confined'}")


def memory() -> Finding:
    """Who holds a worker to its memory: the kernel, or whoever looks twenty times a second."""
    if sys.platform != "linux":
        return Finding("Memory limit", State.ABSENT, "none but the one that a process sets itself", "Check only code that you trust here.")
    place = cgroup.home()
    if place is None:
        return Finding("Memory limit", State.ABSENT, "by watching the process tree, twenty times a second; the kernel makes no control group for this process", DELEGATED)
    return Finding("Memory limit", State.GOOD, f"by the kernel, in control groups below {place}")


def permission() -> str:
    """What this kernel has to be told before it allows namespaces."""
    for place, forbids, allow in SWITCHES:
        try:
            if Path(place).read_text().strip() == forbids:
                return f"{allow}, and once more after each reboot (a file in /etc/sysctl.d makes it last)."
        except OSError:
            continue
    return CONTAINER


def _tried(isolation: str) -> tuple[str, str]:
    """Why no worker starts (empty if one does), and what the worker notes about its walls."""
    from ..sandbox.errors import WorkerError
    from ..sandbox.host import Worker

    try:
        with Worker(TRIAL, isolation) as worker:
            worker.wait_ready()
            return "", worker.note
    except (WorkerError, AttngradeError, OSError) as error:
        return _short(error), ""


def _short(error: Exception) -> str:
    return str(error).replace(" Run `attngrade doctor`.", "").removeprefix("The worker did not start: ").rstrip(".")[:200] or type(error).__name__
