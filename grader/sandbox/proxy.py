"""What a check sees of a submission: functions and modules that live in a worker, and a record of every call."""

from __future__ import annotations

import contextlib
import functools
import itertools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from . import wire
from .errors import DeviceLost, Raised, WorkerGarbage, lost
from .host import Worker, raise_if_raised

if TYPE_CHECKING:
    from .gauge import Gauge, Watched
    from .race import Race
    from .sibling import Relay, Sibling

RECORD_CAP = 8 << 20  # a call with more bytes than this is not kept for the diagnosis
RECORDS_CAP = 128 << 20  # nor is any call after this many bytes in all


@dataclass(frozen=True)
class Call:
    """One recorded call: what was asked of which function, and what came back (a value, or what it raised)."""

    function: str
    message: dict[str, Any]
    value: Any = None
    raised: Raised | None = None
    grads: tuple[Any, ...] | None = None
    mutated: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()
    launches: tuple[dict[str, Any], ...] = ()
    spilled: tuple[str, ...] = ()
    device_bytes: int = 0
    seen_bytes: int | None = None
    as_written: tuple[bool, ...] = ()  # for each array of the value, whether a kernel left it so; empty where that isn't known
    check: str = ""
    seconds: float = 0.0
    peak_bytes: int = 0
    kernel_bytes: int = 0  # of these, what running its kernels apart took, beside what they are handed
    weighed: bool = False  # whether a check asked for its memory: elsewhere growth may be a library that was imported on the way
    object: int | None = None
    replayable: bool = True


@dataclass
class Result:
    """An array that a submission returned, as the host sees it."""

    array: np.ndarray
    dtype: str
    kind: str
    facts: dict[str, Any] = field(default_factory=dict)
    call: Call | None = None
    kept: int | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape as a tuple."""
        return self.array.shape

    @property
    def device(self) -> str:
        """The device's type: cpu or cuda."""
        return str(self.facts.get("device", "cpu"))

    @property
    def requires_grad(self) -> bool:
        """Whether the tensor carried a graph."""
        return bool(self.facts.get("requires_grad"))

    @property
    def contiguous(self) -> bool:
        """Whether it lay contiguously in the worker's memory."""
        return bool(self.facts.get("contiguous"))

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.array if dtype is None else self.array.astype(dtype)


def received(value: Any, call: Call | None = None, kept: int | None = None) -> Any:
    """A value off the wire as checks see it: arrays become Results, bfloat16 widened to float32."""
    if isinstance(value, wire.Array):
        data = wire.widen(value.data) if value.dtype == "bfloat16" else value.data
        return Result(data, value.dtype, value.kind, dict(value.extra), call, kept)
    if isinstance(value, (tuple, list)):
        return type(value)(received(item, call, kept) for item in value)
    if isinstance(value, dict):
        return {key: received(item, call, kept) for key, item in value.items()}
    return value


def tensor(values: Any, dtype: str | None = None, *, order: tuple[int, ...] | None = None, gap: int = 0, guard: int = 0, edge: bool = False,
           kind: str = "tensor") -> wire.Array:
    """An array argument with a dtype and a layout (see grader/README.md). Values are rounded to ``dtype`` once, here."""
    array = np.asarray(values)
    name = dtype or name_of(array.dtype)
    data = wire.narrow(array) if name == "bfloat16" else np.ascontiguousarray(array).reshape(array.shape).astype(wire.STORAGE[name])
    extra: dict[str, Any] = {key: value for key, value in (("gap", gap), ("guard", guard), ("edge", edge)) if value}
    if order is not None:
        extra["order"] = [int(axis) for axis in order]
    return wire.Array(data, name, kind, extra)


@functools.lru_cache(maxsize=64)
def name_of(dtype: np.dtype[Any]) -> str:
    """A dtype's name whatever its byte order."""
    return str(dtype.newbyteorder("=").name)


def generator(seed: int, kind: str = "numpy") -> wire.Generator:
    """A random generator that the worker builds from a seed."""
    return wire.Generator(int(seed), kind)


def device_arg(name: str) -> wire.Device:
    """A torch device."""
    return wire.Device(name)


def sendable(value: Any) -> Any:
    """An argument of a check as the wire carries it."""
    if isinstance(value, np.ndarray):
        return tensor(value)
    if isinstance(value, np.generic):
        return tensor(value, kind="scalar")
    if isinstance(value, Result):
        return tensor(value.array, value.dtype, kind=value.kind)
    if isinstance(value, (tuple, list)):
        return type(value)(sendable(item) for item in value)
    if isinstance(value, Mapping):
        return {str(key): sendable(item) for key, item in value.items()}
    return value


def weight(value: Any) -> int:
    """Bytes of the arrays in a value."""
    if isinstance(value, wire.Array):
        return value.data.nbytes
    if isinstance(value, (tuple, list)):
        return sum(weight(item) for item in value)
    return sum(weight(item) for item in value.values()) if isinstance(value, dict) else 0


class Submission:
    """The proxy. Every attribute is a function (or class) of the submission; see grader/README.md for the options.

    With a ``tongue`` (grading/variants.py) the worker is asked, and answers, in other conventions than the checks; what is recorded is the checks'.
    """

    def __init__(self, worker: Worker, defines: Mapping[str, str] | None = None, tongue: Any = None):
        self._worker = worker
        self._defines = defines
        self._tongue = tongue
        self._spoken: dict[int, Any] = {}  # how a kept result is to be read
        self._numbers = itertools.count(1)
        self.calls: list[Call] = []
        self._recorded = 0
        self.check = ""
        self.last: Call | None = None
        self.gauge: Gauge | None = None  # set by whoever starts workers on a device
        self.sibling: Sibling | None = None  # who runs its kernels, where they don't run on a device
        self.rival: Callable[[], Worker] | None = None  # a trusted worker with the reference, to race against
        self.replayable = True  # whether the diagnosis, on a CPU, can ask again what is asked now

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self._defines is not None and name not in self._defines:
            raise missing(name, self._defines)
        if self._defines is not None and self._defines[name] == "class":
            return lambda *args, **kwargs: self._construct(name, args, kwargs)
        return lambda *args, **kwargs: self._call({"op": "call", "name": name}, name, args, kwargs)[0]

    def vjp(self, name: str, *args: Any, wrt: tuple[Any, ...], cotangent: Any, **kwargs: Any) -> tuple[Any, tuple[Any, ...]]:
        """The result of a call and the gradients of its arguments ``wrt`` for the host's cotangent."""
        if self._defines is not None and name not in self._defines:
            raise missing(name, self._defines)
        message = {"op": "call", "name": name, "wrt": list(wrt), "cotangent": sendable(cotangent)}
        return self._call(message, name, args, kwargs)

    def _construct(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> RemoteModule:
        number = next(self._numbers)
        self._call({"op": "new", "name": name, "object": number}, name, args, kwargs, number)
        return RemoteModule(self, name, number)

    def _call(self, message: dict[str, Any], function: str, args: tuple[Any, ...], kwargs: dict[str, Any], number: int | None = None) -> tuple[Any, Any]:
        keep = next(self._numbers) if kwargs.pop("_keep", False) else None
        decoy, fence, gauged, examined = (bool(kwargs.pop(option, False)) for option in ("_decoy", "_fence", "_gauged", "_examined"))
        before, during = sendable(kwargs.pop("_before", None)), sendable(kwargs.pop("_during", None))
        message = {**message, "args": sendable(args), "kwargs": sendable(kwargs), "kept": keep, "decoy": decoy, "fence": fence, "before": before, "during": during}
        speech = self._tongue.speech(message) if self._tongue is not None else None
        sent = speech.out(message) if speech is not None else message
        self._worker.wait_ready()
        resident, started = self._worker.mark_memory(), time.monotonic()
        relay = self._relay(sent, examined)
        with self._gauged(gauged) as seen:
            reply = self._worker.ask(sent if relay is None else {**sent, "during": None, "decoy": False}, relay)
        call = Call(
            function, message, check=self.check, seconds=time.monotonic() - started, peak_bytes=max(0, self._worker.peak_bytes() - resident),
            seen_bytes=seen.growth if seen is not None else None,
            mutated=_words(reply.get("mutated")), touched=_words(reply.get("touched")), launches=_launches(reply.get("launches")),
            spilled=_words(reply.get("spilled")), device_bytes=_count(reply.get("device_bytes")), object=number,
            replayable=self.replayable and not decoy and during is None and weight(message["args"]) + weight(reply.get("value")) < RECORD_CAP,
        )
        if relay is not None:  # the host's own eyes, and not the worker's word
            call = replace(call, launches=tuple(relay.launches), spilled=tuple(relay.spilled), mutated=tuple(sorted({*call.mutated, *relay.mutated})),
                           peak_bytes=call.peak_bytes + relay.growth, kernel_bytes=relay.growth, as_written=relay.as_written(reply.get("value")))
        elif reply.get("left"):
            call = replace(call, as_written=self._as_left(reply))
        try:
            raise_if_raised(reply, function)
        except Raised as raised:
            self._note(replace(call, raised=raised))
            if self._worker.plan.device != "cpu" and (stopped := lost(raised)):
                self._worker.give_up(DeviceLost(function, stopped))
            raise
        if speech is not None:
            reply = speech.home(reply, message)
            self._spoken |= {keep: speech} if keep is not None else {}
        grads = reply.get("grads")
        call = replace(call, value=reply.get("value"), grads=grads if isinstance(grads, tuple) else None)
        self._note(call)
        return received(call.value, call, keep), received(call.grads, call) if call.grads is not None else ()

    def _relay(self, sent: dict[str, Any], examined: bool) -> Relay | None:
        """Who takes the launches of a call, where they are run apart."""
        if self.sibling is None:
            return None
        from .sibling import Relay

        return Relay(self.sibling, sent, self._worker.deadline, examined)

    @staticmethod
    def _as_left(reply: dict[str, Any]) -> tuple[bool, ...]:
        """The same as a relay's ``as_written`` by the worker's word, where kernels run on a device."""
        from .sibling import holds

        left = [(array.dtype, array.data.reshape(-1).view(np.uint8)) for array in wire.arrays(reply.get("left")) if array.data.size]
        return tuple(any(holds(dtype, octets, array) for dtype, octets in left) for array in wire.arrays(reply.get("value")))

    def _gauged(self, asked: bool) -> contextlib.AbstractContextManager[Watched | None]:
        if not asked or self.gauge is None:
            return contextlib.nullcontext()
        from .gauge import watching

        return watching(self.gauge, self._worker.process_ids())

    def race(self, name: str, *arrays: np.ndarray | wire.Array, axis: int, depth: int, rng: np.random.Generator, **kwargs: Any) -> Race | None:
        """How fast a function is beside the reference's, on tensors of one shape along ``axis`` (see race.py). None where there is nothing to race against."""
        if self._defines is not None and name not in self._defines:
            raise missing(name, self._defines)
        if self.rival is None or self._tongue is not None:
            return None
        from .race import NoRival, run

        try:
            return run(self._worker, self.rival(), name, list(sendable(arrays)), axis=axis, depth=depth, rng=rng, kwargs=kwargs)
        except NoRival:
            return None
        except Raised as raised:
            if stopped := lost(raised):
                self._worker.give_up(DeviceLost(name, stopped))
            raise

    def _note(self, call: Call) -> None:
        self.last = call
        self._recorded += weight(call.message.get("args", ())) + weight(call.value)
        if not call.replayable or self._recorded > RECORDS_CAP:
            call = replace(call, value=None, grads=None, message={"op": call.message["op"]}, replayable=False)
        self.calls.append(call)

    @staticmethod
    def of(result: Any) -> Call:
        """The recorded call behind a result (the first array in it)."""
        if isinstance(result, Result) and result.call is not None:
            return result.call
        if isinstance(result, (tuple, list)):
            for item in result:
                return Submission.of(item)
        raise TypeError("this result carries no recorded call: it holds no array")

    def mutated(self, result: Any = None) -> tuple[str, ...]:
        """Positions and names of the arguments whose bytes changed during the call (of the last call, if none is given)."""
        return self._record(result).mutated

    def touched(self, result: Any = None) -> tuple[str, ...]:
        """Global state that changed during the call."""
        return self._record(result).touched

    def launches(self, result: Any = None) -> tuple[dict[str, Any], ...]:
        """Launches of the submission's own Triton kernels during the call."""
        return self._record(result).launches

    def spilled(self, result: Any = None) -> tuple[str, ...]:
        """Shapes of what the call allocated and wrote past (with ``_fence=True``)."""
        return self._record(result).spilled

    def device_bytes(self, result: Any = None) -> int:
        """By how much the call raised the high-water mark of the device's allocator (the worker's word, on a GPU alone)."""
        return self._record(result).device_bytes

    def seen_bytes(self, result: Any = None) -> int | None:
        """The same as the driver told the host while the call ran (with ``_gauged=True``); None where the driver's library isn't to be had."""
        return self._record(result).seen_bytes

    def peak_bytes(self, result: Any = None) -> int:
        """Growth of the worker's resident high-water mark during the call, in bytes, measured by the host."""
        record = self._record(result)
        self.calls = [replace(call, weighed=True) if call is record else call for call in self.calls]
        return record.peak_bytes

    def seconds(self, result: Any = None) -> float:
        """Wall clock of the call at the host."""
        return self._record(result).seconds

    def _record(self, result: Any) -> Call:
        if result is None:
            if self.last is None:
                raise TypeError("no call has been made yet")
            return self.last
        return self.of(result)

    def reread(self, result: Any) -> Any:
        """The value of a kept result (``_keep=True``) as it is in the worker now."""
        value = self._ask({"op": "reread", "kept": _kept(result)})["value"]
        if _kept(result) in self._spoken:
            value = self._spoken[_kept(result)].value(value)
        self._aside(result, "reread", value)
        return received(value)

    def scribble(self, result: Any) -> tuple[str, ...]:
        """Overwrite a kept result in the worker, as its caller may. Positions and names of the call's arguments that changed with it."""
        reply = self._ask({"op": "scribble", "kept": _kept(result)})
        self._aside(result, "scribble", None)
        return _words(reply.get("shared"))

    def weight(self, *args: Any) -> int:
        """By how much the worker grows for these arguments alone, before any function is called."""
        resident = self._worker.mark_memory()
        self._ask({"op": "hold", "args": sendable(args)})
        return max(0, self._worker.peak_bytes() - resident)

    def standing_bytes(self) -> int:
        """What the worker holds now beside what it held before it loaded the submission."""
        return max(0, self._worker.mark_memory() - self._worker.bare_bytes)

    def settle(self) -> None:
        """Have the worker give back what earlier calls have freed, so that the growth of the next one, of the function that was called last, shows whole.

        Files are closed to it from then on: what a call writes there would be in nobody's memory.
        """
        self._ask({"op": "settle"})
        if self._worker.plan.device == "cpu":  # where kernels are compiled their files are needed
            self._worker.close_files()
        self.calls.append(Call(self._record(None).function, {"op": "settle"}, check=self.check))

    def _aside(self, result: Any, op: str, value: Any) -> None:
        """Record what was done with a kept result, so that the diagnosis can do it again."""
        self.calls.append(Call(self.of(result).function, {"op": op, "kept": _kept(result)}, value, check=self.check))

    def _ask(self, message: dict[str, Any], function: str = "") -> dict[str, Any]:
        reply = self._worker.ask(message)
        raise_if_raised(reply, function)
        return {"value": None, **reply}


def missing(name: str, defines: Mapping[str, str]) -> Raised:
    """What a call of a function raises that the file doesn't have."""
    there = sorted(key for key, sort in defines.items() if sort != "value" and not key.startswith("_"))[:12]
    told = f"it defines {', '.join(there)}" if there else "it defines no function at all"
    return Raised({"type": "Missing", "bases": ["NotImplementedError"], "message": f"The file does not define `{name}`; {told}."}, name)


class RemoteModule:
    """An nn.Module of the submission that lives in the worker."""

    def __init__(self, submission: Submission, name: str, number: int):
        self._submission, self._name, self._number = submission, name, number

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._submission._call({"op": "invoke", "object": self._number}, self._name, args, kwargs, self._number)[0]

    def vjp(self, *args: Any, wrt: tuple[Any, ...], cotangent: Any, **kwargs: Any) -> tuple[Any, tuple[Any, ...]]:
        """Gradients for positional inputs (numbers) and parameters (names)."""
        message = {"op": "invoke", "object": self._number, "wrt": list(wrt), "cotangent": sendable(cotangent)}
        return self._submission._call(message, self._name, args, kwargs, self._number)

    def state(self) -> dict[str, Any]:
        """The state dict, name to Result."""
        return self._part("state")

    def parameters(self) -> dict[str, Any]:
        """The named parameters, name to Result."""
        return self._part("parameters")

    def _part(self, part: str) -> dict[str, Any]:
        message = {"op": "state", "object": self._number, "part": part}
        value = self._submission._ask(message, self._name)["value"]
        if not isinstance(value, dict):
            raise WorkerGarbage("The submission's process sent a state that is not one.")
        self._aside(message, value)
        return received(value)

    def train(self, mode: bool) -> None:
        """Put the module into training or into evaluation mode."""
        self._set({"op": "train", "object": self._number, "mode": mode})

    def load(self, state: Mapping[str, Any]) -> None:
        """Set parameters by name."""
        self._set({"op": "install", "object": self._number, "state": sendable(state)})

    def _set(self, message: dict[str, Any]) -> None:
        try:
            self._submission._ask(message, self._name)
        except Raised as raised:
            self._aside(message, raised=raised)
            raise
        self._aside(message)

    def _aside(self, message: dict[str, Any], value: Any = None, raised: Raised | None = None) -> None:
        """Record what was asked of the module beside its calls, so that the diagnosis can ask it again."""
        self._submission.calls.append(Call(self._name, message, value, raised, check=self._submission.check, object=self._number))


def _kept(result: Any) -> int:
    if isinstance(result, (tuple, list)):
        return _kept(result[0])
    if not isinstance(result, Result) or result.kept is None:
        raise TypeError("keep a result by calling with _keep=True")
    return result.kept


def _words(value: Any) -> tuple[str, ...]:
    return tuple(str(item)[:100] for item in value[:64]) if isinstance(value, list) else ()


def _count(value: Any) -> int:
    return value if type(value) is int and value >= 0 else 0


def _launches(value: Any) -> tuple[dict[str, Any], ...]:
    if not isinstance(value, list):
        return ()
    return tuple({"kernel": str(item[0])[:100], "grid": list(item[1]), "fresh_bytes": item[2]} for item in value[:1000]
                 if isinstance(item, tuple) and len(item) == 3 and isinstance(item[1], tuple) and all(type(n) is int for n in (*item[1], item[2])))
