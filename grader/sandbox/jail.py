"""How a worker is started: in a bubblewrap jail, or as a process that confines itself (``confine.py``); the record says which.

The jail has every namespace of its own, a read-only view of the interpreter and its packages, no sight of the project, the home folder or
the store, a private ``/tmp`` with a size, a system-call filter, and a clean environment. What is secret reaches neither the command line nor the
environment of any process that the jail can see: bwrap itself starts with an empty environment and reads its arguments from a file descriptor.
"""

from __future__ import annotations

import glob
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..errors import AttngradeError
from . import filters
from .scratch import Scratch, sweep

HERE = Path(__file__).resolve().parent
WORKER_FILES = ("worker.py", "wire.py", "devices.py", "sentry.py", "fence.py", "launch.py", "relaunch.py", "follow.py", "frontend.py", "purity.py", "offlimits.py", "alike.py", "confine.py", "filters.py", "hollow.py", "roads.py", "world.py")
PASSWD = b"candidate:x:65534:65534::/tmp:/usr/sbin/nologin\n"
TMP_BYTES = 256 << 20
PROCESSES = 512  # processes and threads in a jail, where the kernel counts them per user namespace
SMALL_FILES = ("/etc/ld.so.cache", "/etc/alternatives")
KERNEL_FACTS = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu")
DRIVER_NODES = "/dev/nvidia*"
DRIVER_FACTS = ("/proc/driver/nvidia*", "/proc/devices", "/proc/modules", "/sys/module/nvidia*", "/sys/bus/pci", "/sys/devices/pci*", "/sys/devices/system")
DRIVER_WRITES = ("/proc/self/task", "/dev/null")  # names of threads, without which cuInit fails; and where compilers are told to be quiet
PASSED_ON = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "NVPL_BLAS_DEBUG_CPU_TYPE", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")


class JailError(AttngradeError):
    """The jail that was asked for can't be had; the message says how to get it."""


@dataclass(frozen=True)
class Plan:
    """What a worker needs to start: modules to import ahead, the framework of its arrays, the device, limits, packages that it must not find."""

    imports: tuple[str, ...] = ("numpy",)
    framework: str = "numpy"
    device: str = "cpu"
    memory_mib: int = 4096
    hidden: tuple[str, ...] = ()


@dataclass
class Start:
    """A started worker process: pipes for frames and for what it prints, and how it is isolated."""

    process: subprocess.Popen[bytes]
    send: int
    receive: int
    printed: int
    isolation: str
    scratch: Scratch | None = None
    fallen: Callable[[], bool] = bool  # whether the jail itself was ended, which nobody inside can do
    whole: bool = False  # whether its end is the end of all that it started, as that of a namespace's first process is


def bubblewrap() -> str | None:
    """The path of bwrap, or None."""
    return shutil.which("bwrap") if sys.platform == "linux" else None


def resolve(isolation: str) -> str:
    """``auto`` to the best jail that is installed; raises JailError where a named one can't be had."""
    if isolation == "bubblewrap" and not bubblewrap():
        raise JailError("bubblewrap is not installed: `apt-get install bubblewrap` (or dnf, pacman), then run this again.")
    return likely() if isolation == "auto" else isolation


def likely() -> str:
    """The isolation that ``auto`` tries first here."""
    return "bubblewrap" if bubblewrap() else "process"


def describe(walls: object, refusal: str, walled: bool = False) -> str:
    """What a worker in no bubblewrap jail is confined by, and what that leaves open: the sentence that goes with a verdict."""
    told = walls if isinstance(walls, dict) else {}
    version, filtered = told.get("landlock"), told.get("filter")
    jailed = [f"Landlock {version}"] if version else []
    jailed += ["a system-call filter"] if filtered else []
    held = f"confined by {' and '.join(jailed)}" if jailed else "not confined"
    memory = "the kernel limits its memory" if walled else "memory is watched and not walled"
    opened = f"names, sizes and dates of files can be seen, {memory}" if version else "every file that you can read can be read"
    began = f"{refusal}; " if refusal else ""
    return f"{began}the submission ran as a process of this machine, {held}: {opened}. `attngrade doctor` tells how to get the better jail."


def start_for(plan: Plan, isolation: str) -> Start:
    """Start under the best isolation that ``isolation`` allows. Needs neither NumPy nor pytest, so it can run before they are imported."""
    return start(plan, resolve(isolation))


def start(plan: Plan, isolation: str) -> Start:
    """Start a worker process under ``isolation`` (already resolved); ``trusted`` is the pack's own code, in no jail."""
    inward, outward, printed = os.pipe(), os.pipe(), os.pipe()
    inherited = (inward[0], outward[1])
    try:
        if isolation == "bubblewrap":
            started = _jailed(plan, inherited, printed[1])
        elif isolation == "trusted":
            started = _plain(plan, inherited, printed[1], ["-m", "attngrade.sandbox.rehearse"], isolation)
        else:
            started = _plain(plan, inherited, printed[1], ["-I", "-S", "-B", "-u", str(HERE / "worker.py")], isolation)
    except OSError as error:
        for fd in (inward[1], outward[0], printed[0]):
            os.close(fd)
        raise JailError(f"No worker can be started here: {error.strerror or error}. Free space or memory, then run this again.") from None
    finally:
        for fd in (*inherited, printed[1]):
            os.close(fd)
    started.send, started.receive, started.printed = inward[1], outward[0], printed[0]
    for fd in (started.send, started.receive, started.printed):
        os.set_blocking(fd, False)
    return started


def _settings(plan: Plan, wire: tuple[int, int], home: str, landlock: dict[str, list[str]] | None = None) -> str:
    return json.dumps({
        "wire": list(wire), "path": package_folders(), "imports": list(plan.imports), "framework": plan.framework, "device": plan.device,
        "home": home, "data_bytes": plan.memory_mib << 20 if plan.device == "cpu" else None, "landlock": landlock, "filter": plan.device == "cpu",
        "processes": None if landlock else PROCESSES,
    })


def _environment(plan: Plan, home: str) -> dict[str, str]:
    own = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    triton = {"TRITON_CACHE_DIR": f"{home}/triton"} | ({"TRITON_INTERPRET": "1"} if plan.device == "cpu" else {})
    return {**own, **threads, **triton, "TORCH_COMPILE_DISABLE": "1", "PATH": "/usr/bin:/bin", "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8"}


def _plain(plan: Plan, wire: tuple[int, int], printed: int, program: list[str], isolation: str) -> Start:
    scratch = Scratch()
    home = scratch.path
    shown, hidden = visible_folders(), hidden_folders(plan)
    reach = {"read": [*shown, *SMALL_FILES, *KERNEL_FACTS], "write": [], "hidden": hidden}
    if plan.device == "cuda":
        reach["read"] += there(*DRIVER_FACTS)
        reach["write"] += [home, *DRIVER_WRITES, *there(DRIVER_NODES)]
    try:
        settings = Path(home, "settings.json")
        settings.write_text(_settings(plan, wire, home, reach), encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, *program, str(settings)], stdin=subprocess.DEVNULL, stdout=printed, stderr=printed, env=_environment(plan, home), cwd=home,
            pass_fds=wire, start_new_session=True,
        )
    except OSError:
        scratch.close()
        raise
    return Start(process, -1, -1, -1, isolation, scratch=scratch)


def _jailed(plan: Plan, wire: tuple[int, int], printed: int) -> Start:
    sweep(tempfile.gettempdir())
    data = {**{f"/attngrade/{name}": (HERE / name).read_bytes() for name in WORKER_FILES},
            "/attngrade/settings.json": _settings(plan, wire, "/tmp").encode(), "/etc/passwd": PASSWD}
    held = {target: _held(content) for target, content in data.items()}
    arguments = _mounts(plan)
    for target, fd in held.items():
        arguments += ["--ro-bind-data", str(fd), target]
    arguments += ["--remount-ro", "/"]
    program = filters.loose(platform.machine())
    if program is not None:
        held["filter"] = _held(program)
        arguments += ["--seccomp", str(held["filter"])]
    for name, value in _environment(plan, "/tmp").items():
        arguments += ["--setenv", name, value]
    arguments += ["--chdir", "/tmp"]
    command = [sys.executable, "-I", "-S", "-B", "-u", "/attngrade/worker.py", "/attngrade/settings.json"]
    listed = _held(b"".join(argument.encode() + b"\0" for argument in arguments))
    try:
        process = subprocess.Popen(
            [str(bubblewrap()), "--args", str(listed), *command], stdin=subprocess.DEVNULL, stdout=printed, stderr=printed, env={}, cwd="/",
            pass_fds=(*wire, *held.values(), listed), start_new_session=True,
        )
    finally:
        for fd in (*held.values(), listed):
            os.close(fd)
    return Start(process, -1, -1, -1, "bubblewrap", fallen=lambda: (process.poll() or 0) < 0)


def _held(content: bytes) -> int:
    fd = os.memfd_create("attngrade")
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _mounts(plan: Plan, nest: bool = False) -> list[str]:
    """bwrap's arguments for namespaces and mounts; a ``nest`` keeps what it needs to make namespaces for each of its children."""
    arguments = ["--unshare-all", "--unshare-user", "--uid", "65534", "--gid", "65534", "--hostname", "jail", "--cap-drop", "ALL",
                 "--die-with-parent", "--new-session", "--clearenv",
                 "--size", str(TMP_BYTES), "--tmpfs", "/tmp"]  # before what is shown: the interpreter itself may lie below /tmp
    closed: list[str] = []
    for path, shown in layout(visible_folders(), hidden_folders(plan)):
        if shown:
            arguments += ["--symlink", os.readlink(path), path] if os.path.islink(path) else ["--ro-bind", path, path]
        elif os.path.isdir(path):
            arguments += ["--tmpfs", path]
            closed.append(path)
        else:
            arguments += ["--ro-bind", os.devnull, path]
    for file in SMALL_FILES:
        arguments += ["--ro-bind-try", file, file]
    arguments += ["--proc", "/proc", "--dev", "/dev", "--size", str(TMP_BYTES), "--tmpfs", "/dev/shm"]
    if plan.device == "cuda":
        for node in there(DRIVER_NODES):
            arguments += ["--dev-bind-try", node, node]
        for path in there(*(facts for facts in DRIVER_FACTS if not facts.startswith("/proc"))):
            arguments += ["--ro-bind-try", path, path]
    writes_proc = nest or plan.device == "cuda"  # see DRIVER_WRITES; device memory is not counted there
    for path in (*closed, "/dev", *(() if writes_proc else ("/proc",))):
        arguments += ["--remount-ro", path]
    return arguments


def there(*patterns: str) -> list[str]:
    """The paths that match."""
    return [path for pattern in patterns for path in sorted(glob.glob(pattern))]


def layout(shown: list[str], hidden: list[str]) -> list[tuple[str, bool]]:
    """What to mount in which order: folders to show (True), and within them folders to cover (False), within which others may be shown again."""
    wanted = {**dict.fromkeys(hidden, False), **dict.fromkeys(shown, True)}
    order: list[tuple[str, bool]] = []
    for path in sorted(wanted):
        around = [state for place, state in order if path.startswith(place + "/")]
        if (around[-1] if around else False) != wanted[path]:
            order.append((path, wanted[path]))
    return order


@cache
def package_folders() -> list[str]:
    """The folders of installed packages on this interpreter's path (no project, no working folder)."""
    return [entry for entry in sys.path if entry.endswith(("site-packages", "dist-packages")) and os.path.isdir(entry)]


@cache
def visible_folders() -> list[str]:
    """What the jail shows, read-only: system libraries, the interpreter, its packages."""
    system = [folder for folder in ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/sbin") if os.path.lexists(folder)]
    own = {sys.prefix, sys.base_prefix, os.path.dirname(os.path.realpath(sys.executable)), sysconfig.get_path("stdlib"), *package_folders()}
    return system + sorted(folder for folder in own if folder not in system)


def below_tmp() -> list[str]:
    """The outermost of the shown folders that lie where a jail has its private /tmp."""
    found = [folder for folder in visible_folders() if folder.startswith("/tmp/")]
    return [folder for folder in found if not any(folder.startswith(other + "/") for other in found)]


def hidden_folders(plan: Plan) -> list[str]:
    """What must not be seen though it may lie inside what is shown: the grader, its project, the home and working folders, packages off limits."""
    homes = {*own_folders(), os.path.realpath(os.path.expanduser("~")), _working_folder()}
    packages = [os.path.join(folder, name + suffix) for folder in package_folders() for name in plan.hidden for suffix in ("", ".py")]
    return sorted({home for home in homes if home and home != "/"} | {path for path in packages if os.path.exists(path)})


def _working_folder() -> str:
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:
        return ""
    inside = any(here == folder or here.startswith(folder + "/") for folder in (*package_folders(), sysconfig.get_path("stdlib")))
    return "" if inside else here


@cache
def own_folders() -> list[str]:
    """This package's folder; in a checkout the whole project."""
    root = HERE.parent
    return [str(root.parent if root.name == "grader" else root)]
