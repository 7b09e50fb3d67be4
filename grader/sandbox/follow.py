"""A kernel followed while the interpreter runs it: that it is the one which its compiler read, and that its programs would come to the same in any order.

Runs beside ``relaunch.py``.
"""

from __future__ import annotations

import contextlib
import dis
import itertools
import sys

import numpy as np

try:
    import purity
except ImportError:
    from . import purity

FOLDER = "/kernels/"  # nothing lies there: texts of kernels are kept by these names for whoever reads source
WORKING = ("CALL", "BINARY", "COMPARE", "UNARY")  # instructions that work something out


class Overlap:
    """Whether a program wrote over what another one had left: called whenever one ends, with the memories (flat tensors of bytes) that results are in."""

    def __init__(self, memories):
        self.memories, self.seen = memories, False
        self.before = self.owned = None

    def begin(self):
        """Remember what stands there now."""
        self.before = [octets.numpy().copy() for octets in self.memories]
        self.owned = [np.zeros(len(one), dtype=bool) for one in self.before]

    def __call__(self):
        for octets, old, taken in zip(self.memories, self.before, self.owned, strict=True):
            now = octets.numpy()
            changed = now != old
            self.seen |= bool((changed & taken).any())
            taken |= changed
            old[:] = now


@contextlib.contextmanager
def followed(visited, ended, plain):
    """Calls ``ended`` after every program, and raises NotTriton before anything of a kernel is worked out that its compiler never came to: the interpreter and the compiler were shown two different kernels."""
    if visited is None:
        yield
        return
    ended.begin()
    read = {file: {tuple(place) for place in places} for file, places in visited.items()}
    known, programs = {}, []

    def fine(code, at):
        first, last, column, end = next(itertools.islice(code.co_positions(), at // 2, None))[:4]
        if dis.opname[code.co_code[at]].startswith(WORKING) and None not in (first, last, column, end):
            return any((first, column) <= (a, b) and (c, d) <= (last, end) for a, b, c, d in read.get(code.co_filename, ()))
        return True

    def step(frame, event, arg):
        if event == "opcode":
            place = frame.f_code, frame.f_lasti
            if place not in known:
                known[place] = fine(*place)
            if not known[place]:
                sys.settrace(None)
                raise purity.NotTriton(f"{frame.f_code.co_name} does here (line {frame.f_lineno}) what a compiler never comes to read: it would be another kernel on a GPU")
        elif event == "return" and not frame.f_back.f_code.co_filename.startswith(FOLDER) and frame.f_code is programs[0]:
            ended()
        return step

    def enter(frame, event, arg):
        if not frame.f_code.co_filename.startswith(FOLDER) or frame.f_code.co_filename in plain:
            return None
        frame.f_trace_opcodes = True
        programs.append(frame.f_code)
        return step

    sys.settrace(enter)
    try:
        yield
    finally:
        sys.settrace(None)
