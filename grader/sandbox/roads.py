"""Roads on which a library computes past its own dispatcher, where the refusals stand: closed whole, since no right file needs one. Beside ``offlimits.py``."""

from __future__ import annotations

import os
import sys
import types

try:
    from hollow import Hollow, refusal
except ImportError:
    from .hollow import Hollow, refusal

DOORS = (  # of torch._C: graphs made of names, and what runs them by kernels of its own
    "parse_ir", "_create_function_from_graph", "_jit_interpret_graph", "_jit_to_static_module", "_fuse_to_static_module", "StaticModule")
PASSES = ("_jit_pass_convert_frozen_ops_to_mkldnn", "_jit_pass_optimize_for_inference", "_jit_pass_fuse_tensorexprs")  # into operators of other kernels
ENGINES = ("_te", "_nativert")  # modules of torch._C
TWINS = ("MKLDNNLayerNorm",)  # of TorchScript alone: no dispatcher knows them
FINDERS = ("dlsym", "dlvsym", "dlopen", "dlmopen", "dladdr", "dlinfo", "dliteratephdr", "dynamiclibrary")  # what is in the names of C functions that find any other


def refuser(name, when=lambda: True, otherwise=None):
    """A function that refuses, or does something else at other times."""

    def refuse(*args, **kwargs):
        if when():
            raise refusal(name)
        return otherwise(*args, **kwargs)

    return refuse


def close_doors(torch):
    """Nothing is run past the dispatcher any more."""
    for name in DOORS:
        if hasattr(torch._C, name):
            setattr(torch._C, name, refuser(f"torch._C.{name}"))
    for name in PASSES:
        if hasattr(torch._C, name):
            setattr(torch._C, name, left_as_it_is)
    for name in ENGINES:
        full = f"torch._C.{name}"
        if isinstance(getattr(torch._C, name, None), types.ModuleType):
            sys.modules[full] = Hollow(full, full)
            setattr(torch._C, name, sys.modules[full])
    torch._C._jit_get_operation = without_twins(torch._C._jit_get_operation)


def left_as_it_is(*graph):
    """A pass that changes nothing: what it would make computes the same."""


def without_twins(find):
    """What finds an operator by its name, and not one of those that no dispatcher knows."""

    def found(name):
        if name.rpartition("::")[2].strip("_") in TWINS:
            raise refusal(name)
        return find(name)

    return found


def close_files(folder):
    """From now on no file of a library is read as data: where a function lies stands in it, by whose place it could be called."""
    inside = os.path.realpath(folder) + os.sep

    def watch(event, args, folder=inside, place=os.path.realpath, kinds=(str, bytes), text=os.fsdecode, refused=refusal):
        if event == "open" and isinstance(args[0], kinds) and ("libtorch" in text(args[0]) or place(text(args[0])).startswith(folder)):
            raise refused("reading the library's own files")

    sys.addaudithook(watch)


def close_symbols(names):
    """From now on no function of a library is found by a symbol that holds one of these names, nor is a C function that finds others: past the dispatcher nothing else refuses."""
    if not names:
        return
    squeezed = {name.replace("_", "").lower(): name for name in names}

    def watch(event, args, names=squeezed, finders=FINDERS, refused=refusal):
        if event in ("ctypes.dlsym", "ctypes.dlsym/handle") and isinstance(args[-1], str):
            symbol = args[-1].replace("_", "").lower()
            if any(finder in symbol for finder in finders):
                raise refused(f"finding functions by {args[-1]}")
            for letters, name in names.items():
                if letters in symbol:
                    raise refused(name)

    sys.addaudithook(watch)
