"""Whether a kernel does the work: it is made of Triton alone (the interpreter would run any Python), and is handed nothing that was worked out beforehand.

Runs beside ``sentry.py``. What is refused here would not compile for a GPU, or is not the one fused kernel that was asked for.
"""

from __future__ import annotations

import builtins
import dis
import functools
import sys
import types
import zlib

import numpy as np

DEPTH = 6
PLAIN = (int, float, str, bool, type(None))


class NotTriton(Exception):
    """A kernel that reaches something which no compiler for a GPU takes."""


class WorkedOutBefore(Exception):
    """A kernel that is handed what it has to compute."""


def check(function, handed, depth=0, seen=None):
    """Raise NotTriton where a kernel's function, or one that it calls, reaches into Python, or is handed a piece of it."""
    seen = set() if seen is None else seen
    for value in handed:
        if isinstance(value, (types.FunctionType, types.MethodType)):
            raise NotTriton(f"{function.__name__} is handed `{value.__name__}`, a function of Python's, which no GPU can run: write it as a @triton.jit function")
    if function in seen or depth > DEPTH:
        return
    seen.add(function)
    for reached, value in names(function.__code__, function.__globals__):
        if not native(value):
            raise NotTriton(f"{function.__name__} reaches `{reached}`, which is Python and not Triton: it wouldn't compile for a GPU, whatever the interpreter makes of it")
        inner = getattr(value, "fn", None)
        if isinstance(inner, types.FunctionType) and not of_triton(inner):
            check(inner, (), depth + 1, seen)


def names(code, known):
    """What a function takes from outside: (as it is written, the thing). What is taken out of a module is meant, and not the module."""
    for name, *parts in taken(code):
        value, path = known.get(name, getattr(builtins, name, None)), name
        if parts == ["import"]:
            yield f"import {name}", __import__
            continue
        while parts and isinstance(value, types.ModuleType):
            part = parts.pop(0)
            value, path = getattr(value, part, None), f"{path}.{part}"
        if name in known or hasattr(builtins, name):
            yield path, value


@functools.lru_cache(maxsize=256)
def taken(code):
    """The names that a code object, with those inside it, takes from outside, each with the attributes that are looked up in it at once."""
    found, chain = [], None
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_ATTR", "LOAD_METHOD") and chain is not None:
            chain.append(step.argval)
            continue
        chain = None
        if step.opname == "IMPORT_NAME":
            found.append([step.argval, "import"])
        elif step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            chain = [step.argval]
            found.append(chain)
    return tuple(dict.fromkeys([*map(tuple, found), *(name for inner in code.co_consts if isinstance(inner, types.CodeType) for name in taken(inner))]))


def native(value):
    """Whether a kernel may reach a thing: Triton's own, a plain number or text, a dtype, what Python has built in (but not its doors to the rest)."""
    if isinstance(value, (tuple, list)):
        return all(map(native, value))
    if isinstance(value, PLAIN) or of_triton(value) or of_triton(type(value)):
        return True
    if isinstance(value, types.ModuleType):
        return value.__name__ in ("math", "builtins")
    home = getattr(value, "__module__", None)
    doors = (builtins.eval, builtins.exec, builtins.compile, builtins.__import__, builtins.globals, builtins.open)
    return (home in ("builtins", "math") and value not in doors) or type(value).__name__ == "dtype"


def of_triton(value):
    """Whether a module, a class or a function comes with Triton."""
    home = getattr(value, "__name__", "") if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
    return isinstance(home, str) and (home == "triton" or home.startswith("triton."))


class Memory:
    """What kernels were handed beside their call's arguments, by launch: the same for all values of the arguments, or it was worked out from them."""

    def __init__(self):
        self.seen = {}

    def compare(self, name, handed, fresh):
        """Raise WorkedOutBefore where launches alike in everything but values are handed different memory."""
        alike = name, tuple((tuple(x.shape), x.dtype, tuple(x.stride())) if hasattr(x, "stride") else x if isinstance(x, PLAIN) else type(x) for x in handed)
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
