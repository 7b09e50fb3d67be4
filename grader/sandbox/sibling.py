"""Kernels run apart from the submission that launches them: a second jailed worker gets their source, plain values and memory, and never the file.

Without a GPU a kernel is Python in Triton's interpreter, and what runs in a submission's own process can be told anything by it. So the worker hands each
launch of a call to the host; the host fills in the arguments that it sent itself (or, ``during``, others that the submission never sees), has the
sibling run it, counts it, keeps what it wrote, and hands that back.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import AttngradeError
from . import scrub, wire
from .errors import WorkerDied, WorkerError, WorkerGarbage
from .host import START_S, Worker

LAUNCHES = 1000  # of one call: what is beyond isn't kept
READING_S = 20.0  # for one kernel, which takes a thirtieth of a second
RESULTS = 2  # of a call, the first ones: out and lse


class Sibling:
    """The worker that runs a submission's kernels, started when the first of them is launched. Use one for each loaded submission."""

    def __init__(self, start: Callable[[], Worker], started: Worker | None = None):
        self._start = start
        self._worker = started
        self._reader: Worker | None = None
        self._warming: threading.Thread | None = None

    def read(self, told: dict[str, Any], deadline: float) -> dict[str, Any]:
        """What Triton's front end, in a worker of its own that runs nothing, says to a launch (frontend.py); nothing where it can't be asked here."""
        self.start_reader()
        assert self._reader is not None and self._warming is not None
        self._warming.join()
        if self._reader.death is not None:  # before it was shown anything of the submission's
            return {}
        self._reader.deadline = min(deadline, time.monotonic() + READING_S)
        try:
            said = self._reader.ask({"op": "read", "launch": told})
        except WorkerError:
            self._reader.close()
            self._reader = None
            return {"refused": not_triton({"message": "it came to no end of reading"})} if time.monotonic() < deadline else {}
        if isinstance(said.get("refused"), dict):
            return {"refused": not_triton(said["refused"])}
        return {"visited": said["visited"], "largest": said.get("largest")} if isinstance(said.get("visited"), dict) else {}

    def start_reader(self) -> None:
        """Have the worker for that started, if it isn't: it imports while kernels run."""
        if self._reader is None:
            self._reader = self._start()
            self._reader.deadline = time.monotonic() + START_S
            self._warming = threading.Thread(target=self._warm, args=(self._reader,), daemon=True)
            self._warming.start()

    @staticmethod
    def _warm(reader: Worker) -> None:
        with contextlib.suppress(WorkerError, AttngradeError):  # `death` tells, of one that didn't start too
            reader.ask({"op": "fit"})

    def worker(self, deadline: float) -> Worker:
        """The worker, with the time that the submission has left. Raises StartFailed."""
        if self._worker is None:
            self._worker = self._start()
        self.start_reader()
        self._worker.wait_ready()
        self._worker.deadline = deadline
        return self._worker

    def close(self) -> None:
        """Leave nothing running."""
        if self._reader is not None and self._warming is not None:
            self._reader.kill()
            self._warming.join()
        for worker in (self._worker, self._reader):
            if worker is not None:
                worker.close()

    @property
    def printed(self) -> bytes:
        """What kernels printed so far."""
        return bytes(self._worker.printed) if self._worker is not None else b""


class Relay:
    """The launches of one call, as the host saw them: called with each, it gives the answer that goes back to the submission."""

    def __init__(self, sibling: Sibling, message: dict[str, Any], deadline: float, examined: bool = False):
        self._sibling, self._deadline, self._decoy, self._examined = sibling, deadline, bool(message.get("decoy")), examined
        own = [(array, owner) for owner, value in [*enumerate(message["args"]), *message["kwargs"].items()] for array in wire.arrays(value)]
        self._owners = [str(owner) for _, owner in own]
        self._secret = list(wire.arrays(message.get("during") or ()))
        self._arguments = self._secret or [array for array, _ in own]
        self._early = list(wire.arrays(message.get("before") or ()))
        self.launches: list[dict[str, Any]] = []
        self.spilled: list[str] = []
        self.mutated: set[str] = set()
        self.growth = 0  # bytes by which running the kernels raised the sibling's high-water mark
        self._memories: list[tuple[str, np.ndarray]] = []  # what the last launch left in memory that is no argument's

    def __call__(self, told: Any) -> dict[str, Any]:
        """Run a launch. Raises WorkerGarbage for what is none, and what ends the sibling: its death is the submission's."""
        storages = well_formed(told, len(self._arguments))
        if self._early and told.get("early") is True:  # its result is thrown away
            return self._run(storages, told, self._early)
        fresh = [one["octets"].data for one in storages if "argument" not in one]
        if len(self.launches) < LAUNCHES:
            self.launches.append({"kernel": scrub.one_line(told["name"], 100), "grid": list(told["grid"]), "fresh_bytes": sum(data.nbytes for data in fresh)})
        if self._decoy:
            return {"memory": [None] * len(storages)}
        said = self._sibling.read(told, self._deadline) if self._examined and len(self.launches) == 1 else {}
        if "refused" in said:
            return {"raised": said["refused"]}
        answer = self._run(storages, told, self._arguments, said.get("visited"))
        overlap = answer.pop("overlap", False)
        if "visited" in said:
            self.launches[0] |= {"overlap": overlap, "largest": said["largest"] if type(said["largest"]) is int else None}
        if "raised" not in answer:
            answer["memory"] = self._keep(storages, answer.pop("memory"), answer.pop("spilled"))
        return answer

    def _run(self, storages: list[dict[str, Any]], told: dict[str, Any], arguments: list[wire.Array], visited: Any = None) -> dict[str, Any]:
        """Have the sibling run a launch: ``memory`` and ``spilled``, or what it ``raised``."""
        worker = self._sibling.worker(self._deadline)
        said = worker.ask({"op": "rebuild", "arguments": arguments, "launch": told}).get("raised")
        if said is not None:
            return {"raised": failure(said)}
        resident = worker.mark_memory()
        try:
            reply = worker.ask({"op": "run", "visited": visited})
        except WorkerDied:
            raise WorkerDied(f"{scrub.one_line(told['name'], 100)} ended the process that ran it: it loads or stores where no memory is, past a tensor and without a mask.") from None
        self.growth += max(0, worker.peak_bytes() - resident)
        if reply.get("failed") or reply.get("raised"):
            return {"raised": failure(reply.get("failed") or reply.get("raised"))}
        return {"memory": written(storages, reply), "spilled": reply.get("spilled"), "overlap": reply.get("overlap") is True}

    def _keep(self, storages: list[dict[str, Any]], memory: list[wire.Array | None], past: Any) -> list[wire.Array | None]:
        """Note what the kernel wrote and where it shouldn't have; what goes back of it. Values that were for the kernel alone don't."""
        back: list[wire.Array | None] = []
        self._memories = []
        for told, now in zip(storages, memory, strict=True):
            if "argument" not in told and now is not None:
                self._memories.append((told["dtype"], now.data))
            elif now is not None:
                self.mutated.add(self._owners[told["argument"]])
            back.append(None if "argument" in told and self._secret else now)
        self.spilled += [str(tuple(storages[number]["shape"])) for number in past if type(number) is int and 0 <= number < len(storages)] if isinstance(past, list) else []
        return back

    def as_written(self, value: Any) -> tuple[bool, ...]:
        """For each array in a result, whether its values stand, in whatever order, in a memory as a kernel left it."""
        if not self.launches or self._decoy:
            return ()
        results = itertools.islice(wire.arrays(value), RESULTS)
        return tuple(any(holds(dtype, octets, array) for dtype, octets in self._memories if octets.size >= array.data.size) for array in results)


def well_formed(told: Any, arguments: int) -> list[dict[str, Any]]:
    """The memories of a launch, once everything is there that the host reads of it. Raises WorkerGarbage."""
    with contextlib.suppress(KeyError, TypeError, AttributeError):
        fine = isinstance(told["name"], str) and isinstance(told["grid"], list) and all(type(n) is int for n in told["grid"]) and len(told["grid"]) <= 16
        for one in told["storages"]:
            fine &= one["dtype"] in wire.STORAGE and isinstance(one["shape"], list) and all(type(n) is int for n in one["shape"])
            fine &= (type(one["argument"]) is int and 0 <= one["argument"] < arguments) if "argument" in one else one["octets"].dtype == "uint8"
        if fine and len(told["storages"]) <= 1000:
            return list(told["storages"])
    raise WorkerGarbage("The submission's process told of a launch that is none.")


def written(storages: list[dict[str, Any]], reply: dict[str, Any]) -> list[wire.Array | None]:
    """What a reply says that stands in each memory of a launch; None for an argument that wasn't changed. Raises WorkerGarbage."""
    memory = reply.get("memory")
    if isinstance(memory, list) and len(memory) == len(storages):
        fits = [(now is None and "argument" in told) or (isinstance(now, wire.Array) and now.dtype == "uint8"
                and ("argument" in told or now.data.nbytes == told["octets"].data.nbytes)) for told, now in zip(storages, memory, strict=True)]
        if all(fits):
            return memory
    raise WorkerGarbage("The process that runs the submission's kernels sent a reply of no known form: a kernel wrote over what isn't its own.")


def not_triton(said: dict[str, Any]) -> dict[str, Any]:
    """What a compiler has against a kernel, in the form of what a kernel raises."""
    told = scrub.one_line(str(said.get("message")), 300).rstrip(".")
    return failure({**said, "type": "NotTriton", "bases": ["Exception"], "message": f"Triton's interpreter runs the kernel and its compiler refuses it: {told}. No GPU would run it"})


def failure(said: Any) -> dict[str, Any]:
    """What a kernel raised, in the form in which it goes back to the submission."""
    told = said if isinstance(said, dict) else {}
    bases = told.get("bases")
    return {"type": scrub.one_line(str(told.get("type")), 100), "bases": [str(base)[:100] for base in bases[:20]] if isinstance(bases, list) else [],
            "message": str(told.get("message"))[:4000], "line": told.get("line") if type(told.get("line")) is int else None}


def holds(dtype: str, octets: np.ndarray, array: wire.Array) -> bool:
    """Whether an array's values are among those of a memory, bit for bit, or rounded once to the array's dtype."""
    item = np.dtype(wire.STORAGE[dtype]).itemsize
    stored = np.frombuffer(octets.tobytes()[: octets.nbytes // item * item], dtype=wire.STORAGE[dtype])
    if dtype != array.dtype:
        if not {dtype, array.dtype} <= {"float16", "bfloat16", "float32", "float64"}:
            return False
        wide = wire.widen(stored) if dtype == "bfloat16" else stored
        with np.errstate(over="ignore"):
            stored = wire.narrow(wide) if array.dtype == "bfloat16" else wide.astype(wire.STORAGE[array.dtype])
    bits = f"u{stored.dtype.itemsize}" if stored.dtype.itemsize <= 8 else "u1"
    there, wanted = (np.ascontiguousarray(x).reshape(-1).view(bits) for x in (stored, array.data))
    if there.size == wanted.size:
        return bool((np.sort(there) == np.sort(wanted)).all())
    values, counts = np.unique(wanted, return_counts=True)
    held, often = np.unique(there, return_counts=True)
    at = np.searchsorted(held, values)
    found = at < held.size
    return bool(found.all() and (held[at] == values).all() and (often[at] >= counts).all())
