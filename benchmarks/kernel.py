"""The reference kernel against PyTorch's own flash attention, in one process on one CUDA device: alternating, warm, L2 flushed, medians.

    python -m benchmarks.kernel [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from attngrade.catalog import builtin
from torch.nn.attention import SDPBackend, sdpa_kernel

ROUNDS, FLUSH = 30, 256 << 20
SHAPES = [(2, 16, t, d) for t in (4096, 8192) for d in (64, 128)]


def reference() -> Callable[..., Any]:
    """The fused kernel of the first exercise that needs a GPU."""
    exercise = next(e for e in builtin().exercises if e.gpu)
    scope: dict[str, Any] = {}
    import importlib

    scope = vars(importlib.import_module(f"attngrade.solutions.{exercise.module}"))
    return scope[exercise.functions[-1]]  # type: ignore[no-any-return]


def milliseconds(work: Callable[[], Any], flush: torch.Tensor) -> float:
    """One timed run after the L2 cache was overwritten."""
    flush.zero_()
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    work()
    stop.record()
    torch.cuda.synchronize()
    return float(start.elapsed_time(stop))


def race(shape: tuple[int, int, int, int], causal: bool) -> dict[str, Any]:
    """Medians of both, TFLOP/s, and the memory beyond inputs and outputs of ours."""
    b, h, t, d = shape
    q, k, v = (torch.randn(shape, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    flash, flush = reference(), torch.empty(FLUSH, dtype=torch.int8, device="cuda")

    def ours() -> Any:
        return flash(q, k, v, causal=causal)

    def torchs() -> Any:
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    out, expected = ours()[0], torchs()
    error = float((out.float() - expected.float()).abs().max() / expected.float().abs().max())
    for _ in range(5):
        ours(), torchs()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    kept = ours()
    extra = torch.cuda.max_memory_allocated() - before - sum(x.nbytes for x in kept)
    times: dict[str, list[float]] = {"ours": [], "torch": []}
    for _ in range(ROUNDS):
        times["ours"].append(milliseconds(ours, flush))
        times["torch"].append(milliseconds(torchs, flush))
    flops = 4 * b * h * t * t * d * (0.5 if causal else 1.0)
    ms = {name: statistics.median(found) for name, found in times.items()}
    return {"shape": shape, "causal": causal, "error": error, "extra_bytes": int(extra), **{f"{name}_ms": value for name, value in ms.items()},
            **{f"{name}_tflops": flops / value / 1e9 for name, value in ms.items()}, "ratio": ms["torch"] / ms["ours"]}


def main() -> None:
    """Run every shape and print, or write, JSON. Without a CUDA device it says so and ends with 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    if not torch.cuda.is_available():
        print("No CUDA device here: the kernel benchmark did not run.")
        return
    told = {"card": torch.cuda.get_device_name(), "capability": torch.cuda.get_device_capability(), "torch": torch.__version__,
            "rows": [race(shape, causal) for shape in SHAPES for causal in (False, True)]}
    text = json.dumps(told, indent=1)
    print(text)
    if asked.output:
        asked.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
