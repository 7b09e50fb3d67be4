"""The untrusted side: one file (beside ``wire.py`` and ``sentry.py``) that loads a submission, computes, and replies. It knows no check and no answer.

Started as ``python -I -S worker.py SETTINGS`` with SETTINGS a JSON file: ``wire`` (the two file descriptors), ``path`` (entries for
sys.path), ``imports`` (what to import before the submission arrives), ``framework``, ``device``, ``home`` (a private folder), ``data_bytes`` (limit or null).
Whatever this process says is only what a submission computed: the host believes no verdict, time or size from here.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import os
import resource
import signal
import sys

SETTINGS = {}
if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as settings_file:
        SETTINGS = json.load(settings_file)
    sys.path += SETTINGS["path"]

import importlib.util
import inspect
import linecache
import opcode
import types
from typing import Any

import numpy as np

if not __package__:  # isolated mode leaves this folder off the path
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import confine
    import devices
    import fence
    import frontend
    import offlimits
    import relaunch
    import sentry
    import wire
    import world

    del sys.path[0]
else:
    from . import confine, devices, fence, frontend, offlimits, relaunch, sentry, wire, world

TEXT_CAP = 4000
WIDE = 10_000  # items of a list that travel one by one
NAMES_CAP = 500  # of a file that are told
PIECE = 1 << 16
LIBC = ctypes.CDLL(None) if sys.platform != "win32" else None
torch: Any = None  # set by `main` where the exercise asks for it


class NoGradient(Exception):
    """A result that carries no graph where a gradient was asked."""


# ---------------------------------------------------------------- values in


class Argument:
    """An argument as built for a call, with the buffer that shows afterwards whether it was changed."""

    def __init__(self, array: wire.Array, framework: str, device: str):
        self.sent = array
        self.base = self.build(array)
        self.before = self.base.tobytes()
        view = self.view(self.base, array)
        if framework == "torch" and array.kind != "ndarray":
            self.value = self.as_tensor(view, array, device)
        else:
            self.value = view[()] if array.kind == "scalar" else view
        self.device = device

    @staticmethod
    def build(array: wire.Array) -> np.ndarray:
        """A flat buffer: guard, rows (each followed by its gap), guard; poisoned outside the values."""
        if not array.extra:
            return array.data.reshape(-1)  # a copy already, and nobody else's
        guard, gap, order = (array.extra.get(key) for key in ("guard", "gap", "order"))
        guard, gap = guard or 0, gap or 0
        data = array.data.transpose(order) if order else array.data
        rows = np.ascontiguousarray(data).reshape(math.prod(data.shape[:-1]), data.shape[-1] if data.ndim else 1)
        base = np.empty(2 * guard + rows.shape[0] * (rows.shape[1] + gap), dtype=array.data.dtype)
        base[:] = poison(array.dtype)
        inner = base[guard : base.size - guard].reshape(rows.shape[0], rows.shape[1] + gap)
        inner[:, : rows.shape[1]] = rows
        return fence.at_page_end(base) if array.extra.get("edge") else base

    @staticmethod
    def view(base: np.ndarray, array: wire.Array) -> np.ndarray:
        if not array.extra:
            return base.reshape(array.data.shape)
        guard, gap, order = (array.extra.get(key) for key in ("guard", "gap", "order"))
        guard, gap = guard or 0, gap or 0
        shape = tuple(np.array(array.data.shape, dtype=int)[order]) if order else array.data.shape
        if not shape:
            return base[guard : guard + 1].reshape(())
        inner = base[guard : base.size - guard].reshape(*shape[:-1], shape[-1] + gap)[..., : shape[-1]]
        return inner.transpose(np.argsort(order)) if order else inner

    def as_tensor(self, view: np.ndarray, array: wire.Array, device: str):
        if array.dtype == "bfloat16":
            flat = torch.from_numpy(self.base.view(np.int16)).view(torch.bfloat16)
        else:
            flat = torch.from_numpy(self.base)
        self.flat = flat = devices.put(flat, device)
        if not array.extra:
            return flat.view(view.shape)
        offset = (view.__array_interface__["data"][0] - self.base.__array_interface__["data"][0]) // self.base.itemsize if view.size else 0
        return torch.as_strided(flat, view.shape, [s // self.base.itemsize for s in view.strides], offset)

    def overwrite(self, octets: bytes, unseen: bool = False) -> None:
        """Other values in the very same memory, as a caller writes them who uses a buffer again; ``unseen``, past the framework."""
        values = np.frombuffer(octets, dtype=self.base.dtype).copy()
        if not hasattr(self, "flat") or (unseen and self.device == "cpu"):
            self.base[:] = values
            return
        with torch.no_grad():  # by the tensor itself, so that its version counts up
            self.flat.copy_(torch.from_numpy(values.view(np.int16)).view(torch.bfloat16) if self.sent.dtype == "bfloat16" else torch.from_numpy(values))

    def begin(self) -> None:
        """The call begins: what is to be seen of the argument from outside stays as it is now."""
        self.facts = shown(self.value)

    def changed(self) -> bool:
        if shown(self.value) != self.facts:
            return True
        now = self.base
        if self.device != "cpu" and hasattr(self, "flat"):
            back = self.flat.detach().cpu()
            now = back.view(torch.int16).numpy() if self.sent.dtype == "bfloat16" else back.numpy()
        if now.nbytes <= PIECE:
            return now.tobytes() != self.before
        octets = now.reshape(-1).view(np.uint8)
        pieces = range(0, octets.size, PIECE)  # piece by piece: a copy of it all would count as the submission's memory
        return any(octets[at : at + PIECE].tobytes() != self.before[at : at + PIECE] for at in pieces)


def shown(value):
    """What an argument is beside its numbers: a function that turns an axis of its caller's own tensor in place, or locks his array, has changed it."""
    if type(value) is np.ndarray:
        return value.shape, value.strides, value.dtype, value.flags.writeable
    if torch is not None and type(value) is torch.Tensor:
        return value.shape, value.stride(), value.storage_offset(), value.dtype, value.requires_grad, value.is_leaf
    return None


def poison(dtype: str):
    """What lies between and around the values: NaN for floats, an unlikely number for the rest."""
    if dtype == "bfloat16":
        return 0x7FC0
    return np.nan if dtype.startswith(("float", "complex")) else (True if dtype == "bool" else 77)


def build(value, framework, device, arguments):
    """A decoded value as the submission gets it; arrays are noted in ``arguments``."""
    if isinstance(value, wire.Array):
        argument = Argument(value, framework, device)
        arguments.append(argument)
        return argument.value
    if isinstance(value, wire.Generator):
        if value.kind == "torch":
            return torch.Generator(device=device).manual_seed(value.seed)
        return np.random.Generator(np.random.PCG64(value.seed))
    if isinstance(value, wire.Device):
        return torch.device(value.name)
    if isinstance(value, (tuple, list)):
        return type(value)(build(item, framework, device, arguments) for item in value)
    if isinstance(value, dict):
        return {key: build(item, framework, device, arguments) for key, item in value.items()}
    return value


# ---------------------------------------------------------------- values out


def plain(value, depth=0):
    """A result as something the wire carries; what has no place on it becomes Opaque, by the name of its type. What a value says of its class is not asked."""
    kind = type(value)
    if value is None or kind in (bool, float, str):
        return value
    if kind is int:
        return value if abs(value) < 1 << 64 else wire.Opaque(f"int of {value.bit_length()} bits")
    if depth < 6 and issubclass(kind, (tuple, list)):
        base = tuple if issubclass(kind, tuple) else list
        if base.__len__(value) > WIDE:
            return wire.Opaque(f"{base.__name__} of {base.__len__(value)} items")
        return base(plain(item, depth + 1) for item in base.__iter__(value))
    if depth < 6 and kind is dict:
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if issubclass(kind, np.generic):
        return array_out(np.asarray(np.float64(value) if kind is np.longdouble else value), "scalar")  # the wire has no longer float, and a number is a number
    if issubclass(kind, float):
        return float.__float__(value)
    if issubclass(kind, int):
        return plain(int.__index__(value))
    if kind is np.ndarray:  # what is derived from it computes in its own way, and may run code whenever somebody looks at it
        return array_out(value, "ndarray")
    if torch is not None and kind in (torch.Tensor, torch.nn.Parameter):
        return tensor_out(value)
    return wire.Opaque(kind.__name__)


def carried(shape):
    """Whether the wire carries an array of that shape."""
    return len(shape) <= wire.AXES_CAP and all(size <= wire.PAYLOAD_CAP for size in shape)


def array_out(array, kind):
    name = array.dtype.newbyteorder("=").name
    if name not in wire.STORAGE or array.nbytes > wire.PAYLOAD_CAP or not carried(array.shape):
        return wire.Opaque(f"ndarray of {name}, shape {array.shape}")
    return wire.Array(array.astype(wire.STORAGE[name], copy=False), name, kind, {"contiguous": bool(array.flags.c_contiguous)})


def tensor_out(value):
    facts = {"requires_grad": bool(value.requires_grad), "device": devices.kind(value)}
    name = str(value.dtype).removeprefix("torch.")
    if value.layout is not torch.strided or name not in wire.STORAGE or value.is_meta or value.numel() * value.element_size() > wire.PAYLOAD_CAP or not carried(value.shape):
        return wire.Opaque(f"{str(value.layout).removeprefix('torch.')} tensor of {name}, shape {tuple(value.shape)}")
    facts["contiguous"] = bool(value.is_contiguous())
    held = value.detach().resolve_conj().resolve_neg().cpu().contiguous()
    data = held.view(torch.int16).numpy().view(np.uint16) if name == "bfloat16" else held.numpy()
    return wire.Array(data, name, "tensor", facts)


def describe(error, path):
    """An exception of the submission in plain words: its type, the built-in types it is one of, message and line."""
    line, inner, frames = None, getattr(error, "line_of_kernel", None), error.__traceback__
    while frames is not None:
        if frames.tb_frame.f_code.co_filename == path:
            line = frames.tb_lineno
        frames = frames.tb_next
    line = inner if type(inner) is int else line
    try:
        message = str(error)[:TEXT_CAP]
    except BaseException:
        message = "(its message can't be shown)"
    if isinstance(error, SyntaxError):
        line = error.lineno or line
    bases = [base.__name__ for base in type(error).__mro__ if base.__module__ in ("builtins", __name__, "torch")]
    if "NotImplementedError" in bases and not by_a_statement(error.__traceback__):
        bases.remove("NotImplementedError")  # torch's word for a dtype or a device that a kernel doesn't know: nobody's stub
    return {"type": type(error).__name__[:100], "bases": bases[:20], "message": message, "line": line}


def by_a_statement(frames):
    """Whether an exception comes out of a ``raise`` of Python's, and not out of a call into a library."""
    while frames is not None and frames.tb_next is not None:
        frames = frames.tb_next
    return frames is None or opcode.opname[frames.tb_frame.f_code.co_code[frames.tb_lasti]] in ("RAISE_VARARGS", "RERAISE")


# ---------------------------------------------------------------- the submission


class Session:
    """One loaded submission and what was kept of its results."""

    def __init__(self, framework="numpy", device="cpu", home="/tmp"):
        self.framework, self.device, self.home = framework, device, home
        self.module, self.path, self.running = None, "", [""]
        self.kept, self.given, self.objects, self.kernels = {}, {}, {}, sentry.Kernels()
        self.entered, self.heats, self.finished = (), [], []
        self.pipe, self.question, self.rebuilt, self.made, self.reader = None, None, None, {}, frontend.Reader()
        self.world = world.World(torch)

    def handle(self, message):
        """The reply to one message of the host."""
        reply = {"id": message.get("id")}
        self.question = message.get("id")
        operation = getattr(self, "op_" + str(message.get("op")), None)
        try:
            reply.update(operation(message) if operation else {"raised": {"type": "Protocol", "bases": [], "message": "no such operation", "line": None}})
        except BaseException as error:  # SystemExit and KeyboardInterrupt too: a submission raised them
            reply["raised"] = describe(error, self.path)
        return reply

    def op_load(self, message):
        name, source = message["module"], message["source"]
        self.path = os.path.join(self.home, name + ".py")
        with contextlib.suppress(OSError), open(self.path, "w", encoding="utf-8", newline="") as file:  # where bubblewrap is refused nothing can be written
            file.write(source)
        offlimits.Guard(message["modules"], message["names"], message["paths"], self.device, message.get("within")).install(self.running)
        module = types.ModuleType(name)
        module.__file__ = self.path
        module.__loader__ = importlib.util.spec_from_file_location(name, self.path).loader
        self.module = sys.modules[name] = module
        linecache.cache[self.path] = (len(source), None, source.splitlines(keepends=True), self.path)
        self.kernels.watch(self.path)
        self.kernels.relay = self.relayed if message.get("relay") else None
        exec(compile(source, self.path, "exec", dont_inherit=True), module.__dict__)
        return {"defines": self.defined(message.get("functions", ()))}

    def defined(self, asked):
        """What of the exercise is there, and then what else the submission made itself: a module imported by * may bring a thousand names."""
        there = vars(self.module)
        first = [name for name in asked if name in there]
        own = [name for name, value in there.items() if not name.startswith("__") and getattr(value, "__module__", None) == self.module.__name__]
        return {name: self.sort(there[name]) for name in [*first, *own[:NAMES_CAP]]}

    def relayed(self, told):
        """Send a launch to the host in the middle of a call, and wait for what came of it."""
        receive, send = self.pipe
        write_frame(send, wire.pack({"id": self.question, "launch": told}))
        return read_message(receive)

    def op_rebuild(self, message):
        """Make ready to run a kernel of a submission that was never loaded here: its arguments, its memory, its code."""
        arguments = []
        build(message["arguments"], self.framework, self.device, arguments)
        self.rebuilt = relaunch.Rebuilt(message["launch"], [getattr(argument, "flat", None) for argument in arguments], fence.MARGIN, self.made)
        return self.op_settle(message)

    def op_run(self, message):
        """Run it once: what it wrote, and past which memories; or what it raised."""
        rebuilt, self.rebuilt = self.rebuilt, None
        failed = rebuilt.run(message.get("visited"))
        return {"failed": failed} if failed else {"memory": rebuilt.written(), "spilled": rebuilt.spilled(), "overlap": rebuilt.programs.overlap}

    def op_fit(self, message):
        """Make ready to read kernels."""
        self.reader.ready()
        return {}

    def op_read(self, message):
        """What a compiler for a GPU has against a kernel of a submission that was never loaded here."""
        return self.reader.read(message["launch"])

    @staticmethod
    def sort(value):
        return "class" if inspect.isclass(value) else "function" if callable(value) else "value"

    def called(self, name):
        """What is to be called; some things are off limits in some functions alone."""
        self.running[0] = name
        return getattr(self.module, name)

    def op_call(self, message):
        return self.compute(self.called(message["name"]), message)

    def op_new(self, message):
        return self.compute(self.called(message["name"]), message, keep_object=message["object"])

    def op_invoke(self, message):
        return self.compute(self.objects[message["object"]], message)

    def op_state(self, message):
        module = self.objects[message["object"]]
        if not isinstance(module, torch.nn.Module):
            raise TypeError(f"{type(module).__name__} is no torch.nn.Module")
        read = torch.nn.Module.state_dict if message["part"] == "state" else torch.nn.Module.named_parameters  # what it holds, and not what it says
        return {"value": plain(dict(read(module)))}

    def op_train(self, message):
        torch.nn.Module.train(self.objects[message["object"]], message["mode"])
        return {}

    def op_install(self, message):
        module = self.objects[message["object"]]
        fresh = build(message["state"], "torch", self.device, [])
        own = dict(torch.nn.Module.named_parameters(module))
        with torch.no_grad():
            for name, value in fresh.items():
                own[name].data = value.clone()
        return {}

    def op_reread(self, message):
        return {"value": plain(self.kept[message["kept"]])}

    def op_scribble(self, message):
        for leaf in leaves(self.kept[message["kept"]]):
            scribble(leaf)
        return {"shared": written_in(*self.given[message["kept"]])}

    def op_hold(self, message):
        """Build arguments as for a call, and call nothing."""
        build(message["args"], self.framework, self.device, [])
        return {}

    def op_settle(self, message):
        """What earlier calls have freed in small pieces goes back too: a call that used it again would seem to take nothing."""
        if hasattr(LIBC, "malloc_trim"):
            LIBC.malloc_trim(0)
        return {}

    def op_line_up(self, message):
        """Inputs of timed calls, none like another: the tensors that were sent first, each turned along an axis by an amount of its own."""
        if message["args"]:
            self.entered = [build(value, self.framework, self.device, []) for value in message["args"]]
        self.finished = self.heats = []
        self.heats = [[torch.roll(tensor, turn, message["axis"]) for tensor, turn in zip(self.entered, turns, strict=True)] for turns in message["turns"]]
        devices.flush(self.device)
        devices.wait(self.device)
        return {}

    def op_lap(self, message):
        """Every call that was lined up, and wait for the device. The host holds the watch."""
        function = self.called(message["name"])
        self.finished = [function(*heat, **message["kwargs"]) for heat in self.heats]
        devices.wait(self.device)
        return {}

    def op_samples(self, message):
        """Of the n-th timed call's results what stands at a place, for each (n, place) that the host drew after the lap."""
        return {"value": tuple(tuple(plain(leaf[tuple(place)]) for leaf in leaves(self.finished[call])) for call, place in message["places"])}

    def compute(self, function, message, keep_object=None):
        arguments = []
        owners = []
        args = []
        for position, value in enumerate(message["args"]):
            before = len(arguments)
            args.append(build(value, self.framework, self.device, arguments))
            owners += [position] * (len(arguments) - before)
        kwargs = {}
        for name, value in message["kwargs"].items():
            before = len(arguments)
            kwargs[name] = build(value, self.framework, self.device, arguments)
            owners += [name] * (len(arguments) - before)
        wrt = message.get("wrt")
        inputs = self.graph_inputs(wrt, args, kwargs, message) if wrt is not None else None
        fenced = fence.fence() if message.get("fence") else None
        if message.get("before"):
            self.call_before(function, args, kwargs, arguments, message["before"])
        self.world.before()
        exchange = self.exchanged(arguments, message.get("during"))
        for argument in arguments:
            argument.begin()
        with self.kernels.call(bool(message.get("decoy")), arguments, fenced, exchange), fenced or contextlib.nullcontext():
            value = function(*args, **kwargs)
        reply = {"touched": self.world.touched(), "mutated": written_in(owners, arguments)}
        if keep_object is not None:
            self.objects[keep_object] = value
            return {**reply, "value": wire.Opaque(message["name"])}  # the name that was asked for: a misconception stands in under its own
        if message.get("kept") is not None:
            self.kept[message["kept"]], self.given[message["kept"]] = value, (owners, arguments)
        reply["value"] = plain(value)
        reply["launches"], reply["device_bytes"] = self.kernels.told(), self.kernels.device_bytes
        reply["left"] = [tensor_out(tensor) for tensor in self.kernels.left]
        reply["spilled"] = [str(shape) for shape in fenced.spilled()] if fenced else []
        if inputs is not None:
            reply["grads"] = self.pull_back(value, inputs, message)
        return reply

    def call_before(self, function, args, kwargs, arguments, before):
        """The same call on the same objects while they hold other values: whoever remembers objects and not what is in them shows."""
        for argument, _, other in self.exchanged(arguments, before):
            argument.overwrite(other)
        with self.kernels.call(False, arguments, early=True):
            function(*args, **kwargs)
        for argument in arguments:
            argument.overwrite(argument.before)

    def exchanged(self, arguments, values):
        """Each argument for which other values were sent, with its own octets and with the others."""
        others = []
        build(values, self.framework, self.device, others)
        return [(argument, argument.before, other.before) for argument, other in zip(arguments, others, strict=False)]

    def graph_inputs(self, wrt, args, kwargs, message):
        own = dict(torch.nn.Module.named_parameters(self.objects[message["object"]])) if "object" in message else {}
        inputs = []
        for place in wrt:
            given = args[place] if isinstance(place, int) else kwargs[place] if place in kwargs else own[place]
            inputs += [tensor.requires_grad_(True) for tensor in leaves(given)]  # a tuple of tensors is as many inputs
        return inputs

    def pull_back(self, value, inputs, message):
        outputs = [leaf for leaf in leaves(value) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()]
        cotangents = build(message["cotangent"], "torch", self.device, [])
        cotangents = list(cotangents) if isinstance(cotangents, (tuple, list)) else [cotangents]
        pairs = [(out, up) for out, up in zip(outputs, cotangents, strict=False) if up is not None]
        if not pairs or not all(out.requires_grad for out, _ in pairs):
            raise NoGradient("the result is detached from its arguments: no gradient flows back")
        # A scalar's gradient is the same pull-back; a cotangent handed to `grad` would import sympy: 0.3 s, and memory charged to the first caller.
        total = sum((out * up.to(out.dtype).reshape(out.shape)).sum() for out, up in pairs)
        grads = torch.autograd.grad(total, inputs, allow_unused=True)
        return tuple(plain(grad) for grad in grads)


def written_in(owners, arguments):
    """Positions and names of the arguments that are no longer what was sent."""
    return sorted({str(owner) for owner, argument in zip(owners, arguments, strict=True) if argument.changed()})


def leaves(value):
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def scribble(leaf):
    """Overwrite a result in place, as a caller may who was handed a result of his own; one that is locked against it is unlocked first."""
    try:
        if torch is not None and isinstance(leaf, torch.Tensor):
            with torch.inference_mode() if leaf.is_inference() else torch.no_grad():
                leaf.logical_not_() if leaf.dtype is torch.bool else leaf.detach().fill_(77)
        elif isinstance(leaf, np.ndarray):
            leaf.flags.writeable = True
            leaf[...] = ~leaf if leaf.dtype == bool else 77
    except (RuntimeError, ValueError):
        pass  # an expanded view can't be written in place


# ---------------------------------------------------------------- the loop


def read_exactly(fd, size):
    pieces = bytearray()
    while len(pieces) < size:
        piece = os.read(fd, min(size - len(pieces), 1 << 20))
        if not piece:
            os._exit(0)
        pieces += piece
    return pieces


def read_message(fd):
    header, payload = wire.lengths(bytes(read_exactly(fd, wire.PREFIX.size)))
    return wire.unpack(bytes(read_exactly(fd, header)), read_exactly(fd, payload))


def write_frame(fd, frame):
    left = wire.Left(frame)
    while left:
        left.write(fd)


def as_written(model=None, **options):
    """What ``torch.compile`` comes to here: no compiler can be started in the jail, and what it compiles computes the same as what is written."""
    return model if model is not None else lambda function: function


def give_memory_back():
    """What is large goes back when it is freed, so that the high-water mark tells of one call alone."""
    if hasattr(LIBC, "mallopt"):
        LIBC.mallopt(-3, 1 << 20)  # M_MMAP_THRESHOLD, which otherwise grows


def limit(data_bytes, processes):
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: die with the host
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
    if data_bytes:
        resource.setrlimit(resource.RLIMIT_DATA, (data_bytes, data_bytes))
    if processes:
        resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))


def main():
    global torch
    receive, send = SETTINGS["wire"]
    for fd in (receive, send):
        os.set_inheritable(fd, False)
    give_memory_back()
    limit(SETTINGS["data_bytes"], SETTINGS["processes"])
    os.chdir(SETTINGS["home"])
    walls = shut_in(SETTINGS["landlock"])
    for name in SETTINGS["imports"]:
        __import__(name)
    torch = sys.modules.get("torch")
    if torch is not None:
        import torch.nn.functional
        as_written.__module__, torch.compile = "torch", as_written  # where it is off limits, the file that makes another isn't run again
    if SETTINGS["filter"] and confine.filter_calls(read_only=SETTINGS["landlock"] is not None):
        walls["filter"] = True
    session = Session(SETTINGS["framework"], SETTINGS["device"], SETTINGS["home"])
    session.pipe = receive, send
    write_frame(send, wire.pack({"id": 0, "walls": walls}))
    while True:
        serve(session, receive, send)


def shut_in(reach):
    """The walls that stand before anything is imported, so that every thread is inside."""
    confine.no_new_privileges()
    if reach is None:
        return {"landlock": 0, "filter": False}
    confine.drop_capabilities()
    return {"landlock": confine.landlock(reach["read"], reach["write"], reach["hidden"]), "filter": False}


def serve(session, receive, send):
    """Answer one message. A reply that is too large for a frame is told as such."""
    message = read_message(receive)
    reply = session.handle(message)
    with contextlib.suppress(BaseException):  # the stream is the submission's by now
        sys.stdout.flush()
    try:
        frame = wire.pack(reply)
    except wire.WireError as error:
        frame = wire.pack({"id": message.get("id"), "raised": {"type": "ResultTooLarge", "bases": [], "message": str(error), "line": None}})
    write_frame(send, frame)


if __name__ == "__main__":
    main()
