"""Calls the fused function of each file with every launch turned into a compilation for a Hopper GPU; one line of JSON for each file."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.driver import ty_to_cpp
from triton.runtime.jit import JITFunction

CASES = [(torch.bfloat16, 16, True), (torch.float32, 16, False)]
compiled = []


class Driver:
    """As much of a driver as compiling asks for."""

    def get_current_target(self):
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self):
        return 0

    def get_current_stream(self, device=0):
        return 0

    def get_active_torch_device(self):
        return torch.device("cpu")

    def map_python_to_cpp_type(self, kind):
        return ty_to_cpp(kind)

    def get_benchmarker(self):
        return lambda work, **_: (work(), [1.0, 1.0, 1.0])[1]


def compiling(run):
    """A launch that only compiles."""

    def compile_only(kernel, *args, grid=None, warmup=False, **kwargs):
        compiled.append(run(kernel, *args, grid=grid, warmup=True, **kwargs))
        return compiled[-1]

    return compile_only


def row(path):
    """What became of one file."""
    spec = importlib.util.spec_from_file_location("submission", path)
    module = sys.modules["submission"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    compiled.clear()
    failed = ""
    for dtype, width, causal in CASES:
        q, k, v = (torch.randn(1, 2, t, width).to(dtype) for t in (5, 7, 7))
        try:
            module.flash_attention(q, k, v, causal)
        except Exception as error:
            failed += f"{dtype}: {type(error).__name__}: {str(error)[-300:]} "
    tf32 = any(".tf32" in kernel.asm["ptx"] for kernel in compiled)
    return {"file": Path(path).name, "kernels": len(compiled), "failed": failed, "tf32": tf32}


triton.runtime.driver.set_active(Driver())
JITFunction.run = compiling(JITFunction.run)
for path in sys.argv[1:]:
    print("\n" + json.dumps(row(path)), flush=True)
