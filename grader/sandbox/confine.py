"""What a worker takes away from itself before a submission arrives: files (Landlock), privileges, system calls. Nothing here can be undone.

Runs in the worker, on ctypes alone. In a bubblewrap jail it is a second wall; where bubblewrap is refused it is the jail.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

try:
    import filters
except ImportError:
    from . import filters

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
SECCOMP = {"x86_64": 317, "aarch64": 277}
CAPSET = {"x86_64": 126, "aarch64": 91}
NO_NEW_PRIVS, CAPBSET_DROP, CAP_AMBIENT, AMBIENT_CLEAR = 38, 24, 47, 4
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REFER, TRUNCATE, IOCTL_DEV = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 13, 1 << 14, 1 << 15
ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
READ = EXECUTE | READ_FILE | READ_DIR
NEW_PRIVATE_PATH = os.O_PATH | os.O_CLOEXEC if sys.platform == "linux" else 0


class Unconfined(Exception):
    """A wall that should have been there could not be put up."""


def libc():
    """The C library, with errno."""
    return ctypes.CDLL(None, use_errno=True)


def landlock_version():
    """The version of Landlock that this kernel speaks; 0 where it doesn't."""
    return max(0, libc().syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1)) if sys.platform == "linux" else 0


def no_new_privileges():
    """No program started from here can gain privileges; also what Landlock and filters ask for."""
    libc().prctl(NO_NEW_PRIVS, 1, 0, 0, 0)


def drop_capabilities():
    """Root without the powers of root."""
    library = libc()
    for capability in range(64):
        library.prctl(CAPBSET_DROP, capability, 0, 0, 0)
    library.prctl(CAP_AMBIENT, AMBIENT_CLEAR, 0, 0, 0)
    if platform.machine() in CAPSET:
        header, nothing = struct.pack("<Ii", 0x20080522, 0), bytes(24)
        library.syscall(CAPSET[platform.machine()], ctypes.c_char_p(header), ctypes.c_char_p(nothing))


def landlock(read, write, hidden=()):
    """From now on only what lies in ``read`` (without ``hidden``) can be read and only what lies in ``write`` changed. Gives the version, 0 for none."""
    version = landlock_version()
    if version < 1:
        return 0
    library = libc()
    handled = all_rights(version)
    attributes = struct.pack("<QQQ", handled, 3 if version >= 4 else 0, 3 if version >= 6 else 0)[: 24 if version >= 6 else 16 if version >= 4 else 8]
    rules = library.syscall(CREATE_RULESET, ctypes.c_char_p(attributes), ctypes.c_size_t(len(attributes)), 0)
    if rules < 0:
        raise Unconfined(f"Landlock: {os.strerror(ctypes.get_errno())}")
    for path, rights in [*spread(read, hidden), *((path, handled) for path in write)]:
        allow(library, rules, path, rights & handled)
    if library.syscall(RESTRICT_SELF, rules, 0):
        raise Unconfined(f"Landlock: {os.strerror(ctypes.get_errno())}")
    os.close(rules)
    return version


def all_rights(version):
    """Every right on files that this version of Landlock knows."""
    return (1 << (13 + (version >= 2) + (version >= 3) + (version >= 5))) - 1


def spread(read, hidden):
    """The paths to open for reading such that nothing hidden lies below one: around a hidden path its neighbours are opened one by one.

    Links are followed first: a second name of a folder would open what the first one hides. What is shown inside of what is hidden is shown.
    """
    shown = sorted({os.path.realpath(path) for path in read})
    seen, queue = set(), list(shown)
    while queue:
        path = os.path.realpath(queue.pop())
        if path in seen or nearest(path, hidden) > nearest(path, shown):
            continue
        seen.add(path)
        if any(place.startswith(path.rstrip("/") + "/") for place in hidden) and os.path.isdir(path):
            yield path, READ_DIR
            queue += [os.path.join(path, name) for name in os.listdir(path)]
        else:
            yield path, READ


def nearest(path, places):
    """The length of the longest of ``places`` that is this path or lies above it; 0 for none."""
    return max((len(place) for place in places if path == place or path.startswith(place.rstrip("/") + "/")), default=0)


def allow(library, rules, path, rights):
    """One rule. What isn't there needs none."""
    try:
        fd = os.open(path, NEW_PRIVATE_PATH)
    except OSError:
        return
    try:
        library.syscall(ADD_RULE, rules, 1, ctypes.c_char_p(struct.pack("<Qi", rights if os.path.isdir(path) else rights & ON_FILES, fd)), 0)
    finally:
        os.close(fd)


def filter_calls(read_only=False):
    """Put the strict filter on every thread of this process. Gives whether there is one for this machine."""
    program = filters.strict(platform.machine(), os.getpid(), read_only)
    if program is None:
        return False
    held = ctypes.create_string_buffer(program, len(program))
    head = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(held))
    if libc().syscall(SECCOMP[platform.machine()], 1, 1, ctypes.c_char_p(head)):
        raise Unconfined(f"seccomp: {os.strerror(ctypes.get_errno())}")
    return True
