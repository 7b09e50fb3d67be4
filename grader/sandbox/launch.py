"""A launch as something that travels: described here where the submission lives, made anew (``relaunch.py``) in a worker that never loaded it.

Runs beside ``worker.py``. What travels is the source of the kernel (and of what it calls), the plain values that it reaches, its grid,
and the memory behind its tensors; the memory of the call's own arguments comes from the host. Whatever a submission did to its own process stays there.
"""

from __future__ import annotations

import ast
import builtins
import enum
import functools
import inspect
import math
import sys
import textwrap
import types

import numpy as np

try:
    import purity
    import wire
except ImportError:
    from . import purity, wire

DEPTH = 5

NUMBERS = (bool, int, float, str, type(None))


def raised(told):
    """An exception of the kernel's as it is raised again where the submission lives: by its name, its message, and the line of the file that it came from."""
    base = next((vars(builtins)[name] for name in told["bases"] if isinstance(vars(builtins).get(name), type) and issubclass(vars(builtins)[name], Exception)), Exception)
    error = type(told["type"], (base,), {"__module__": "builtins"} if base.__name__ == told["type"] else {})(told["message"])
    error.line_of_kernel = told["line"]
    return error


def evaluated(kernel, grid, args, kwargs):
    """A grid as plain numbers; a function that gives it is asked with the arguments by their names."""
    if callable(grid):
        names = inspect.signature(kernel.fn).parameters
        defaults = {name: one.default for name, one in names.items() if one.default is not one.empty}
        grid = grid({**defaults, **dict(zip(names, args, strict=False)), **kwargs})
    return tuple(int(n) for n in grid)


class Description:
    """One launch told in plain values. ``memory`` holds the tensors of bytes that what the kernel wrote is put back into."""

    def __init__(self, kernel, grid, args, kwargs, given, inside):
        self.given, self.inside = given, inside  # home of an argument's memory -> its number; tensor -> (first byte, bytes) of its memory that counts
        self.functions, self.numbers, self.storages, self.homes, self.memory = [], {}, [], [], []
        self.function(kernel)
        self.told = {
            "name": str(kernel.fn.__name__)[:100], "grid": list(grid), "args": [self.value(value) for value in args],
            "kwargs": {str(name): self.value(value) for name, value in kwargs.items()}, "functions": self.functions, "storages": self.storages,
        }

    def function(self, kernel):
        """The number of a jitted function; what it reaches is described with it."""
        inner = innermost(kernel)
        if id(inner) in self.numbers:
            return self.numbers[id(inner)]
        number = self.numbers[id(inner)] = len(self.functions)
        told = {}
        self.functions.append(told)
        told.update(source(inner))
        told["kind"] = "constexpr_function" if type(kernel).__name__ == "ConstexprFunction" else "jit"
        parameters = inspect.signature(inner).parameters.values()
        told["constexpr"] = [one.name for one in parameters if is_constexpr(one.annotation)]
        told["defaults"] = {one.name: self.value(one.default) for one in parameters if one.default is not one.empty}
        known = {**inner.__globals__, **purity.enclosed(inner)}
        told["globals"] = {name: self.reached(known[name], chains) for name, chains in wanted(inner.__code__).items() if name in known}
        noted = inner.__globals__.get("__annotations__")
        for name in told["globals"]:
            if isinstance(noted, dict) and is_constexpr(noted.get(name)) and type(known[name]) in NUMBERS:  # `M: tl.constexpr = 64`, which a compiler takes for one
                told["globals"][name] = ["constexpr", told["globals"][name]]
        return number

    def reached(self, value, chains):
        """What a name stands for; a module that is no library of kernels is told by what is taken out of it."""
        if not isinstance(value, types.ModuleType) or value is math or purity.of_triton(value):
            return self.value(value)
        inner = {}
        for name, *rest in filter(None, chains):
            inner.setdefault(name, []).append(rest)
        return ["space", {name: self.reached(getattr(value, name, None), rest) for name, rest in inner.items()}]

    def value(self, value, depth=0):
        """A value as the wire carries it: a word for its kind, and what it is made of. Raises NotTriton."""
        kind = type(value)
        if depth > DEPTH:
            raise purity.NotTriton("a kernel is handed something that is nested too deep")
        if kind in NUMBERS:
            return ["plain", value]
        if isinstance(value, types.ModuleType):
            return ["module", value.__name__]
        if hasattr(value, "data_ptr") and hasattr(value, "numel"):
            return self.tensor(value)
        if kind.__name__ == "TensorDescriptor" and purity.of_triton(kind):
            rest = [list(map(int, part)) for part in (value.shape, value.strides, value.block_shape)]
            return ["descriptor", self.value(value.base, depth + 1), *rest, str(getattr(value, "padding", "zero"))]
        if kind.__name__ == "constexpr" and purity.of_triton(kind):
            return ["constexpr", self.value(value.value, depth + 1)]
        if kind in (list, tuple) or isinstance(value, tuple):
            fields = [] if kind in (list, tuple) else list(getattr(kind, "_fields", ()))
            return ["sequence", "list" if kind is list else kind.__name__ if fields else "tuple", fields, [self.value(item, depth + 1) for item in value]]
        return self.rare(value, kind)

    def rare(self, value, kind):
        """Dtypes, numbers of NumPy's, named integers, Triton's own things, other kernels, built-in functions."""
        if isinstance(value, np.generic):
            return self.value(value.item())
        if isinstance(value, enum.IntEnum):
            return ["enum", kind.__name__, [[name, int(one)] for name, one in kind.__members__.items()], int(value)]
        if isinstance(value, np.dtype) or kind.__module__ == "torch":
            return ["dtype", str(value).removeprefix("torch."), "torch" if kind.__module__ == "torch" else "numpy"]
        if isinstance(innermost(value), types.FunctionType) and innermost(value) is not value and not purity.of_triton(innermost(value)):
            return ["function", self.function(value)]
        if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
            return ["record", value.__name__, list(value._fields)]
        if isinstance(value, enum.EnumMeta):
            return ["enum", value.__name__, [[name, int(one)] for name, one in value.__members__.items()], None]
        if kind.__name__ == "dtype" and purity.of_triton(kind):
            return ["kind", str(value.name)]
        for home in (builtins, math):
            if getattr(value, "__module__", None) == home.__name__ and vars(home).get(getattr(value, "__name__", "")) is value:
                return ["part", home.__name__, value.__name__]
        return place(value)

    def tensor(self, value):
        """A tensor as a view of one of the launch's memories."""
        torch = sys.modules["torch"]
        storage = value.untyped_storage()
        home = storage.data_ptr()
        if home not in self.homes:
            first, size = (0, storage.nbytes()) if home in self.given else self.inside(value)
            self.homes.append(home)
            self.memory.append(torch.empty(0, dtype=torch.uint8).set_(storage)[first : first + size])
            held = {"argument": self.given[home]} if home in self.given else {"octets": wire.Array(self.memory[-1].numpy(), "uint8", "ndarray")}
            self.storages.append({"dtype": str(value.dtype).removeprefix("torch."), "shape": list(value.shape), "first": first, **held})
        number = self.homes.index(home)
        first, item = self.storages[number]["first"], value.element_size()
        return ["tensor", number, str(value.dtype).removeprefix("torch."), list(value.shape), list(value.stride()), (value.storage_offset() * item - first) // item]

    def take_back(self, memory):
        """Put what the kernel wrote where it belongs."""
        torch = sys.modules["torch"]
        with torch.no_grad():
            for octets, written in zip(self.memory, memory, strict=True):
                if written is not None:
                    octets.copy_(torch.from_numpy(written.data))


def innermost(value):
    """The Python function within a kernel and whatever is wrapped round it."""
    while hasattr(value, "fn"):
        value = value.fn
    return value


def is_constexpr(annotation):
    """Whether an annotation says that a parameter is known when a kernel is compiled."""
    written = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return str(written).strip("'\" ").rpartition(".")[2] == "constexpr"


def wanted(code):
    """The names that a code object takes from outside, each with what is taken out of it at once."""
    found = {}
    for name, *parts in purity.taken(code):
        if parts not in (["door"], ["import"]):
            found.setdefault(name, []).append(parts)
    return found


@functools.lru_cache(maxsize=256)
def source(function):
    """The lines of a function and where it stands in its file; who runs it takes its text alone (``relaunch.py``). Raises NotTriton."""
    try:
        lines, first = inspect.getsourcelines(function)
        node = ast.parse(textwrap.dedent("".join(lines))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        node = None
    if not isinstance(node, ast.FunctionDef):
        raise purity.NotTriton(f"the source of {function.__name__} can't be read: write the kernel as a function of the file, since a compiler for a GPU reads it there")
    return {"lines": [line.rstrip("\n") for line in lines], "first": first}


def place(value):
    """Where one of Triton's own things is found. Raises NotTriton."""
    name, home = getattr(innermost(value), "__name__", ""), sys.modules.get(getattr(innermost(value), "__module__", None) or "")
    if home is not None and purity.of_triton(home) and getattr(home, name, None) is value:
        return ["part", home.__name__, name]
    for home in [module for module in list(sys.modules.values()) if isinstance(module, types.ModuleType) and purity.of_triton(module)]:
        for name, there in list(vars(home).items()):
            if there is value:
                return ["part", home.__name__, name]
    if type(value).__name__ == "pointer_type" and purity.of_triton(type(value)):
        return ["pointer", place(value.element_ty)]
    raise purity.NotTriton(f"a kernel reaches a {type(value).__name__} that is neither a number, a dtype, a tensor nor a part of Triton's: it wouldn't compile for a GPU")
