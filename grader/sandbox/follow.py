"""A kernel followed while the interpreter runs it: that it is the one which its compiler read, and that its programs would come to the same in any order.

Runs beside ``relaunch.py``.
"""

from __future__ import annotations

import contextlib
import dis
import sys

import numpy as np

try:
    import purity
except ImportError:
    from . import purity

FOLDER = "/kernels/"  # nothing lies there: texts of kernels are kept by these names for whoever reads source
WORKING = ("CALL", "BINARY", "COMPARE", "UNARY")  # instructions that work something out


BITS = {1: "int8", 2: "int16", 4: "int32", 8: "int64"}


class Programs:
    """Called whenever a program of a launch ends, with the memories (flat float tensors) that its results are in: sees whether one wrote over what another one had left.

    What a program has left is put aside, with other numbers in its place until ``finish`` (no NaN or large ones: those would stay themselves), so that one which reads it goes astray.
    """

    def __init__(self, memories):
        torch = sys.modules["torch"]
        self.overlap = False
        self.memories = [flat.detach().view(getattr(torch, BITS[flat.element_size()])).numpy() for flat in memories]
        strange = [(-1000 - torch.arange(flat.numel()) % 89).to(flat.dtype) for flat in memories]
        self.poisons = [one.view(getattr(torch, BITS[one.element_size()])).numpy() for one in strange]
        self.expected = [now.copy() for now in self.memories]
        self.owned = [np.zeros(len(now), dtype=bool) for now in self.memories]
        self.left = [now.copy() for now in self.memories]

    def __call__(self):
        for now, poison, expected, owned, left in zip(self.memories, self.poisons, self.expected, self.owned, self.left, strict=True):
            changed = now != expected
            self.overlap |= bool((changed & owned).any())
            left[changed] = now[changed]
            owned |= changed
            now[changed] = expected[changed] = poison[changed]

    def finish(self):
        """Put everything back where it was left."""
        for now, owned, left in zip(self.memories, self.owned, self.left, strict=True):
            now[owned] = left[owned]


class Follower:
    """Tells ``watch`` of every program that ends, and raises NotTriton before anything of a kernel is worked out that its compiler never came to."""

    def __init__(self, visited, watch, plain):
        self.visited = {file: {tuple(place) for place in places} for file, places in visited.items()}
        self.watch, self.plain, self.kernel, self.unread = watch, plain, None, {}

    def fine(self, file, first, last, column, end):
        """Whether the compiler came to some of an expression, or to one that ends where it does: Python and the interpreter move where some calls begin, and none's end."""
        places = self.visited.get(file, ())
        return any(((first, column) <= (a, b) and (c, d) <= (last, end)) or (whole and (c, d) == (last, end)) for a, b, c, d, whole in places)

    def not_come_to(self, code):
        """Offsets of instructions that work something out and that the compiler never came to, with their lines."""
        places = zip(range(0, len(code.co_code), 2), code.co_positions(), strict=False)
        working = [(at, place) for at, place in places if dis.opname[code.co_code[at]].startswith(WORKING) and None not in place]
        return {at: place[0] for at, place in working if not self.fine(code.co_filename, *place)}

    def enter(self, frame, event, arg):
        """A function begins: those of kernels are followed."""
        code = frame.f_code
        if not code.co_filename.startswith(FOLDER) or code.co_filename in self.plain:
            return None
        if code not in self.unread:
            self.kernel = self.kernel or code
            self.unread[code] = self.not_come_to(code)
        frame.f_trace_lines = bool(self.unread[code])
        return self.step

    def step(self, frame, event, arg):
        """A line, an instruction of a line where that matters, or the end."""
        here = self.unread[frame.f_code]
        if event == "opcode" and frame.f_lasti in here:
            sys.settrace(None)
            raise purity.NotTriton(f"{frame.f_code.co_name} does here (line {frame.f_lineno}) what a compiler never comes to read: it would be another kernel on a GPU")
        if event == "line":
            frame.f_trace_opcodes = frame.f_lineno in here.values()
        elif event == "return" and frame.f_code is self.kernel and not frame.f_back.f_code.co_filename.startswith(FOLDER):
            self.watch()
        return self.step


@contextlib.contextmanager
def followed(visited, watch, plain):
    """Follow what runs in here, where it is known what a compiler has ``visited``; files in ``plain`` are none of a kernel's."""
    if visited is None:
        yield
        return
    sys.settrace(Follower(visited, watch, plain).enter)
    try:
        yield
    finally:
        sys.settrace(None)
        watch.finish()
