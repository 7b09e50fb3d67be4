"""Quiet round a kernel in the interpreter: nothing of the submission's runs while it does, and what runs it is still what was loaded.

Runs beside ``sentry.py``. ``Seal`` remembers the libraries that run a kernel before the submission is there; ``quiet`` holds off all that
could call back: tracing, modes, printing, warnings, floating-point handlers, the garbage collector, signals. Threads are refused.
"""

from __future__ import annotations

import builtins
import contextlib
import gc
import inspect
import io
import operator
import signal
import sys
import types
import warnings
from os import listdir
from time import sleep

import numpy as np

try:
    from purity import of_triton
except ImportError:
    from .purity import of_triton

CODE, DEFAULTS = operator.attrgetter("__code__"), operator.attrgetter("__defaults__")

RUNS = ("triton.runtime.interpreter", "triton.runtime.jit")
PATCHED = ("triton.language", "triton.language.core", "triton.language.math", "triton.language.standard", "triton.language.semantic")  # by the interpreter, for a time
COMES_AND_GOES = ("__warningregistry__", "__doc__", "_", "__dict__", "__weakref__", "__abstractmethods__", "_abc_impl", "__annotations__", "__annotations_cache__")
OWN = ("sentry", "purity", "seal", "devices", "wire")


USED = ("aten::copy_", "aten::set_.source_Storage", "aten::set_.source_Storage_storage_offset", "aten::empty.memory_format", "aten::new_empty", "aten::detach", "aten::alias")
PATIENCE = 5


def tasks():
    """How many threads this process has, those of libraries too; 0 where nobody can say."""
    try:
        return len(listdir("/proc/self/task"))
    except OSError:
        return 0


class Tampered(Exception):
    """What runs a kernel was changed, or something runs beside it."""


class Seal:
    """The names of the libraries that run a kernel, the methods of their classes, and the code of their functions, as they are now."""

    def __init__(self):
        torch = sys.modules["torch"]
        libraries = [sys.modules[name] for name in (*RUNS, *PATCHED, *OWN) if name in sys.modules]
        classes = [value for library in libraries for value in vars(library).values() if isinstance(value, type) and value.__module__ == library.__name__]
        used = [value for name in RUNS for value in vars(sys.modules[name]).values() if isinstance(value, types.ModuleType)]
        homes = list(dict.fromkeys([builtins, np, torch.Tensor, *libraries, *classes, *used]))
        self.instances = [value for value in vars(sys.modules[RUNS[0]]).values() if type(value) in classes]
        self.names = [(home, tuple(vars(home)), tuple(vars(home).values())) for home in homes]
        functions = list({id(value): value for _, _, values in self.names for value in values if isinstance(value, types.FunctionType)}.values())
        self.code = functions, [function.__code__ for function in functions], [function.__defaults__ for function in functions]
        self.operators = [(name, torch._C._dispatch_dump(name)) for name in USED]
        self.threads, self.tasks = len(sys._current_frames()), tasks()

    def check(self):
        """Raise Tampered where something isn't what it was, or where a thread of the submission's is alive."""
        for home, keys, values in self.names:
            now = vars(home)
            if not all(map(operator.is_, map(now.get, keys), values)) or (len(now) > len(keys) and isinstance(home, type)):
                self.blame(home, dict(zip(keys, values, strict=True)))
        for one in self.instances:
            if any(hasattr(type(one), name) for name in vars(one)):
                raise Tampered(f"a method of the interpreter's {type(one).__name__} was replaced: a kernel runs in the libraries as they are")
        functions, codes, defaults = self.code
        if not (all(map(operator.is_, map(CODE, functions), codes)) and all(map(operator.is_, map(DEFAULTS, functions), defaults))):
            raise Tampered("the code of a function was replaced that runs kernels: they run in the libraries as they are")
        torch = sys.modules["torch"]
        if any(torch._C._dispatch_dump(name) != before for name, before in self.operators):
            raise Tampered("an operator of torch's was overridden that copies what a kernel is handed: a kernel runs in the libraries as they are")
        for _ in range(PATIENCE if tasks() > self.tasks else 0):  # a thread that has no frame yet gets the time to take one
            sleep(0.002)
        self.tasks = max(self.tasks, tasks())
        if len(sys._current_frames()) > self.threads:
            raise Tampered("another thread is running: it has to end before a kernel is launched")

    @staticmethod
    def blame(home, before):
        """Raise Tampered with the name that was replaced or added, unless the interpreter itself did it."""
        lent = (getattr(home, "__module__", None) or home.__name__) in PATCHED
        for key in {**before, **vars(home)} if isinstance(home, type) else before:
            now = vars(home).get(key)
            if now is before.get(key) or key in COMES_AND_GOES or (lent and put_by_the_interpreter(key, now)):
                continue
            raise Tampered(f"{home.__name__}.{key} was replaced or added: a kernel runs in the libraries as they are")


def put_by_the_interpreter(key, value):
    """Whether Triton's interpreter itself puts such a thing into its language, for the time of a kernel or for good."""
    return value is print or value is vars(object).get(key) or of_triton(getattr(value, "func", value)) or of_triton(type(value))


def unbroken(seal):
    """Check a seal, where there is one."""
    if seal is not None:
        seal.check()


def evaluated(kernel, grid, args, kwargs):
    """A grid as plain numbers; a function that gives it is asked with the arguments by their names."""
    if callable(grid):
        names = inspect.signature(kernel.fn).parameters
        defaults = {name: one.default for name, one in names.items() if one.default is not one.empty}
        grid = grid({**defaults, **dict(zip(names, args, strict=False)), **kwargs})
    return tuple(int(n) for n in grid)


@contextlib.contextmanager
def unwatched():
    """No tracing and no mode of the submission's in here."""
    torch = sys.modules["torch"]
    sys.settrace(None)
    sys.setprofile(None)
    with torch._C.DisableTorchFunction(), torch.utils._python_dispatch._disable_current_modes():
        yield


@contextlib.contextmanager
def quiet():
    """Nobody is called back from in here. What a kernel prints comes out afterwards."""
    outside, sink, collecting = (sys.stdout, sys.stderr), io.StringIO(), gc.isenabled()
    gc.disable()
    handlers = {number: handler for number in signal.valid_signals() if callable(handler := signal.getsignal(number))}
    for number in handlers:  # not blocked alone: another thread would take them, and the handler run here
        signal.signal(number, signal.SIG_IGN)
    try:
        with unwatched(), np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sys.stdout = sys.stderr = sink
            yield
    finally:
        sys.stdout, sys.stderr = outside
        if collecting:
            gc.enable()
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if sink.tell():
        print(sink.getvalue(), end="")
