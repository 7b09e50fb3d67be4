"""A kernel read by Triton's own front end, as for a GPU and without one: what that refuses no GPU runs, whatever the interpreter makes of it.

Runs beside ``worker.py``, in a worker that loads no submission and runs no kernel. A launch as it was told (``launch.py``) is read down to Triton's first
intermediate form and no further. Of Triton what is public is used: an active driver that only names a target, and the hook that looks at a compiler's stages.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import linecache
import math
import os
import re
import sys

try:
    import follow
    import relaunch
except ImportError:
    from . import follow, relaunch

TARGET = "cuda", 80, 32  # what most GPUs of today can do
ALIGNED = 1 << 12
GLOBAL = re.compile(r"Cannot access global variable (\w+)")
PARTLY = ast.IfExp, ast.BoolOp, ast.NamedExpr, ast.Lambda  # whose end may be that of a part which isn't come to
SELF_TEST = "/kernels/self_test.py", "def self_test(x, N: constexpr):\n    __language.store(x + __language.arange(0, N), 1.0)\n"
STAND = {"TRITON_INTERPRET": "0", "TRITON_MOCK_PTX_VERSION": "12.8"}  # the version is asked of a program that can't be started in a jail


class Read(Exception):
    """The front end came to its end: it takes the kernel. ``largest``: numbers in its largest tensor."""

    def __init__(self, largest):
        super().__init__()
        self.largest = largest


class Driver:
    """A driver that has a target and no device."""

    def get_current_target(self):
        """The GPU to read for."""
        return importlib.import_module("triton.backends.compiler").GPUTarget(*TARGET)

    def get_current_device(self):
        """The only one."""
        return 0

    def get_current_stream(self, device=0):
        """None that anybody would use."""
        return 0


def stop_early(backend=None, stages=None, *_, **__):
    """Triton's hook for a compiler's stages: of them the first is left, and then the end."""
    if backend is None:
        return "read", "read"

    def end(module, metadata):
        raise Read(max((math.prod(map(int, sizes.split("x"))) for sizes in set(re.findall(r"tensor<(\d+(?:x\d+)*)x", str(module)))), default=1))

    for name in list(stages)[1:]:
        del stages[name]
    stages["end"] = end
    return None


class Blank:
    """A tensor as far as a launch looks at it: dtype, shape and where it lies."""

    def __init__(self, dtype, shape=(), strides=(), address=ALIGNED):
        self.dtype, self.shape, self._strides, self._address = f"torch.{dtype}", tuple(shape), tuple(strides), address

    def stride(self):
        """In elements."""
        return self._strides

    def data_ptr(self):
        """Its address modulo what a kernel is specialised for."""
        return self._address


class Reading(relaunch.Rebuilt):
    """A launch made anew for reading alone: no memory behind its tensors."""

    def __init__(self, told):
        super().__init__(told, [], 0, {})

    @staticmethod
    def bytes_of(flat):
        """Nothing is written."""
        return b""

    def storage(self, told):
        """None is needed."""
        return None

    def make_tensor(self, number, dtype, shape, strides, offset):
        """A tensor without numbers."""
        item = getattr(sys.modules["torch"], dtype).itemsize
        return Blank(dtype, shape, strides, ALIGNED + offset * item)

    def read(self, visited):
        """Have it read, and note in ``visited`` where. Raises Read at the end, or what the front end has against it."""
        with noting(visited):
            self.kernel.run(*self.args, grid=(1, 1, 1), warmup=True, **self.kwargs)


class Reader:
    """Triton without its interpreter, imported once."""

    def __init__(self):
        self.fit = None

    def ready(self):
        """Whether it reads what it has to read."""
        if self.fit is None:
            self.fit = fit()
        return self.fit

    def read(self, told):
        """What Triton's front end says to a launch: what it has against it, as ``message`` and ``line``, under ``refused``, or which parts of its text it came to,
        under ``visited`` (for each file: first line and column, last line and column, whether all of it), with ``largest``. Nothing where it can't be asked here."""
        if not self.ready():
            return {}
        reading, visited = None, {}
        try:
            reading = Reading(told)
            reading.read(visited)
        except Read as read:
            return {"visited": {file: sorted(places) for file, places in visited.items() if file.startswith(follow.FOLDER)}, "largest": read.largest}
        except KeyError as error:
            missing = str(error.args[0] if error.args else error)
            return {"refused": {"message": (missing if " " in missing else f"it knows no {missing}")[:1000], "line": None}}
        except Exception as error:
            return {"refused": described(error, reading)}
        return {"refused": {"message": "it came to no end", "line": None}}


def fit():
    """Import Triton as it is without its interpreter, and see whether it reads what it has to read."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "triton" and not name.startswith("triton._C")]:
        del sys.modules[name]
    os.environ.update(STAND)
    try:
        triton = importlib.import_module("triton")
        triton.runtime.driver.set_active(Driver())
        triton.knobs.runtime.add_stages_inspection_hook = stop_early
        file, text = SELF_TEST
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        space = {"__language": triton.language, "constexpr": triton.language.constexpr, "__name__": "kernels"}
        exec(compile(text, file, "exec"), space)
        with noting(visited := {}):
            triton.jit(space["self_test"]).run(Blank("float32"), N=16, grid=(1, 1, 1), warmup=True)
    except Read:
        return (2, 21, 2, 48, True) in visited.get(file, ())  # x + __language.arange(0, N)
    except Exception:
        return False
    return False


@contextlib.contextmanager
def noting(visited):
    """Notes which nodes of which files the front end comes to, as it comes to them."""
    firsts, visit = {}, ast.NodeVisitor.visit

    def noted(visitor, node):
        kernel = getattr(visitor, "jit_fn", None)
        if kernel is not None and getattr(node, "end_col_offset", None) is not None:
            if id(kernel) not in firsts:
                firsts[id(kernel)] = kernel.fn.__code__.co_filename, above(kernel)
            file, before = firsts[id(kernel)]
            if isinstance(node, ast.expr):
                place = before + node.lineno, node.col_offset, before + node.end_lineno, node.end_col_offset
                visited.setdefault(file, set()).add((*place, not isinstance(node, PARTLY)))
        return visit(visitor, node)

    ast.NodeVisitor.visit = noted
    try:
        yield
    finally:
        ast.NodeVisitor.visit = visit


def above(function):
    """How many lines stand in a function's file before its text."""
    lines, first = inspect.getsourcelines(function.fn)
    return first - 1 + next((n for n, line in enumerate(lines) if line.lstrip().startswith("def ")), 0)


def described(error, reading):
    """The innermost thing that was found, and the line of the submission's file where."""
    inner = error
    while inner.__cause__ is not None:
        inner = inner.__cause__
    line = None
    while error is not None:
        with contextlib.suppress(AttributeError, TypeError):
            line = line_of(error.src, error.node.lineno, reading) or line
            inner = error if error.error_message else inner
        error = error.__cause__
    said = str(getattr(inner, "error_message", None) or inner or type(inner).__name__)[:1000]
    known = GLOBAL.search(said)
    return {"message": f"{known[1]} is a variable of the file, which a kernel may not read: write {known[1]} = tl.constexpr(...)" if known else said, "line": line}


def line_of(text, number, reading):
    """The line in the file of a line of a function's text."""
    for function in reading.functions.values() if reading is not None else ():
        if getattr(function, "src", None) == text:
            return above(function) + number
    return None
