"""The workers of one grading: started early, loaded with the source, replaced after a death, ended. Nothing of the checks is known here."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..catalog import Exercise, OffLimits
from ..errors import AttngradeError
from ..sandbox import jail

if TYPE_CHECKING:
    from ..sandbox.host import Worker
    from ..sandbox.sibling import Sibling
    from .variants import Tongue

UNGAUGED = "device memory as the allocator counts it: the driver's library (NVML) is not here to ask"
ON_A_DEVICE = 5  # times the wall clock: kernels are compiled there for every dtype, width and layout, half a second each
DEVICE_MIB = 4096  # and more memory: the driver and its libraries


@dataclass(frozen=True)
class Limits:
    """Limits of one grading: seconds of wall clock per exercise, MiB of memory."""

    timeout_s: float = 60.0
    memory_mib: int = 4096


def plan_for(exercise: Exercise, limits: Limits, device: str) -> jail.Plan:
    """What a worker of this exercise needs."""
    hidden = tuple(rule.name for rule in exercise.off_limits if rule.kind == "module" and "." not in rule.name and not rule.functions)
    return jail.Plan(exercise.imports, exercise.framework, device, limits.memory_mib + (DEVICE_MIB if device != "cpu" else 0), hidden)


def listed(off_limits: tuple[OffLimits, ...]) -> dict[str, Any]:
    """What a worker is told of what is off limits: the names that are off limits everywhere, and those that some functions alone may not use."""
    everywhere = [rule for rule in off_limits if not rule.functions and "*" not in rule.name]
    return {
        **{part: [rule.name for rule in everywhere if rule.kind == kind] for part, kind in (("modules", "module"), ("names", "name"), ("paths", "path"))},
        "within": {rule.name: list(rule.functions) for rule in off_limits if rule.kind == "name" and rule.functions},
    }


class Opening:
    """The workers of one grading: the first, and its replacements after a death. Only the source travels to them."""

    def __init__(self, exercise: Exercise, limits: Limits, device: str, isolation: str, warm: Callable[[], Worker] | None, tongue: Tongue | None = None):
        self.exercise, self.limits, self.device = exercise, limits, device
        self.tongue = tongue
        self.isolation = isolation
        self.note = ""
        self.unreadable: Any = None
        self.output = ""
        self.line: int | None = None
        self.defines: dict[str, str] = {}
        self.deadline: float | None = None
        self._warm = warm
        self._current: Worker | None = None
        self._reference: Worker | None = None
        self._sibling: Sibling | None = None
        self._hatch = warm
        self._early = None if warm is not None else jail.start_for(plan_for(exercise, limits, device), isolation)

    def worker(self) -> Worker:
        """A worker that has not loaded anything yet."""
        from ..sandbox.host import Worker

        plan = plan_for(self.exercise, self.limits, self.device)
        early, self._early = self._early, None
        warm, self._warm = self._warm, None
        self._retire()
        self._current = warm() if warm is not None else Worker(plan, self.isolation, early)
        self._current.wait_ready()
        self.isolation, self.note = self._current.isolation, self._current.note
        return self._current

    def load(self, source: str) -> Any:
        """A proxy on a fresh worker that has loaded the source. Raises WorkerError."""
        from ..sandbox import gauge
        from ..sandbox.errors import Raised
        from ..sandbox.host import raise_if_raised
        from ..sandbox.proxy import Submission

        if self.unreadable is not None:
            self.line = self.unreadable.line
            raise Raised({"type": "SyntaxError", "message": str(self.unreadable), "line": self.unreadable.line})
        worker = self.worker()
        if self.deadline is None:
            self.deadline = time.monotonic() + self.limits.timeout_s * (ON_A_DEVICE if self.device != "cpu" else 1)
        worker.deadline = self.deadline
        apart = self.exercise.gpu and self.device == "cpu"
        if apart:
            self._sibling = self.sibling("triton" in source)
        reply = worker.ask({
            "op": "load", "module": self.exercise.module, "source": source, "relay": apart, "functions": list(self.exercise.functions), **listed(self.exercise.off_limits),
        })
        try:
            raise_if_raised(reply, "")
        except Raised as raised:
            self.line = raised.line
            raise
        defines = reply.get("defines")
        self.defines = {str(key): str(value) for key, value in defines.items()} if isinstance(defines, dict) else {}
        proxy = Submission(worker, self.defines, self.tongue)
        proxy.sibling = self._sibling
        if self.device != "cpu":
            proxy.gauge, proxy.rival = gauge.find(), self.reference
            self.note = "; ".join(filter(None, (self.note, "" if proxy.gauge else UNGAUGED)))
        return proxy

    def sibling(self, soon: bool) -> Sibling:
        """Who will run the kernels of the submission that is about to be loaded; where that is ``soon``, it starts now, beside everything else."""
        from ..sandbox.host import Worker
        from ..sandbox.sibling import Sibling

        hatch, plan = self._hatch, plan_for(self.exercise, self.limits, self.device)
        if hatch is not None:
            return Sibling(hatch)
        return Sibling(lambda: Worker(plan, self.isolation), Worker(plan, self.isolation) if soon else None)

    def reference(self) -> Worker:
        """A trusted worker on the same device that has the reference: what a submission is raced against. Raises NoRival."""
        from ..sandbox.errors import WorkerError
        from ..sandbox.host import Worker, raise_if_raised
        from ..sandbox.race import NoRival

        if self._reference is None or not self._reference.alive():
            try:
                self._reference = Worker(plan_for(self.exercise, self.limits, self.device), "trusted")
                for message in ({"op": "open", "solution": str(self.exercise.solution), "misconceptions": ""}, {"op": "cast", "ids": []}):
                    raise_if_raised(self._reference.ask(message), "the pack")
            except (WorkerError, AttngradeError) as error:
                raise NoRival(str(error)) from None
        return self._reference

    def _retire(self) -> None:
        from ..sandbox.scrub import clean_text

        if self._current is not None:
            self._current.close()
            printed = bytes(self._current.printed)
            if self._sibling is not None:
                self._sibling.close()
                printed += self._sibling.printed
            self.output = (self.output + clean_text(printed.decode("utf-8", "replace")))[: 64 << 10]
            if self._current.printed_in_all > len(self._current.printed):
                self.output += f"\n[cut: the submission printed {self._current.printed_in_all} bytes in all]"
            self._current = None

    def close(self) -> None:
        """Leave nothing running."""
        if self._early is not None:
            from ..sandbox.host import Worker

            self._current = Worker(plan_for(self.exercise, self.limits, self.device), self.isolation, self._early)
            self.isolation = self._current.isolation
            self._early = None
        self._retire()
        if self._reference is not None:
            self._reference.close()
        if self.isolation == "auto":
            self.isolation = jail.likely()
