"""Whether a kernel does the work: it is made of Triton alone (the interpreter would run any Python), and is handed nothing that was worked out beforehand.

Runs beside ``sentry.py``. What is refused here would not compile for a GPU, or is not the one fused kernel that was asked for.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import dis
import enum
import functools
import math
import os
import sys
import types
import zlib

import numpy as np

DEPTH = 6
PLAIN = (int, float, str, bool, type(None))
TAME = (len, list, tuple, range, float, int, bool, str, isinstance, hasattr, print, min, max, sum, abs, round, zip, enumerate, slice)  # bound before anybody could replace them
DOORS = (  # the array behind a tensor of the interpreter's, the Python function behind a kernel, frames and what they hold
    "handle", "fn", "run", "rewriter", "rewrite", "gi_frame", "cr_frame", "ag_frame", "tb_frame", "f_back", "f_builtins", "f_globals", "f_locals", "gi_code", "f_code",
)


BY_NAME = ("the interpreter knows Triton's functions by their module alone: write `import triton.language as tl` and `tl.load`, "
           "not `from triton.language import load` (which a compiler for a GPU takes); a function of your own needs @triton.jit")


class NotTriton(Exception):
    """A kernel that reaches something which no compiler for a GPU takes."""


class WorkedOutBefore(Exception):
    """A kernel that is handed what it has to compute."""


def check_launch(kernel, handed):
    """Raise NotTriton where what the interpreter is about to run is not Triton alone."""
    if getattr(kernel, "pre_run_hooks", None):
        raise NotTriton(f"{kernel.__name__} has a hook that runs before it, which is Python and not Triton: a kernel computes from the tensors that it is handed")
    check(runs(kernel), handed)


@contextlib.contextmanager
def named():
    """Says what the interpreter's error means where functions of Triton were imported by their names."""
    try:
        yield
    except Exception as error:
        if "Did you forget to add @triton.jit" in str(error):
            raise NotTriton(BY_NAME) from None
        raise


def runs(kernel):
    """The function that the interpreter runs for a kernel: made anew from its source, so not always the one that was decorated."""
    return kernel.rewrite() if hasattr(kernel, "rewrite") else kernel.fn


def check(function, handed, depth=0, seen=None):
    """Raise NotTriton where a kernel's function, or one that it calls, reaches into Python, or is handed a piece of it."""
    seen = set() if seen is None else seen
    for value in (*handed, *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        if not given(value):
            what = getattr(value, "__name__", None) or f"a {type(value).__name__}"
            raise NotTriton(f"{function.__name__} is handed `{what}`, which is Python's and which no GPU can run: hand it tensors and numbers, and write functions as @triton.jit ones")
    if getattr(function, "__builtins__", vars(builtins)) is not vars(builtins):
        raise NotTriton(f"{function.__name__} has other built-in functions than Python's: it wouldn't compile for a GPU")
    if any(isinstance(value, types.ModuleType) and type(value).__eq__ is not types.ModuleType.__eq__ for value in list(function.__globals__.values())):
        raise NotTriton("a module of the file's compares in a way of its own, and the interpreter compares them: leave it out")
    if function in seen or depth > DEPTH:
        return
    seen.add(function)
    for reached, value in names(function):
        if not native(value):
            raise NotTriton(f"{function.__name__} reaches `{reached}`, which is Python and not Triton: it wouldn't compile for a GPU, whatever the interpreter makes of it")
        inner = value
        while hasattr(inner, "fn"):
            inner, outer = inner.fn, inner
            if isinstance(inner, types.FunctionType) and not of_triton(inner):
                check(runs(outer), (), depth + 1, seen)


def given(value):
    """Whether a kernel may be handed a thing: a tensor of the framework's own, a number, or what it may reach as well."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return type(value) in (torch.Tensor, torch.nn.Parameter) and not vars(value)  # a class of one's own, or a method, runs Python while it is read
    if type(value).__name__ in ("TensorDescriptor", "TensorWrapper") and of_triton(type(value)):
        return given(value.base)
    if type(value) in (tuple, list) or (isinstance(value, tuple) and record(type(value))):
        return all(map(given, value))
    return (isinstance(value, np.generic) and type(value) in np.sctypeDict.values()) or native(value) or enumerated(value)


def names(function):
    """What a function takes from outside: (as it is written, the thing). What is taken out of a module is meant, and not the module."""
    known = {**function.__globals__, **enclosed(function)}
    for name, *parts in taken(function.__code__):
        value, path = known.get(name, getattr(builtins, name, None)), name
        if parts == ["import"]:
            yield f"import {name}", __import__
            continue
        if parts == ["door"]:
            yield f".{name}", vars
            continue
        while parts and isinstance(value, types.ModuleType):
            part = parts.pop(0)
            value, path = getattr(value, part, None), f"{path}.{part}"
        if isinstance(value, types.ModuleType):
            yield f"{path} (a module put aside)", vars  # what is taken out of it later isn't seen
        elif name in known or hasattr(builtins, name):
            yield path, value
            yield from ((f"{path}.{part}", held(value, part)) for part in parts[:1])


def held(value, name):
    """What an object, and not its class, has under a name: nothing where the name is its class's."""
    if hasattr(value, "fn"):
        return vars  # a kernel has nothing to take out of it
    return vars(value).get(name) if hasattr(value, "__dict__") else None


def enclosed(function):
    """What a function takes from the functions around it."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)
    return {name: cell.cell_contents for name, cell in cells if cell != types.CellType()}


@functools.lru_cache(maxsize=256)
def taken(code):
    """The names that a code object, with those inside it, takes from outside, each with the attributes that are looked up in it at once; and doors out of Triton."""
    found, chain = [], None
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            if step.argval.startswith("_") or step.argval in DOORS:
                found.append([step.argval, "door"])
            if chain is not None:
                chain.append(step.argval)
            continue
        chain = None
        if step.opname == "IMPORT_NAME":
            found.append([step.argval, "import"])
        elif step.opname in ("LOAD_GLOBAL", "LOAD_NAME") or (step.opname == "LOAD_DEREF" and step.argval in code.co_freevars):
            chain = [step.argval]
            found.append(chain)
    return tuple(dict.fromkeys([*map(tuple, found), *(name for inner in code.co_consts if isinstance(inner, types.CodeType) for name in taken(inner))]))


def native(value):
    """Whether a kernel may reach a thing: Triton's own, a plain number or text, a dtype, what Python has built in (but not its doors to the rest)."""
    if type(value) in (tuple, list) or (isinstance(value, tuple) and record(type(value))):
        return all(map(native, value))
    if type(value).__name__ == "constexpr" and of_triton(type(value)):
        return native(value.value)
    if type(value) in PLAIN or of_triton(value) or of_triton(type(value)) or any(value is tame for tame in TAME):
        return True
    torch = sys.modules.get("torch")
    if isinstance(value, np.dtype) or (torch is not None and type(value) is torch.dtype):
        return True
    if isinstance(value, type):
        return (issubclass(value, Exception) and value.__module__ == "builtins") or record(value)
    return isinstance(value, types.BuiltinFunctionType) and value.__self__ is math


def record(kind):
    """Whether a class is a named tuple and nothing more: Triton compiles those."""
    fields = getattr(kind, "_fields", None)
    if type(kind) is not type or kind.__bases__ != (tuple,) or not isinstance(fields, tuple) or not all(type(name) is str for name in fields):
        return kind in (tuple, getattr(sys.modules.get("torch"), "Size", tuple))
    plain = vars(collections.namedtuple(kind.__name__, fields))
    told = ("__annotations__", "__orig_bases__", "__module__", "__doc__", "__static_attributes__", "__firstlineno__", "__annotate__", "__annotate_func__")
    return all(name in told or (name in plain and alike(value, plain[name])) for name, value in vars(kind).items())


def enumerated(value):
    """Whether a value is one of a plain list of named integers."""
    kind = type(value)
    if type(kind) is not enum.EnumMeta or kind.__bases__ != (enum.IntEnum,):
        return False
    plain = vars(enum.IntEnum(kind.__name__, {name: int.__index__(member) for name, member in kind.__members__.items()}))
    return all(type(part) in (kind, str, dict, list, int, type(None), type) or (name in plain and alike(part, plain[name])) for name, part in vars(kind).items())


def alike(value, plain):
    """Whether a part of a named tuple is what every named tuple has in its place."""
    if isinstance(value, classmethod) and isinstance(plain, classmethod):
        value, plain = value.__func__, plain.__func__
    if not isinstance(value, types.FunctionType):
        return type(value) is type(plain)
    same = isinstance(plain, types.FunctionType) and value.__code__ == plain.__code__
    return same and all(value.__globals__.get(name) == plain.__globals__.get(name) for name in value.__code__.co_names)


def of_triton(value):
    """Whether a module, a class or a function comes with Triton: where it lies counts, and not what it says of itself."""
    if isinstance(value, types.ModuleType):
        return sys.modules.get(value.__name__) is value and lies_in_triton(getattr(value, "__file__", None))
    if isinstance(value, types.FunctionType):
        return lies_in_triton(value.__code__.co_filename)
    if isinstance(value, type):
        home = sys.modules.get(value.__module__)
        if home is None or not of_triton(home):
            return False
        made_of = [part for part in vars(value).values() if callable(part)]  # the interpreter puts others in the place of some classes, for a time
        return getattr(home, value.__name__, None) is value or (bool(made_of) and all(map(of_triton, made_of)))
    return False


def lies_in_triton(file):
    """Whether a file is one of Triton's."""
    triton = getattr(sys.modules.get("triton"), "__file__", None)
    return isinstance(file, str) and triton is not None and file.startswith(os.path.dirname(triton) + os.sep)


class Memory:
    """What kernels were handed beside their call's arguments, by launch: the same for all values of the arguments, or it was worked out from them."""

    def __init__(self):
        self.seen = {}

    def compare(self, name, handed, fresh):
        """Raise WorkedOutBefore where launches alike in everything but values are handed different memory."""
        alike = name, tuple((tuple(x.shape), x.dtype, tuple(x.stride())) if hasattr(x, "stride") else type(x) for x in handed)
        digest = 0
        for tensor in fresh:
            if uniform(tensor):
                continue  # allocated empty, or filled with one value: nothing was worked out
            digest = zlib.crc32(octets(tensor), digest)
        if self.seen.setdefault(alike, digest) != digest:
            raise WorkedOutBefore(f"{name} is handed memory whose content depends on the values of the arguments before it has run: "
                                  "the kernel itself has to compute the result, from the arguments where they lie")


def uniform(tensor):
    """Whether the same bytes stand at every place of a flat tensor."""
    places = np.frombuffer(octets(tensor), dtype=np.uint8).reshape(-1, tensor.element_size())
    return bool((places == places[0]).all())


def octets(tensor):
    """The bytes of a flat tensor."""
    return tensor.detach().cpu().contiguous().view(sys.modules["torch"].uint8).numpy().tobytes()
