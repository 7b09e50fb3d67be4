"""The worker's eye on Triton: which kernels a call launched, with what memory, and whether they stayed inside it.

Runs beside ``worker.py``. A launch counts as the submission's own if the kernel's function stands in its file, however it is wrapped.
What lies around memory that nobody should touch is ``fence.py``'s.
"""

from __future__ import annotations

import contextlib
import linecache
import math
import sys

try:
    import devices
    import launch
    import purity
    from fence import MARGIN, home, inside, tensors, weight
except ImportError:
    from . import devices, launch, purity
    from .fence import MARGIN, home, inside, tensors, weight

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
        self.paths, self.launches, self.decoy, self.given, self.watching, self.device_bytes = (), [], False, {}, False, 0
        self.tuning, self.fence, self.memory, self.exchange = False, None, purity.Memory(), ()
        self.left, self.relay, self.calling, self.early = [], None, False, False  # who runs kernels of a call elsewhere, if anybody does

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
            handed, grid = [*args, *kwargs.values()], launch.evaluated(kernel, grid, args, kwargs) if interpreted else grid  # who is asked has spoken before anything is looked at
            with unwatched(), self.exchanged():
                if interpreted:  # a compiler for a GPU refuses by itself
                    purity.check_launch(kernel, handed)
                noted = None if self.tuning else self.note(kernel.fn.__name__, handed)
                if self.decoy:
                    return None
                if self.relay is not None and self.calling:
                    return self.elsewhere(launch.Description(kernel, grid, args, kwargs, self.given, inside))
                with purity.named():
                    result = run(kernel, *args, grid=self.shaped(grid, noted), warmup=False, **kwargs)
                self.keep(handed)
                return result

        kind.run = counted
        self.watch_tuning(interpreted)

    def keep(self, handed):
        """What a kernel left in memory that is no argument of the call, where other values stood in those: a result that was worked on afterwards isn't that."""
        if self.exchange and not self.tuning:
            self.left = [tensor.detach().clone() for tensor in tensors(handed) if home(tensor) not in self.given]

    def elsewhere(self, described):
        """Have the host run a kernel where nothing of the submission's was ever loaded, and take what it wrote."""
        answer = self.relay({**described.told, "early": self.early})
        if answer.get("raised"):
            raise launch.raised(answer["raised"])
        described.take_back(answer["memory"])

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
    def call(self, decoy, arguments, fence=None, exchange=(), early=False):
        """One call of the submission, with the arguments that it was given and the fence that stands around what it allocates.

        ``exchange`` holds arguments, each with its octets and with others that stand in its memory while a kernel runs: nobody else can have computed from those.
        An ``early`` call comes before the one that counts, with other values.
        """
        self.launches, self.decoy, self.fence, self.exchange, self.calling = [], decoy, fence, exchange, True
        self.early, self.left = early, []
        self.given = {home(argument.flat): number for number, argument in enumerate(arguments) if hasattr(argument, "flat")}
        allocator = next((devices.allocator(argument.device) for argument in arguments), None)
        before = level(allocator)
        try:
            yield
        finally:
            self.decoy, self.fence, self.exchange, self.calling = False, None, (), False
            self.device_bytes = level(allocator, "max_memory_allocated") - before

    def note(self, name, handed):
        """Record a launch; what is recorded of it comes back."""
        storages = {home(t): weight(t) for t in tensors(handed)}
        fresh = sum(size for place, size in storages.items() if place not in self.given)
        if self.fence is not None:  # without it what is allocated empty holds whatever lay there before
            inside = {home(flat): flat[MARGIN:-MARGIN] for flat, _, shape in self.fence.fenced if flat.element_size() < 8 or math.prod(shape) > ADDRESSES}
            self.memory.compare(name, handed, [inside[place] for place in storages if place in inside and place not in self.given])
        noted = [name, (), fresh]
        if len(self.launches) < LAUNCH_CAP:
            self.launches.append(noted)
        return noted

    def shaped(self, grid, noted):
        """The grid to launch with: plain numbers, noted in the launch. The kernel alone sees what happens after it is known."""

        def known(shape):
            shape = tuple(int(n) for n in shape)
            if noted is not None:
                noted[1] = shape
            self.hold(1)
            return shape

        return (lambda meta: known(grid(meta))) if callable(grid) else known(grid)

    def told(self):
        """The launches as the wire carries them: name, grid, bytes of memory handed over that is no argument of the call."""
        return [tuple(noted) for noted in self.launches]


def level(allocator, what="memory_allocated"):
    """Bytes that the device's allocator has given out now, its high-water mark set back to that; or the mark since then."""
    if allocator is None:
        return 0
    allocator.synchronize()
    if what == "memory_allocated":
        allocator.reset_peak_memory_stats()
    return getattr(allocator, what)()


@contextlib.contextmanager
def unwatched():
    """No tracing and no mode of the submission's in here."""
    torch = sys.modules["torch"]
    sys.settrace(None)
    sys.setprofile(None)
    with torch._C.DisableTorchFunction(), torch.utils._python_dispatch._disable_current_modes():
        yield
