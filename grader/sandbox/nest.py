"""A jailed process that imports once and then hatches workers: each in namespaces, a /tmp and a process of its own, none of which it shares.

No submission ever runs in this process. It is started inside a bubblewrap jail, reads requests from a socket (settings, and three descriptors:
frames in, frames out, printed output), forks, and lets the child make fresh user, mount, pid, ipc, net and uts namespaces inside the jail's own before
the worker's loop starts there. The child's pidfd goes back over the socket, so that the host can kill it whatever happens.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import sys

if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as settings_file:
        SETTINGS = json.load(settings_file)
    sys.path += SETTINGS["path"]
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import worker

    del sys.path[0]

LIBC = ctypes.CDLL(None, use_errno=True)
NEW_NAMESPACES = 0x00020000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000  # mount, uts, ipc, user, pid, net
PRIVATE, RECURSIVE, NOSUID_NODEV, BIND, MOVE = 0x40000 | 0x4000, 0x4000, 2 | 4, 0x1000, 0x2000
FROZEN = 0x20 | 1 | 2 | 4 | 8  # remount, read-only, no suid, no devices, no programs
REQUEST_CAP = 1 << 16
FILES = 1024  # no descriptor of a nest has a higher number
TMP = b"mode=0700,size=%d"


def must(code: int, what: str) -> None:
    """Raise OSError for a failed call into libc."""
    if code != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def separate() -> None:
    """Leave the nest's namespaces for fresh ones. The caller's next child is process 1 of the new pid namespace."""
    uid, gid = os.getuid(), os.getgid()
    must(LIBC.unshare(NEW_NAMESPACES), "unshare")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def furnish(tmp_bytes: int, kept: list[str]) -> None:
    """Private mounts: an empty /tmp and /dev/shm, and a /proc with the caller's own folder in it and what libraries ask of the machine.

    (A fresh procfs is refused in here, because bwrap covers parts of the one that is mounted.)
    """
    must(LIBC.mount(None, b"/", None, PRIVATE, None), "mount /")
    must(LIBC.mount(b"tmpfs", b"/dev/shm", b"tmpfs", NOSUID_NODEV, TMP % tmp_bytes), "mount /dev/shm")
    for number, folder in enumerate(kept):  # an interpreter that lies below /tmp is carried over
        os.mkdir(f"/dev/shm/{number}")
        must(LIBC.mount(folder.encode(), b"/dev/shm/%d" % number, None, BIND | RECURSIVE, None), f"bind {folder}")
    must(LIBC.mount(b"tmpfs", b"/tmp", b"tmpfs", NOSUID_NODEV, TMP % tmp_bytes), "mount /tmp")
    for number, folder in enumerate(kept):
        os.makedirs(folder)
        must(LIBC.mount(b"/dev/shm/%d" % number, folder.encode(), None, MOVE, None), f"move {folder}")
        os.rmdir(f"/dev/shm/{number}")
    os.mkdir("/dev/shm/self")
    shown = {"self": os.path.realpath("/proc/self"), "cpuinfo": "/proc/cpuinfo", "meminfo": "/proc/meminfo"}
    for name, source in shown.items():
        if name != "self":
            open(f"/dev/shm/{name}", "x", encoding="ascii").close()
        must(LIBC.mount(source.encode(), f"/dev/shm/{name}".encode(), None, BIND, None), f"bind {source}")
    must(LIBC.mount(b"tmpfs", b"/proc", b"tmpfs", NOSUID_NODEV, TMP % 16384), "mount /proc")
    os.mkdir("/proc/self")
    for name in shown:
        if name != "self":
            open(f"/proc/{name}", "x", encoding="ascii").close()
        must(LIBC.mount(f"/dev/shm/{name}".encode(), f"/proc/{name}".encode(), None, MOVE, None), f"move /proc/{name}")
        (os.rmdir if name == "self" else os.unlink)(f"/dev/shm/{name}")
    for place in (b"/proc/self", b"/proc"):  # nobody sets his high-water mark back, nobody puts files there
        must(LIBC.mount(None, place, None, BIND | FROZEN, None), f"remount {place.decode()}")


def drop_powers() -> None:
    """No capabilities, now or by exec, and no new privileges."""
    for capability in range(41):
        LIBC.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    must(LIBC.capset(header, data), "capset")
    must(LIBC.prctl(38, 1, 0, 0, 0), "no_new_privs")


def hatch(control: socket.socket, request: dict[str, object], fds: list[int]) -> None:
    """In a forked child: separate, fork process 1, send its pidfd, leave. Never returns."""
    try:
        separate()
        first = os.fork()
        if first:
            handle = os.pidfd_open(first)
            socket.send_fds(control, [b"hatched"], [handle])
            os._exit(0)
        control.close()
        live(request, fds)
    except BaseException as error:
        os.write(fds[2], f"The nest failed: {error}\n".encode())
        os._exit(70)


def live(request: dict[str, object], fds: list[int]) -> None:
    """As process 1: run the worker in a child, reap whatever is orphaned, end as the worker ends."""
    os.setsid()
    child = os.fork()
    if child:
        for fd in fds:
            os.close(fd)
        while True:
            pid, ended = os.wait()
            if pid == child:
                os._exit(os.waitstatus_to_exitcode(ended) & 0xFF if os.WIFEXITED(ended) else 128 + os.WTERMSIG(ended))
    furnish(int(str(request["tmp_bytes"])), [str(folder) for folder in SETTINGS["below_tmp"]])
    null = os.open("/dev/null", os.O_RDONLY)
    for source, target in ((null, 0), (fds[2], 1), (fds[2], 2)):
        os.dup2(source, target)
    low, high = sorted(fds[:2])
    for first, end in ((3, low), (low + 1, high), (high + 1, FILES)):
        os.closerange(first, end)
    drop_powers()
    worker.SETTINGS = {**SETTINGS, **request, "wire": [fds[0], fds[1]]}
    worker.main()


def main() -> None:
    """Import, say so, then serve until the host closes the socket."""
    control = socket.socket(fileno=SETTINGS["control"])
    for name in SETTINGS["imports"]:
        __import__(name)
    control.send(b"ready")
    while True:
        data, fds, _, _ = socket.recv_fds(control, REQUEST_CAP, 3)
        if not data:
            return
        child = os.fork()
        if child == 0:
            hatch(control, json.loads(data), fds)
        for fd in fds:
            os.close(fd)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
