"""The system-call filters, read by a machine of their own: what each says to each call, on both processors."""

from __future__ import annotations

import errno
import platform
import struct

import pytest
from attngrade.sandbox import filters

PID = 4242
ALLOWED, KILLED = "allowed", "killed"


def verdict(program: bytes, machine: str, call: str | int, *arguments: int) -> str | int:
    """What a filter answers: allowed, killed, or the errno."""
    number = call if isinstance(call, int) else filters.NUMBERS[call][list(filters.MACHINES).index(machine)]
    assert number is not None
    data = struct.pack("<iIQ6Q", number, filters.MACHINES[machine], 0, *(value & (2**64 - 1) for value in (*arguments, *[0] * (6 - len(arguments)))))
    lines = [struct.unpack_from("<HBBI", program, at) for at in range(0, len(program), 8)]
    held, at = 0, 0
    while True:
        code, yes, no, value = lines[at]
        at += 1
        if code == filters.LOAD:
            held = struct.unpack_from("<I", data, value)[0]
        elif code == filters.RETURN:
            return ALLOWED if value == filters.ALLOW else KILLED if value == filters.KILL else value & 0xFFFF
        else:
            true = {filters.EQUAL: held == value, filters.AT_LEAST: held >= value, filters.ANY_BIT: bool(held & value)}[code]
            at += yes if true else no


def has(machine: str, call: str) -> bool:
    return filters.NUMBERS[call][list(filters.MACHINES).index(machine)] is not None


@pytest.mark.parametrize("machine", filters.MACHINES)
@pytest.mark.parametrize("call", filters.ALWAYS)
def test_what_no_submission_needs_is_refused_by_both_filters(machine: str, call: str) -> None:
    if not has(machine, call):
        pytest.skip("this processor never had it")

    for program in (filters.loose(machine), filters.strict(machine, PID)):
        assert verdict(program, machine, call) == errno.EPERM


READ = {"x86_64": (0, 1, 9, 202, 231), "aarch64": (63, 64, 222, 98, 94)}  # read, write, mmap, futex, exit_group


@pytest.mark.parametrize("machine", filters.MACHINES)
def test_ordinary_calls_are_allowed(machine: str) -> None:
    for number in READ[machine]:
        for program in (filters.loose(machine), filters.strict(machine, PID), filters.strict(machine, PID, read_only=True)):
            assert verdict(program, machine, number) == ALLOWED


RULES = [
    ("loose", "clone", (0x11,), ALLOWED),
    ("loose", "clone", (0x10000011,), errno.EPERM),
    ("loose", "clone", (0x40000011,), errno.EPERM),
    ("strict", "clone", (0x11,), errno.EPERM),
    ("strict", "clone", (0x3D0F00,), ALLOWED),
    ("strict", "clone", (0x3D0F00 | 0x20000000,), errno.EPERM),
    ("loose", "clone3", (), errno.ENOSYS),
    ("strict", "clone3", (), errno.ENOSYS),
    ("strict", "openat2", (), errno.ENOSYS),
    ("loose", "execve", (), ALLOWED),
    ("strict", "execve", (), errno.EPERM),
    ("strict", "execveat", (), errno.EPERM),
    ("loose", "socket", (1, 1), ALLOWED),
    ("loose", "socket", (2, 1), errno.EPERM),
    ("loose", "socket", (16, 3), errno.EPERM),
    ("strict", "socket", (1, 1), errno.EPERM),
    ("strict", "socketpair", (1, 1), ALLOWED),
    ("strict", "socketpair", (1, 2), errno.EPERM),
    ("strict", "socketpair", (1, 0x80001), ALLOWED),
    ("loose", "ioctl", (0, 0x5412), errno.EPERM),
    ("strict", "ioctl", (0, 0x541C), errno.EPERM),
    ("strict", "ioctl", (0, 0x5401), ALLOWED),
    ("loose", "ioctl", (0, 0x5412 | 1 << 40), errno.EPERM),
    ("strict", "kill", (PID, 9), ALLOWED),
    ("strict", "kill", (1, 9), errno.EPERM),
    ("strict", "kill", (-1, 9), errno.EPERM),
    ("strict", "kill", (0, 9), errno.EPERM),
    ("strict", "tgkill", (PID, PID, 6), ALLOWED),
    ("strict", "tgkill", (7, 7, 6), errno.EPERM),
    ("strict", "tkill", (PID, 6), errno.EPERM),
    ("strict", "prlimit64", (0, 7), ALLOWED),
    ("strict", "prlimit64", (PID, 7), ALLOWED),
    ("strict", "prlimit64", (1, 7), errno.EPERM),
    ("strict", "sched_setaffinity", (0,), ALLOWED),
    ("strict", "sched_setaffinity", (9,), errno.EPERM),
    ("strict", "prctl", (1, 9), errno.EPERM),
    ("strict", "prctl", (4, 0), errno.EPERM),
    ("strict", "prctl", (15, 0), ALLOWED),
    ("strict", "fcntl", (3, 8), errno.EPERM),
    ("strict", "fcntl", (3, 1), ALLOWED),
    ("strict", "mmap", (0, 4096, 3, 0x21, -1, 0), errno.EPERM),
    ("strict", "mmap", (0, 4096, 3, 0x22, -1, 0), ALLOWED),
    ("strict", "mmap", (0, 4096, 3, 0x01, 5, 0), ALLOWED),
    ("loose", "mmap", (0, 4096, 3, 0x21, -1, 0), ALLOWED),
    ("strict", "memfd_create", (), errno.EPERM),
    ("loose", "memfd_create", (), ALLOWED),
    ("loose", "personality", (0xFFFFFFFF,), ALLOWED),
    ("loose", "personality", (0x0400000,), errno.EPERM),
    ("strict", "fchmod", (3, 0), errno.EPERM),
    ("strict", "utimensat", (), errno.EPERM),
    ("strict", "mkdirat", (), ALLOWED),
    ("read_only", "mkdirat", (), errno.EROFS),
    ("read_only", "openat", (0, 0, 0), ALLOWED),
    ("read_only", "openat", (0, 0, 1), errno.EROFS),
    ("read_only", "openat", (0, 0, 0x241), errno.EROFS),
    ("read_only", "unlinkat", (), errno.EROFS),
    ("strict", "openat", (0, 0, 0x241), ALLOWED),
]


@pytest.mark.parametrize("machine", filters.MACHINES)
@pytest.mark.parametrize("kind, call, arguments, expected", RULES)
def test_a_call_is_judged_by_its_arguments(machine: str, kind: str, call: str, arguments: tuple[int, ...], expected: str | int) -> None:
    program = {"loose": filters.loose(machine), "strict": filters.strict(machine, PID), "read_only": filters.strict(machine, PID, read_only=True)}[kind]

    assert verdict(program, machine, call, *arguments) == expected


@pytest.mark.parametrize("machine", filters.MACHINES)
def test_numbers_that_nobody_has_read_yet_do_not_exist(machine: str) -> None:
    for number in (filters.NEWEST + 1, 500, 0x40000000, 0x40000000 + 56, 2**31 - 1):
        assert verdict(filters.strict(machine, PID), machine, number) == errno.ENOSYS


def test_another_machines_door_ends_the_process() -> None:
    program = bytearray(filters.strict("x86_64", PID))

    assert verdict(bytes(program), "x86_64", 0) == ALLOWED
    assert struct.unpack_from("<HBBI", program, 16)[3] == filters.KILL


def test_an_unknown_machine_has_no_filter() -> None:
    assert filters.loose("vax") is None and filters.strict("vax", 1) is None


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers of this machine's header are compared")
def test_the_numbers_are_those_of_the_kernels_header() -> None:
    header = "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"
    try:
        with open(header, encoding="ascii") as file:
            known = {line.split()[1].removeprefix("__NR_"): int(line.split()[2]) for line in file if line.startswith("#define __NR_")}
    except OSError:
        pytest.skip("the kernel's headers are not installed")

    assert {name: row[0] for name, row in filters.NUMBERS.items() if row[0] is not None and name in known and known[name] != row[0]} == {}


def test_the_numbers_of_the_other_processor_are_those_of_the_generic_header() -> None:
    header = "/usr/include/asm-generic/unistd.h"
    try:
        with open(header, encoding="ascii") as file:
            known = {
                parts[1].removeprefix("__NR_").removeprefix("__NR3264_"): int(parts[2])
                for line in file
                if line.startswith(("#define __NR_", "#define __NR3264_")) and len(parts := line.split()) == 3 and parts[2].isdigit()
            }
    except OSError:
        pytest.skip("the kernel's headers are not installed")

    assert {name: row[1] for name, row in filters.NUMBERS.items() if row[1] is not None and name in known and known[name] != row[1]} == {}
