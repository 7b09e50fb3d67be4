"""The worker's way to its device: how tensors get there, where one lies, when the device has done all that it was asked. Runs beside ``worker.py``.

On a CPU every one of these is nothing at all. The tests of the GPU's path replace them from their own side.
"""

from __future__ import annotations

import sys

FLUSH_BYTES = 256 << 20  # several times any L2 cache


def put(flat, device):
    """A flat tensor on the device, what stands around its values included."""
    return flat if device == "cpu" else flat.to(device)


def kind(tensor):
    """The type of the device that a tensor lies on."""
    return tensor.device.type


def wait(device):
    """Until the device has done everything; what went wrong in a kernel is raised here at the latest."""
    if device == "cuda":
        sys.modules["torch"].cuda.synchronize()


def allocator(device):
    """What counts the device's memory for this process; None where nobody does."""
    return sys.modules["torch"].cuda if device == "cuda" else None


def flush(device):
    """Overwrite the cache, so that no timed call finds its inputs in it."""
    if device == "cuda":
        torch = sys.modules["torch"]
        torch.empty(FLUSH_BYTES, dtype=torch.int8, device=device).zero_()
