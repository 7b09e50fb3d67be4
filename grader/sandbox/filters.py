"""System-call filters as bytes: what a process that runs a submission may ask of the kernel. Pure: nothing is installed here.

Runs on both sides: the jail hands the loose filter to bwrap, the worker puts the strict one on itself before a submission arrives. A filter is
classic BPF: it reads the number of the call and its arguments' low halves, and says allow, refuse (an errno), or end the process.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Callable

Lines = list[tuple[int, int, int, int]]
Calls = dict[str, int]

ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NR, ARCH, ARGUMENTS = 0, 4, 16
NEWEST = 462  # newer system calls are told not to exist: nobody has read them yet
NAMESPACES = 0x7E020000  # CLONE_NEW*
THREAD = 0x00010000  # CLONE_THREAD
AF_UNIX, SOCK_STREAM = 1, 1
TERMINAL_REQUESTS = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX: typing into somebody else's terminal
OWNER_REQUESTS = (0x8901, 0x8902)  # FIOSETOWN, SIOCSPGRP: whom a descriptor signals
FCNTL_OWNER = (8, 10, 15)  # F_SETOWN, F_SETSIG, F_SETOWN_EX
PRCTL_STRICT = (1, 4)  # PR_SET_PDEATHSIG, PR_SET_DUMPABLE: both would hide the worker from the host
MAP_SHARED, MAP_ANONYMOUS = 0x01, 0x20  # together they hold what isn't resident, and so not seen where memory is measured
WRITING = 0x1 | 0x2 | 0x40 | 0x200 | 0x400  # O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND

MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# name -> (x86_64, aarch64); None where a machine doesn't have it
NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272), "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440), "process_mrelease": (448, 448), "pidfd_open": (434, 434),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429),
    "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "unshare": (272, 97), "setns": (308, 268), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218), "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "fanotify_init": (300, 262), "fanotify_mark": (301, 263),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "create_module": (174, None), "iopl": (172, None), "ioperm": (173, None), "modify_ldt": (154, None), "uselib": (134, None), "ustat": (136, None),
    "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225), "sethostname": (170, 161), "setdomainname": (171, 162),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "acct": (163, 89), "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171),
    "clock_adjtime": (305, 266), "syslog": (103, 116), "vhangup": (153, 58), "lookup_dcookie": (212, 18), "nfsservctl": (180, 42), "vmsplice": (278, 75),
    "migrate_pages": (256, 238), "move_pages": (279, 239), "memfd_secret": (447, 447),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "shmdt": (67, 197), "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191),
    "semtimedop": (220, 192), "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    "mq_open": (240, 180), "mq_unlink": (241, 181),
    "clone3": (435, 435), "openat2": (437, 437), "personality": (135, 92), "clone": (56, 220), "socket": (41, 198), "socketpair": (53, 199), "ioctl": (16, 29),
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281), "memfd_create": (319, 279), "pidfd_send_signal": (424, 424),
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "prlimit64": (302, 261), "sched_setparam": (142, 118), "sched_setscheduler": (144, 119), "sched_setaffinity": (203, 122), "sched_setattr": (314, 274),
    "setpriority": (141, 140), "ioprio_set": (251, 30), "fcntl": (72, 25), "prctl": (157, 167),
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None), "fchown": (93, 55), "lchown": (94, None),
    "fchownat": (260, 54), "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15),
    "fremovexattr": (199, 16), "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88), "mknod": (133, None),
    "mknodat": (259, 33), "inotify_add_watch": (254, 27),
    "open": (2, None), "openat": (257, 56), "creat": (85, None), "mkdir": (83, None), "mkdirat": (258, 34), "rmdir": (84, None), "unlink": (87, None),
    "unlinkat": (263, 35), "rename": (82, None), "renameat": (264, 38), "renameat2": (316, 276), "link": (86, None), "linkat": (265, 37),
    "symlink": (88, None), "symlinkat": (266, 36), "truncate": (76, 45), "mmap": (9, 222),
}

ALWAYS = tuple(list(NUMBERS)[: list(NUMBERS).index("clone3")])
OWN_PROCESS_ONLY = ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
OWN_OR_ZERO_ONLY = ("prlimit64", "sched_setparam", "sched_setscheduler", "sched_setaffinity", "sched_setattr")
STRICT = ("fork", "vfork", "execve", "execveat", "memfd_create", "pidfd_send_signal", "tkill", "setpriority", "ioprio_set", "socket", "chmod", "fchmod",
          "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr",
          "fremovexattr", "utime", "utimes", "futimesat", "utimensat", "mknod", "mknodat", "inotify_add_watch")
PATH_WRITES = ("creat", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat",
               "truncate")


def loose(machine: str) -> bytes | None:
    """The filter for everything in a jail, the start of the worker included; None for a machine whose numbers are not known."""
    return _program(machine, lambda call: _loose(call) + _refuse_unless(call, "socket", 0, (AF_UNIX,)))


def strict(machine: str, pid: int, read_only: bool = False) -> bytes | None:
    """The filter for the worker ``pid`` once it needs no new process any more; with ``read_only`` no file can be changed by its path."""
    return _program(machine, lambda call: _loose(call) + _strict(call, pid) + (_read_only(call) if read_only else []))


def _program(machine: str, body: Callable[[Calls], Lines]) -> bytes | None:
    if machine not in MACHINES:
        return None
    column = list(MACHINES).index(machine)
    numbers = {name: number for name, row in NUMBERS.items() if (number := row[column]) is not None}
    start = [(LOAD, 0, 0, ARCH), (EQUAL, 1, 0, MACHINES[machine]), (RETURN, 0, 0, KILL), (LOAD, 0, 0, NR),
             (AT_LEAST, 0, 1, NEWEST + 1), (RETURN, 0, 0, ERRNO | errno.ENOSYS)]  # the x32 numbers are above NEWEST too
    lines = [*start, *body(numbers), (RETURN, 0, 0, ALLOW)]
    return b"".join(struct.pack("<HBBI", *line) for line in lines)


def _loose(call: Calls) -> Lines:
    lines = [line for name in ALWAYS for line in _refuse(call, name)]
    lines += _refuse(call, "clone3", errno.ENOSYS) + _refuse(call, "openat2", errno.ENOSYS)
    lines += _refuse_unless(call, "personality", 0, (0xFFFFFFFF, 0))
    return lines + _refuse_bits(call, "clone", 0, NAMESPACES) + _refuse_if(call, "ioctl", 1, (*TERMINAL_REQUESTS, *OWNER_REQUESTS))


def _strict(call: Calls, pid: int) -> Lines:
    lines = [line for name in STRICT for line in _refuse(call, name)]
    lines += [line for name in OWN_PROCESS_ONLY for line in _refuse_unless(call, name, 0, (pid,))]
    lines += [line for name in OWN_OR_ZERO_ONLY for line in _refuse_unless(call, name, 0, (pid, 0))]
    lines += _require_bits(call, "clone", 0, THREAD) + _refuse_unless(call, "socketpair", 1, (SOCK_STREAM, SOCK_STREAM | 0x80000, SOCK_STREAM | 0x80800))
    lines += _refuse_together(call, "mmap", 3, MAP_SHARED, MAP_ANONYMOUS)
    return lines + _refuse_if(call, "fcntl", 1, FCNTL_OWNER) + _refuse_if(call, "prctl", 0, PRCTL_STRICT)


def _read_only(call: Calls) -> Lines:
    lines = [line for name in PATH_WRITES for line in _refuse(call, name, errno.EROFS)]
    return lines + _refuse_bits(call, "open", 1, WRITING, errno.EROFS) + _refuse_bits(call, "openat", 2, WRITING, errno.EROFS)


# ---------------------------------------------------------------- pieces: each tests for its call and falls through to the next where it isn't the one


def _block(call: Calls, name: str, body: Lines) -> Lines:
    return [(EQUAL, 0, len(body), call[name]), *body] if name in call else []


def _refuse(call: Calls, name: str, error: int = errno.EPERM) -> Lines:
    return _block(call, name, [(RETURN, 0, 0, ERRNO | error)])


def _argument(place: int) -> tuple[int, int, int, int]:
    return (LOAD, 0, 0, ARGUMENTS + 8 * place)


def _refuse_unless(call: Calls, name: str, place: int, allowed: tuple[int, ...]) -> Lines:
    tests: Lines = [(EQUAL, len(allowed) - at, 0, value) for at, value in enumerate(allowed)]
    return _block(call, name, [_argument(place), *tests, (RETURN, 0, 0, ERRNO | errno.EPERM), (RETURN, 0, 0, ALLOW)])


def _refuse_if(call: Calls, name: str, place: int, refused: tuple[int, ...]) -> Lines:
    tests: Lines = [(EQUAL, len(refused) - at, 0, value) for at, value in enumerate(refused)]
    return _block(call, name, [_argument(place), *tests, (RETURN, 0, 0, ALLOW), (RETURN, 0, 0, ERRNO | errno.EPERM)])


def _refuse_bits(call: Calls, name: str, place: int, mask: int, error: int = errno.EPERM) -> Lines:
    return _block(call, name, [_argument(place), (ANY_BIT, 0, 1, mask), (RETURN, 0, 0, ERRNO | error), (LOAD, 0, 0, NR)])


def _refuse_together(call: Calls, name: str, place: int, one: int, other: int) -> Lines:
    return _block(call, name, [_argument(place), (ANY_BIT, 0, 2, one), (ANY_BIT, 0, 1, other), (RETURN, 0, 0, ERRNO | errno.EPERM), (LOAD, 0, 0, NR)])


def _require_bits(call: Calls, name: str, place: int, mask: int) -> Lines:
    return _block(call, name, [_argument(place), (ANY_BIT, 1, 0, mask), (RETURN, 0, 0, ERRNO | errno.EPERM), (LOAD, 0, 0, NR)])
