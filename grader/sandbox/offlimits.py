"""Refusing calls that an exercise puts off limits, by whatever road they are reached: a courtesy beside the host's own reading of the source.

Runs in the worker, before the submission is loaded. A module is hollow, a Python function has its code taken out (so that every reference to
it refuses), a class can't be made, and an operator of torch is overridden in the dispatcher, below Python, TorchScript and C++ alike. The files that
hold these are not run a second time, so that reloading brings nothing back; and nothing is kept here by which a submission could take it all down again.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.abc
import importlib.machinery
import os
import sys
import types
import warnings

try:
    from alike import TELLING, Alike, Sought, Worded
    from hollow import Hollow, refusal, run_once
    from roads import close_doors, close_files, close_symbols, refuser
except ImportError:
    from .alike import TELLING, Alike, Sought, Worded
    from .hollow import Hollow, refusal, run_once
    from .roads import close_doors, close_files, close_symbols, refuser

TRANSFORMS = ("CompositeImplicitAutograd", "FuncTorchBatched")  # beside the device's own: where an operator would be taken apart unseen
LAYOUTS = ("Mkldnn{}", "Sparse{}", "SparseCsr{}", "Quantized{}", "NestedTensor{}")  # of tensors that have kernels of their own for an operator
KIN = {  # modules that do the work of others: they stay, for whoever imports them, and do nothing
    "torch.nn.attention": ("torch._higher_order_ops.flex_attention", "torch.onnx.ops", "torch.onnx.ops._impl", "torch._inductor.fx_passes.fuse_attention")}
PURE = ("torch._refs", "torch._decomp", "torch._inductor", "scipy.special", "sklearn.", "triton.language")  # libraries that spell out what is off limits in some functions alone


def template(*args, **kwargs):
    """The code of every function that refuses: the constant gives way to an exception."""
    raise "PLACE"  # noqa: B016


def spelt_out(torch, full):
    """A softmax by what it comes to, for the functions that may call it."""
    bare, _, _ = full.removeprefix("aten::").partition(".")

    def apart(x, dim, half_to_float=False, out=None):
        if bare == "_safe_softmax":
            return torch.softmax(x, dim, dtype=half_to_float or None).masked_fill(torch.isneginf(x).all(dim, keepdim=True), 0.0)
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        shifted = wide - wide.amax(dim, keepdim=True) if wide.numel() else wide
        sums = shifted.exp().sum(dim, keepdim=True)
        result = (shifted - sums.log() if bare == "_log_softmax" else shifted.exp() / sums).to(wide.dtype if half_to_float else x.dtype)
        return result if out is None else out.copy_(result)

    return apart if bare in ("_softmax", "_log_softmax", "_safe_softmax") else refuser(bare)


class Guard(importlib.abc.MetaPathFinder):
    """The off-limits list of an exercise, put up in this process. ``within`` holds names that are off limits while one of some functions is running."""

    def __init__(self, modules, names, paths, device="cpu", within=None):
        self.modules, self.names, self.paths, self.device, self.within = modules, names, paths, device, within or {}
        self.kindred = [*names, *dict.fromkeys(path.rpartition(".")[2] for path in paths if path.startswith("torch."))]  # what other things may do as well
        self.alike, self.worded = Alike(self.kindred), Worded(self.within)
        self.kin = {kin for module in modules for kin in KIN.get(module, ())}
        self.homes = {path.partition(".")[0] for path in paths}
        self.files = set()

    def install(self, running=("",)):
        """Put everything up: what is loaded already, and what would be imported later. ``running`` holds the function that was called, and is not kept here."""
        sys.meta_path.insert(0, self)
        torch = sys.modules.get("torch")
        for name, module in list(sys.modules.items()):
            if self.closed(name):
                self.empty(module, name)
                sys.modules.pop(name, None)
            elif name in self.kin:
                self.empty(module, name)
            elif module is not None and self.concerns(name):
                self.strip(module)
        if torch is not None and (self.kindred or self.within):
            self.override(torch, running)
            for home in (torch, torch.nn, torch.nn.functional, torch.Tensor, torch._C._nn):
                for name in self.names:
                    self.close(home, name)
            close_doors(torch)
            close_files(os.path.join(os.path.dirname(torch.__file__), "lib"))
            close_symbols([name for name in (*self.kindred, *self.within) if len(name) >= TELLING - 1])
        run_once(self.files)

    def closed(self, name):
        """Whether a module is off limits."""
        return any(name == module or name.startswith(module + ".") for module in self.modules)

    def find_spec(self, name, path=None, target=None):
        """Refuse a module; strip one that holds a path of the list once it is there."""
        if self.closed(name):
            return importlib.machinery.ModuleSpec(name, Hollow, is_package=True)
        return self.stripped_later(name, path, target) if name in self.kin or self.concerns(name) else None

    def concerns(self, name):
        """Whether a module may hold something that is off limits."""
        return name.partition(".")[0] in self.homes or (self.kindred and name.startswith("torch.")) or (self.within and name.startswith(PURE))

    def stripped_later(self, name, path, target):
        """The module's own spec, whose loader is followed by ``strip``."""
        finders = (finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec"))
        spec = next((found for finder in finders if (found := finder.find_spec(name, path, target)) is not None), None)
        execute = getattr(spec and spec.loader, "exec_module", None)
        if execute is not None:
            def executed(module):
                execute(module)
                self.strip(module)

            with contextlib.suppress(AttributeError):
                spec.loader.exec_module = executed
        return spec

    def strip_alike(self, module):
        """Close the framework's own Python functions that do what a name of the list does, and all methods of its classes that bear the name elsewhere."""
        for function, value in list(vars(module).items()):
            if issubclass(type(value), (types.FunctionType, type)) and (value.__module__ or "").startswith("torch."):
                name = self.alike[function]
                for part in () if name is None else list(vars(value).values()) if isinstance(value, type) else [value]:
                    part = getattr(part, "__func__", part)
                    if isinstance(part, types.FunctionType):
                        self.take_out(part, name)

    def strip_worded(self, module):
        """Close what a library spells out in Python, or as a kernel's part, and what no dispatcher refuses."""
        for function, value in list(vars(module).items()):
            name = self.worded[function] if callable(value) and not isinstance(value, type) else None
            if name is not None and not isinstance(value, types.FunctionType):
                setattr(module, function, refuser(name))
            elif name is not None and (value.__module__ or "").startswith(PURE):
                self.take_out(value, name)

    def strip(self, module):
        """Close the last names of the paths wherever below the path's package they stand."""
        if module.__name__.startswith("torch."):
            self.strip_alike(module)
        if self.within and module.__name__.startswith(PURE):
            self.strip_worded(module)
        if module.__name__ in self.kin:
            self.files = set()
            self.empty(module, module.__name__)
            run_once(self.files)
        for path in self.paths:
            home, _, name = path.rpartition(".")
            if (module.__name__ + ".").startswith(home + ".") and hasattr(module, name):
                self.files = set()
                self.close(module, name)
                run_once(self.files)

    def override(self, torch, running):
        """Every operator whose name holds a name of the list refuses, on every road to it."""
        library = torch._C._dispatch_library("IMPL", "aten", "", __file__, 0)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))  # it stays, and nobody has it
        sought = Sought(self.kindred)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for full in torch._C._dispatch_get_all_op_names():
                bare = full[6:].partition(".")[0].strip("_") if full.startswith("aten::") else ""
                name = sought[bare] if bare else None
                if name is not None:
                    self.override_one(torch, library, full, name)
                elif bare in self.within:
                    for key in self.served(torch, full, (self.device.upper(), *self.layouts())):
                        library.impl(full, key, refuser(bare, lambda names=self.within[bare]: running[0] in names, spelt_out(torch, full)))

    def layouts(self):
        """The dispatch keys of tensors in other layouts on this device."""
        return [layout.format(self.device.upper()) for layout in LAYOUTS]

    @staticmethod
    def served(torch, full, keys):
        """Those of some dispatch keys that an operator has a kernel of its own for; not every device has every layout."""
        found = []
        for key in keys:
            with contextlib.suppress(RuntimeError):
                found += [key] if torch._C._dispatch_has_kernel_for_dispatch_key(full, key) else []
        return found

    def override_one(self, torch, library, full, name):
        for key in (self.device.upper(), *TRANSFORMS, *self.served(torch, full, self.layouts())):
            if key != TRANSFORMS[0] or torch._C._dispatch_has_kernel_for_dispatch_key(full, key):
                with contextlib.suppress(RuntimeError):
                    try:
                        library.impl(full, key, refuser(name), False)
                    except TypeError:  # an older torch
                        library.impl(full, key, refuser(name))

    def empty(self, module, name):
        """A module that is loaded already, and that somebody may hold: nothing written in it works any more."""
        self.remember(module)
        for value in list(vars(module).values()) if module is not None else ():
            if getattr(value, "__module__", None) == module.__name__:
                self.take_out(value, name)

    def close(self, home, name):
        """One name of a module or class."""
        value = vars(home).get(name) if hasattr(home, "__dict__") else None
        if value is None and not hasattr(home, name):
            return
        self.take_out(value, name)
        self.remember(sys.modules.get(getattr(value, "__module__", None)))
        if not isinstance(value, type):
            with contextlib.suppress(AttributeError, TypeError):
                setattr(home, name, refuser(name))

    def remember(self, module):
        """Note the file of a module, or the folder of a package, as one that is not run again."""
        file = getattr(module, "__file__", None)
        if file:
            self.files.add(os.path.dirname(file) + os.sep if getattr(module, "__path__", None) and self.closed(module.__name__) else file)

    @staticmethod
    def take_out(value, name):
        """A Python function loses its code, a class its making."""
        if isinstance(value, types.FunctionType):
            constants = tuple(refusal(name) if constant == "PLACE" else constant for constant in template.__code__.co_consts)
            value.__code__ = template.__code__.replace(co_consts=constants, co_freevars=value.__code__.co_freevars)  # a closure keeps its cells
            Guard.take_out(vars(value).get("__wrapped__"), name)
        elif isinstance(value, type):
            for part in ("__init__", "__new__", "forward"):
                with contextlib.suppress(AttributeError, TypeError):
                    setattr(value, part, refuser(name))
