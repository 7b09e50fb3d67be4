"""What can go wrong with a worker, drawn once:

WorkerError
├── WorkerDied       the process ended while an answer was owed
│   └── DeviceLost   a kernel did what a GPU forgives nobody: the process can use the device no more
├── WorkerTimeout    the wall clock of the exercise ran out
├── WorkerMemory     the process tree outgrew its limit, or an allocation was refused
├── WorkerGarbage    what came over the pipe is not a frame, or not the reply that was asked for
└── Raised           the submission's own code raised (a value, in a way: not a fault of the worker)
    └── NoGradient   a gradient was asked of a result that carries no graph

None of them is a ValueError, so that a check which waits for one can't take a fault for a right answer.
"""

from __future__ import annotations

import re
from typing import Any

from ..errors import AttngradeError
from .scrub import one_line

FATAL = re.compile(r"illegal memory access|misaligned address|illegal instruction|illegal address space|unspecified launch failure|device-side assert"
                   r"|hardware stack error|invalid program counter|operation not supported on global/shared address space|launch timed out", re.I)
DRIVER = re.compile(r"CUDA error|Triton Error \[CUDA\]|CUDA driver error", re.I)


class StartFailed(AttngradeError):
    """No worker could be started: a fault of the grader, charged to nobody."""


class JailLost(AttngradeError):
    """The jail around a worker was ended from outside, where no submission reaches: a fault charged to nobody."""


class WorkerError(Exception):
    """A fault charged to the submission; ``reason`` is the verdict's word for it."""

    reason = "crash"


class WorkerDied(WorkerError):
    """The worker's process ended while an answer was owed."""


class DeviceLost(WorkerDied):
    """The process is alive, and its device is gone: whatever it asks of it now is refused."""

    def __init__(self, function: str, said: str):
        super().__init__(f"{function or 'The file'}: a kernel was stopped by the GPU ({said}). Look for an address outside of a tensor: a tail without a mask, "
                         "a stride of another tensor, an offset beyond 32 bits. The remaining checks run in a fresh process.")


class WorkerTimeout(WorkerError):
    """The wall clock ran out."""

    reason = "timeout"


class WorkerMemory(WorkerError):
    """The memory limit was met."""

    reason = "memory"


class WorkerGarbage(WorkerError):
    """Bytes that are not a reply."""


class Raised(WorkerError):
    """The submission's code raised an exception; what it said of itself, in plain words."""

    reason = "wrong-result"

    def __init__(self, said: dict[str, Any], function: str = ""):
        self.type = one_line(str(said.get("type", "?")), 100)
        bases = said.get("bases")
        self.bases = tuple(str(base) for base in bases[:20]) if isinstance(bases, list) else ()
        self.said = one_line(str(said.get("message", "")))
        line = said.get("line")
        self.line = line if isinstance(line, int) and not isinstance(line, bool) else None
        self.function = function
        where = f" (line {self.line})" if self.line else ""
        super().__init__(f"{function or 'the file'} raised {self.type}{where}" + (f": {self.said}" if self.said else ""))

    def __reduce__(self) -> tuple[Any, ...]:
        said = {"type": self.type, "bases": list(self.bases), "message": self.said, "line": self.line}
        return type(self), (said, self.function)

    @property
    def unwritten(self) -> bool:
        """Whether this is a stub speaking."""
        return "NotImplementedError" in self.bases


def lost(raised: Raised) -> str:
    """What the GPU stopped a kernel for, where an exception tells of that; empty where it tells of anything else."""
    found = FATAL.search(raised.said)
    return found.group().lower() if found and DRIVER.search(raised.said) else ""


class NoGradient(Raised):
    """The result is detached: no gradient flows back."""
