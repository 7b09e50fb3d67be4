"""The worker's eye on Triton: which kernels a call launched, with what memory, and whether they stayed inside it.

Runs beside ``worker.py``. A launch counts as the submission's own if the kernel's function stands in its file, however it is wrapped.
``fence`` gives all that a call allocates a margin of poison; ``at_page_end`` puts an argument against a page that may not be touched.
"""

from __future__ import annotations

import contextlib
import ctypes
import linecache
import math
import mmap
import sys

import numpy as np

try:
    import devices
    import purity
    import seal
except ImportError:
    from . import devices, purity, seal

MARGIN = 1 << 15  # elements on either side of a fenced allocation
LAUNCH_CAP = 1000
ADDRESSES = 64  # that many 64-bit numbers may be a table of addresses, which differ from call to call


def probe():
    """Never launched: it shows which class ``triton.jit`` makes here (it differs in the interpreter)."""


def keep_source():
    """Triton reads the source of what it compiles, ``probe`` too, and by then this file can't be opened any more."""
    with open(__file__, encoding="utf-8") as file:
        text = file.read()
    linecache.cache[__file__] = (len(text), None, text.splitlines(keepends=True), __file__)


keep_source()


class Kernels:
    """Counts the launches of the submission's kernels; as ``decoy`` each of them does nothing."""

    def __init__(self):
        self.paths, self.launches, self.decoy, self.given, self.watching, self.device_bytes = (), [], False, frozenset(), False, 0
        self.tuning, self.fence, self.memory, self.exchange, self.seal = False, None, purity.Memory(), (), None

    def watch(self, *paths):
        """From now on, note launches of kernels that are written in these files (in any, if none is named)."""
        self.paths = paths
        triton = sys.modules.get("triton")
        if triton is None or self.watching:
            return
        self.watching = True
        kind = type(triton.jit(probe))
        run, interpreted = kind.run, kind is not triton.runtime.JITFunction

        def counted(kernel, *args, grid=None, warmup=False, **kwargs):
            if warmup or not self.own(kernel.fn):
                return run(kernel, *args, grid=grid, warmup=warmup, **kwargs)
            handed, grid = [*args, *kwargs.values()], seal.evaluated(kernel, grid, args, kwargs) if interpreted else grid  # who is asked has spoken before anything is looked at
            with (seal.quiet if interpreted else seal.unwatched)(), self.exchanged():
                if interpreted:  # a compiler for a GPU refuses by itself
                    purity.check_launch(kernel, handed)
                    seal.unbroken(self.seal)
                launch = None if self.tuning else self.note(kernel.fn.__name__, handed)
                if self.decoy:
                    return None
                with purity.named():
                    return run(kernel, *args, grid=self.shaped(grid, launch), warmup=False, **kwargs)

        kind.run = counted
        self.watch_tuning(interpreted)
        self.seal = seal.Seal() if interpreted and paths else None

    def watch_tuning(self, interpreted):
        """``triton.autotune`` tries out tiles: no launches of the call's own. In the interpreter, where no time means anything, the first ones are taken."""
        tuner = getattr(sys.modules.get("triton.runtime.autotuner"), "Autotuner", None)
        bench = getattr(tuner, "_bench", None)
        if bench is None:
            return

        def tried(this, *args, **kwargs):
            if interpreted:
                return [1.0, 1.0, 1.0]
            self.tuning = True
            try:
                return bench(this, *args, **kwargs)
            finally:
                self.tuning = False

        tuner._bench = tried

    def own(self, function):
        """Whether a kernel is the submission's: all are that don't stand in a library that was imported, texts that are run as code too."""
        home = sys.modules.get(function.__module__)
        borrowed = home is not None and function.__globals__ is vars(home) and function.__code__.co_filename == getattr(home, "__file__", "")
        return not self.paths or function.__code__.co_filename in self.paths or not borrowed

    @contextlib.contextmanager
    def exchanged(self):
        """Where other values were sent for the time of a kernel, they are taken back afterwards."""
        try:
            yield
        finally:
            self.hold(0)

    def hold(self, which):
        """Put the arguments' own values (0), or those that the kernel alone is to see (1), into their memory."""
        for argument, *octets in self.exchange:
            argument.overwrite(octets[which], unseen=True)

    @contextlib.contextmanager
    def call(self, decoy, arguments, fence=None, exchange=()):
        """One call of the submission, with the arguments that it was given and the fence that stands around what it allocates.

        ``exchange`` holds arguments, each with its octets and with others that stand in its memory while a kernel runs: nobody else can have computed from those.
        """
        self.launches, self.decoy, self.fence, self.exchange = [], decoy, fence, exchange
        self.given = frozenset(home(argument.flat) for argument in arguments if hasattr(argument, "flat"))
        allocator = next((devices.allocator(argument.device) for argument in arguments), None)
        before = level(allocator)
        try:
            yield
        finally:
            self.decoy, self.fence, self.exchange = False, None, ()
            self.device_bytes = level(allocator, "max_memory_allocated") - before

    def note(self, name, handed):
        """Record a launch; what is recorded of it comes back."""
        storages = {home(t): weight(t) for t in tensors(handed)}
        fresh = sum(size for place, size in storages.items() if place not in self.given)
        if self.fence is not None:  # without it what is allocated empty holds whatever lay there before
            inside = {home(flat): flat[MARGIN:-MARGIN] for flat, _, shape in self.fence.fenced if flat.element_size() < 8 or math.prod(shape) > ADDRESSES}
            self.memory.compare(name, handed, [inside[place] for place in storages if place in inside and place not in self.given])
        launch = [name, (), fresh]
        if len(self.launches) < LAUNCH_CAP:
            self.launches.append(launch)
        return launch

    def shaped(self, grid, launch):
        """The grid to launch with: plain numbers, noted in the launch. The kernel alone sees what happens after it is known."""

        def known(shape):
            shape = tuple(int(n) for n in shape)
            if launch is not None:
                launch[1] = shape
            self.hold(1)
            return shape

        return (lambda meta: known(grid(meta))) if callable(grid) else known(grid)

    def told(self):
        """The launches as the wire carries them: name, grid, bytes of memory handed over that is no argument of the call."""
        return [tuple(launch) for launch in self.launches]


def level(allocator, what="memory_allocated"):
    """Bytes that the device's allocator has given out now, its high-water mark set back to that; or the mark since then."""
    if allocator is None:
        return 0
    allocator.synchronize()
    if what == "memory_allocated":
        allocator.reset_peak_memory_stats()
    return getattr(allocator, what)()


def tensors(values):
    """Every tensor among a kernel's arguments, those inside tuples and tensor descriptors too."""
    for value in values:
        if isinstance(value, (tuple, list)):
            yield from tensors(value)
        elif hasattr(value, "data_ptr") and hasattr(value, "numel"):
            yield value
        elif hasattr(value, "base"):
            yield from tensors((value.base,))


def home(tensor):
    """Where the storage of a tensor begins."""
    return tensor.untyped_storage().data_ptr()


def weight(tensor):
    """Bytes of a tensor's memory: whole, though a view of it is handed over, and without the margin of an earlier call's fence."""
    size, margins = tensor.untyped_storage().nbytes(), 2 * MARGIN * tensor.element_size()
    if size <= margins:
        return size
    whole = tensor.detach().as_strided((size // tensor.element_size(),), (1,), 0)
    clean = whole.new_full((1,), poison(tensor))
    return size - margins if intact(whole[:MARGIN], clean) and intact(whole[-MARGIN:], clean) else size


def poison(tensor):
    """What a fence is made of."""
    return float("nan") if tensor.is_floating_point() else 77


def intact(edge, clean):
    """Whether nothing but the bytes of ``clean`` stand in an edge."""
    torch = sys.modules["torch"]
    return bool((edge.view(torch.uint8).reshape(-1, clean.element_size()) == clean.view(torch.uint8)).all())


def fence():
    """A context in which every allocation gets a margin of poison on both sides, and empty ones are filled with it."""
    torch = sys.modules["torch"]

    class Fence(torch.overrides.TorchFunctionMode):
        def __init__(self):
            super().__init__()
            self.fenced = []

        def __torch_function__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            result = func(*args, **kwargs)
            if not torch.is_tensor(result) or not result.numel() or home(result) in map(home, tensors((*args, *kwargs.values()))):
                return result
            return self.put_up(result, raw="empty" in getattr(func, "__name__", ""))

        def put_up(self, tensor, raw):
            size = tensor.untyped_storage().nbytes() // tensor.element_size()
            flat = torch.full((size + 2 * MARGIN,), poison(tensor), dtype=tensor.dtype, device=tensor.device)
            inner = flat.as_strided(tensor.size(), tensor.stride(), MARGIN + tensor.storage_offset())
            if not raw:
                inner.copy_(tensor)
            self.fenced.append((flat, flat[:1].clone(), tuple(tensor.shape)))
            return inner

        def spilled(self):
            """Shapes of the allocations whose margin was written to."""
            return [shape for flat, clean, shape in self.fenced if not (intact(flat[:MARGIN], clean) and intact(flat[-MARGIN:], clean))]

    return Fence()


def at_page_end(array):
    """A copy of a flat array that ends where an untouchable page begins: reading past it ends the process."""
    page = mmap.PAGESIZE
    size = -(-array.nbytes // page) * page
    held = mmap.mmap(-1, size + page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(held))
    if ctypes.CDLL(None, use_errno=True).mprotect(ctypes.c_void_p(start + size), ctypes.c_size_t(page), 0):
        raise OSError(ctypes.get_errno(), "mprotect")
    copy = np.frombuffer(held, array.dtype, array.size, size - array.nbytes)
    copy[:] = array
    return copy
