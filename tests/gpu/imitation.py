"""Workers whose device ``cuda`` is an imitation: memory of its own beside the host's, an allocator that counts, kernels that can be stopped.

Started by the tests, and by nothing else: the package has no way to it. It imports once and then forks a worker for each request (conftest.py asks).
A submission can ask ``torch.cuda.is_available()``, as on a GPU, and stop the device with ``torch.cuda.fault(reason)``.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import weakref
from pathlib import Path

SANDBOX = Path(__file__).resolve().parents[2] / "grader" / "sandbox"
ADVICE = "CUDA kernel errors might be asynchronously reported at some other API call"


class Device:
    """What stands in for ``devices.py`` and for the memory side of ``torch.cuda``."""

    def __init__(self, torch):
        self.torch, self.stopped, self.counted, self.mode = torch, "", 0, None

    def fault(self, reason="an illegal memory access was encountered"):
        """A kernel does what the device forgives nobody. As on a GPU, it shows when somebody next waits for the device."""
        self.stopped = reason

    def wait(self, device="cuda"):
        if self.stopped:
            raise RuntimeError(f"CUDA error: {self.stopped}\n{ADVICE}")

    synchronize = wait

    def put(self, flat, device):
        if device == "cpu":
            return flat
        self.wait()
        return flat.clone()

    def kind(self, tensor):
        return "cpu" if hasattr(tensor, "copied_back") else "cuda"

    def cpu(self, tensor):
        self.wait()
        copy = tensor.clone()
        copy.copied_back = True
        return copy

    def allocator(self, device):
        return self if device == "cuda" else None

    def memory_allocated(self):
        return 0

    def reset_peak_memory_stats(self):
        self.counted, self.mode = 0, counting(self)
        self.mode.__enter__()

    def max_memory_allocated(self):
        self.mode.__exit__(None, None, None)
        return self.counted


def counting(device):
    """Counts the storage of what every operator returns for as long as a tensor lies in it."""
    from torch.utils._python_dispatch import TorchDispatchMode

    held, now = {}, [0]  # storage -> [tensors in it, bytes]

    def drop(place):
        held[place][0] -= 1
        if not held[place][0]:
            now[0] -= held.pop(place)[1]

    class Counting(TorchDispatchMode):
        def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
            result = operator(*args, **(kwargs or {}))
            given = {x.untyped_storage().data_ptr() for x in args if isinstance(x, device.torch.Tensor)}
            for x in result if isinstance(result, (tuple, list)) else (result,):
                place = x.untyped_storage().data_ptr() if isinstance(x, device.torch.Tensor) else 0
                if place in held or (place and place not in given):
                    if place not in held:
                        held[place] = [0, x.untyped_storage().nbytes()]
                        now[0] += held[place][1]
                    held[place][0] += 1
                    weakref.finalize(x, drop, place)
            device.counted = max(device.counted, now[0])
            return result

    return Counting()


def attend(q, k, v, out, lse, causal):
    """What a fused kernel leaves in out and lse, bfloat16 too, which the interpreter has wrong."""
    import torch

    wide = torch.float64 if q.dtype is torch.float32 else torch.float32
    s = q.to(wide) @ k.to(wide).mT * q.shape[-1] ** -0.5
    if causal:
        hidden = torch.arange(k.shape[2]) > torch.arange(q.shape[2])[:, None] + (k.shape[2] - q.shape[2])
        s = s.masked_fill(hidden, -torch.inf)
    lse.copy_(s.logsumexp(-1))
    out.copy_((s - s.logsumexp(-1, keepdim=True)).exp().nan_to_num(0.0) @ v.to(wide))


def accelerate(torch, triton, name):
    """Kernels of this name are computed at once, as a device does, and not program by program."""
    kind = type(triton.jit(accelerate))
    run = kind.run

    def launched(kernel, *args, grid=None, warmup=False, **kwargs):
        if kernel.fn.__name__ != name:
            return run(kernel, *args, grid=grid, warmup=warmup, **kwargs)
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():  # what a kernel does is no call into torch
            return attend(*args[:5], kwargs["CAUSAL"])

    kind.run = launched


def imitate(devices):
    """Replace what differs on a device."""
    import torch
    import triton

    accelerate(torch, triton, "_flash_kernel")

    device = Device(torch)
    for name in ("put", "kind", "wait", "allocator"):
        setattr(devices, name, getattr(device, name))
    devices.flush = lambda name: None
    torch.Tensor.cpu = lambda tensor: device.cpu(tensor)
    torch.cuda.is_available, torch.cuda.fault = (lambda: True), device.fault


def be(role, settings):
    """A worker: the plain one, the trusted one, or either with the imitation for its device."""
    import worker
    from attngrade.sandbox import devices as trusted_devices
    from attngrade.sandbox import rehearse

    if settings["device"] == "cuda":
        imitate(trusted_devices if role == "trusted" else sys.modules["devices"])
    if role == "trusted":
        rehearse.main(settings)
    worker.SETTINGS = settings
    worker.main()


def hatch(request, wire, printed):
    """Fork one; its pidfd comes back, since the number of its pipes and its folder are all that it needs."""
    pid = os.fork()
    if pid:
        return os.pidfd_open(pid)
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for place in (1, 2):
        os.dup2(printed, place)
    os.environ["TRITON_CACHE_DIR"] = request["home"]
    try:
        be(request["role"], {**request["settings"], "wire": wire})
    finally:
        os._exit(1)


def main():
    os.environ["TRITON_INTERPRET"] = "1"
    sys.path.insert(0, str(SANDBOX))
    import torch
    import triton  # noqa: F401
    import worker  # noqa: F401
    from attngrade.sandbox import rehearse  # noqa: F401

    del sys.path[0]
    with counting(Device(torch)):  # what the first of these imports is imported here
        torch.ones(1)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    control = socket.socket(fileno=int(sys.argv[1]))
    while True:
        text, given, _, _ = socket.recv_fds(control, 1 << 20, 3)
        if not text:
            return
        handle = hatch(json.loads(text), list(given[:2]), given[2])
        socket.send_fds(control, [b"hatched"], [handle])
        for fd in (*given, handle):
            os.close(fd)


if __name__ == "__main__":
    main()
