"""Memory with something around it: margins of poison round all that a call allocates, a page that may not be touched behind an argument.

Runs beside ``worker.py``.
"""

from __future__ import annotations

import ctypes
import mmap
import sys

import numpy as np

MARGIN = 1 << 15  # elements on either side of a fenced allocation
FENCED = ("uint8", "float16", "bfloat16", "float32", "float64", "int32", "int64")  # what a kernel's memory may have been allocated as


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
    """Bytes of a tensor's memory: whole, though a view of it is handed over, and without the margin of an earlier call's fence (it may have been allocated as another dtype)."""
    torch, storage = sys.modules["torch"], tensor.untyped_storage()
    for dtype in dict.fromkeys((tensor.dtype, *(getattr(torch, name) for name in FENCED))):
        if storage.nbytes() <= 2 * MARGIN * dtype.itemsize or storage.nbytes() % dtype.itemsize:
            continue
        whole = torch.empty(0, dtype=dtype, device=tensor.device).set_(storage)
        clean = whole.new_full((1,), poison(whole))
        if intact(whole[:MARGIN], clean) and intact(whole[-MARGIN:], clean):
            return storage.nbytes() - 2 * MARGIN * dtype.itemsize
    return storage.nbytes()


def inside(tensor):
    """What of a tensor's memory counts, without the margins of a fence: the first byte and how many."""
    size = weight(tensor)
    return (tensor.untyped_storage().nbytes() - size) // 2, size


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
    held = mmap.mmap(-1, size + page, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    start = ctypes.addressof(ctypes.c_char.from_buffer(held))
    if ctypes.CDLL(None, use_errno=True).mprotect(ctypes.c_void_p(start + size), ctypes.c_size_t(page), 0):
        raise OSError(ctypes.get_errno(), "mprotect")
    copy = np.frombuffer(held, array.dtype, array.size, size - array.nbytes)
    copy[:] = array
    return copy
