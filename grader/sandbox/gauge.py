"""Device memory as the driver tells the host (NVML, through ctypes): what a submission's process holds, seen from outside of it.

Where NVML isn't to be had, ``find`` gives None, and a check has the worker's allocator alone.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import threading
from collections.abc import Callable, Iterator
from typing import Protocol

LIBRARY = "libnvidia-ml.so.1"
DONE, TOO_SMALL = 0, 7
NOT_TOLD = (1 << 64) - 1  # what the driver says where it doesn't count by process
LOOK_S = 0.004


class Gauge(Protocol):
    """Something that knows how many bytes of device memory some processes hold."""

    def held(self, pids: list[int]) -> int:
        """Bytes on all devices together."""


class Memory(ctypes.Structure):
    """nvmlMemory_t."""

    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


class Process(ctypes.Structure):
    """nvmlProcessInfo_t of versions 2 and 3."""

    _fields_ = (("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong), ("instance", ctypes.c_uint), ("compute_instance", ctypes.c_uint))


class Nvml:
    """The driver's library. By process where it tells that, by device where it doesn't (in a container process ids can be another namespace's)."""

    def __init__(self, library: ctypes.CDLL):
        self._library = library
        self._ask("nvmlInit_v2")
        count = ctypes.c_uint()
        self._ask("nvmlDeviceGetCount_v2", ctypes.byref(count))
        self._devices = [ctypes.c_void_p() for _ in range(count.value)]
        for place, device in enumerate(self._devices):
            self._ask("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(place), ctypes.byref(device))

    def _ask(self, function: str, *arguments: object, allowed: tuple[int, ...] = (DONE,)) -> int:
        code = int(getattr(self._library, function)(*arguments))
        if code not in allowed:
            raise OSError(f"{function} said {code}")
        return code

    @property
    def devices(self) -> int:
        """How many there are."""
        return len(self._devices)

    def held(self, pids: list[int]) -> int:
        """Bytes that these processes hold on all devices, or, where none of them is told, that are in use on all devices."""
        told = [used for device in self._devices for pid, used in self._processes(device) if pid in pids and used != NOT_TOLD]
        return sum(told) if told else sum(self._in_use(device) for device in self._devices)

    def _processes(self, device: ctypes.c_void_p) -> list[tuple[int, int]]:
        for room in (64, 1024):
            count, found = ctypes.c_uint(room), (Process * room)()
            if self._ask("nvmlDeviceGetComputeRunningProcesses_v3", device, ctypes.byref(count), found, allowed=(DONE, TOO_SMALL)) == DONE:
                return [(item.pid, item.used) for item in found[: count.value]]
        return []

    def _in_use(self, device: ctypes.c_void_p) -> int:
        memory = Memory()
        self._ask("nvmlDeviceGetMemoryInfo", device, ctypes.byref(memory))
        return int(memory.used)


def find(library: str = LIBRARY) -> Nvml | None:
    """The driver's gauge; None where there is none, or no device."""
    try:
        gauge = Nvml(ctypes.CDLL(library))
    except (OSError, AttributeError):
        return None
    return gauge if gauge.devices else None


def cards() -> list[str]:
    """The devices that the kernel's driver lists."""
    return sorted(glob.glob("/proc/driver/nvidia/gpus/*"))


class Watched:
    """The growth that was seen during a stretch of time."""

    def __init__(self, look: Callable[[], int]):
        self._look = look
        self.before = self.most = look()

    def look(self) -> None:
        """Once more."""
        self.most = max(self.most, self._look())

    @property
    def growth(self) -> int:
        """Bytes."""
        return self.most - self.before


@contextlib.contextmanager
def watching(gauge: Gauge, pids: list[int]) -> Iterator[Watched]:
    """Look every few milliseconds while the block runs, and once at its end."""
    seen, over = Watched(lambda: gauge.held(pids)), threading.Event()

    def keep_looking() -> None:
        while not over.wait(LOOK_S):
            seen.look()

    watcher = threading.Thread(target=keep_looking, daemon=True)
    watcher.start()
    try:
        yield seen
    finally:
        over.set()
        watcher.join()
        seen.look()
