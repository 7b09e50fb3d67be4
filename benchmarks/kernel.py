"""The reference kernel against PyTorch's own flash attention, in one process on one CUDA device: alternating, warm, L2 flushed, medians.

    python -m benchmarks.kernel [--tune] [--try] [--output FILE]

``--tune`` times other tiles than the kernel's table has, one line each. ``--try`` runs all of it without a device: tiny inputs, Triton's interpreter, and
times that mean nothing.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

TRYING = "--try" in sys.argv
if TRYING:
    os.environ["TRITON_INTERPRET"] = "1"  # read when Triton is imported

import torch  # noqa: E402  the line above comes first
from attngrade.catalog import builtin  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402

Shape = tuple[int, int, int, int]  # B, H, T, Dh
SHAPES: list[Shape] = [(2, 16, t, d) for t in (4096, 8192) for d in (64, 128)]
SMALL: list[Shape] = [(1, 2, t, d) for t in (32, 64) for d in (16, 32)]
TILES = {64: [(128, 64, 4, 3), (128, 128, 4, 3), (128, 128, 4, 2), (128, 128, 8, 3), (64, 128, 4, 3)],
         128: [(128, 64, 8, 3), (128, 128, 8, 3), (128, 128, 8, 2), (128, 64, 8, 2), (64, 64, 4, 3)],
         16: [(16, 16, 4, 2)], 32: [(32, 16, 4, 2)]}  # the last two are for --try


class Bench(NamedTuple):
    """Where and how often is measured."""

    device: str
    dtype: torch.dtype
    rounds: int
    flush_bytes: int

    def wait(self) -> None:
        """Until the device has done all it was asked."""
        if self.device == "cuda":
            torch.cuda.synchronize()


GPU = Bench("cuda", torch.bfloat16, 30, 1 << 30)  # a GiB takes longer to overwrite than a launch takes to prepare, so no launch shows in a time
CPU = Bench("cpu", torch.float32, 2, 1 << 16)


def reference() -> tuple[ModuleType, str]:
    """The module of the first exercise that needs a GPU, and the name of its kernel's function."""
    exercise = next(e for e in builtin().exercises if e.gpu)
    return importlib.import_module(f"attngrade.solutions.{exercise.module}"), exercise.functions[-1]


def milliseconds(work: Callable[[], Any], flush: torch.Tensor, bench: Bench) -> float:
    """One timed run after the L2 cache was overwritten."""
    flush.zero_()
    if bench.device == "cpu":
        started = time.perf_counter()
        work()
        return 1e3 * (time.perf_counter() - started)
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    work()
    stop.record()
    torch.cuda.synchronize()
    return float(start.elapsed_time(stop))


def medians(contestants: dict[str, Callable[[], Any]], bench: Bench) -> dict[str, float]:
    """The median milliseconds of each, run in turn so that clocks and heat hit all alike."""
    flush = torch.empty(bench.flush_bytes, dtype=torch.int8, device=bench.device)
    for _ in range(5 if bench.device == "cuda" else 1):
        for work in contestants.values():
            work()
    bench.wait()
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(bench.rounds):
        for name, work in contestants.items():
            times[name].append(milliseconds(work, flush, bench))
    return {name: statistics.median(found) for name, found in times.items()}


def flops(shape: Shape, causal: bool) -> float:
    """Multiplications and additions of both products; causal needs half of them."""
    b, h, t, d = shape
    return 4.0 * b * h * t * t * d * (0.5 if causal else 1.0)


def drawn(shape: Shape, bench: Bench) -> list[torch.Tensor]:
    """Random q, k and v."""
    return [torch.randn(shape, device=bench.device, dtype=bench.dtype) for _ in range(3)]


def torchs(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool, backend: SDPBackend = SDPBackend.FLASH_ATTENTION) -> torch.Tensor:
    """PyTorch's own, by one named backend and no other."""
    with sdpa_kernel(backend):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)


def race(shape: Shape, causal: bool, bench: Bench) -> dict[str, Any]:
    """Medians of both, TFLOP/s, how far the results are apart, and the memory beyond inputs and outputs of ours."""
    module, name = reference()
    flash, (q, k, v) = getattr(module, name), drawn(shape, bench)
    contestants: dict[str, Callable[[], Any]] = {"ours": lambda: flash(q, k, v, causal=causal), "torch": lambda: torchs(q, k, v, causal)}
    if bench.device == "cuda" and can(lambda: torchs(q, k, v, causal, SDPBackend.CUDNN_ATTENTION)):
        contestants["torch_cudnn"] = lambda: torchs(q, k, v, causal, SDPBackend.CUDNN_ATTENTION)
    out, lse = contestants["ours"]()
    wanted = contestants["torch"]()
    ms, work = medians(contestants, bench), flops(shape, causal)
    return {"shape": shape, "causal": causal, "error": apart(out, wanted), "lse_error": lse_error(q, k, lse, causal), **extra(contestants["ours"], bench),
            **{f"{name}_ms": value for name, value in ms.items()}, **{f"{name}_tflops": work / value / 1e9 for name, value in ms.items()},
            "ratio": ms["torch"] / ms["ours"]}


def can(work: Callable[[], Any]) -> bool:
    """Whether this build has what it takes."""
    try:
        work()
    except RuntimeError:
        return False
    return True


def apart(got: torch.Tensor, wanted: torch.Tensor) -> float:
    """The largest difference, relative to the largest value."""
    return float((got.float() - wanted.float()).abs().max() / wanted.float().abs().max())


def lse_error(q: torch.Tensor, k: torch.Tensor, lse: torch.Tensor, causal: bool, rows: int = 16) -> float:
    """How far the last rows of the first head are from a float64 log-normaliser."""
    t, d = q.shape[2], q.shape[3]
    rows = min(rows, t)
    s = q[0, 0, -rows:].double() @ k[0, 0].double().T * d**-0.5
    if causal:
        s = s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(t - rows + 1), -math.inf)
    return apart(lse[0, 0, -rows:], torch.logsumexp(s, -1))


def extra(work: Callable[[], Any], bench: Bench) -> dict[str, Any]:
    """Bytes that a call takes at its height beyond its results; told on a device alone."""
    if bench.device != "cuda":
        return {"extra_bytes": None}
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    kept = work()
    torch.cuda.synchronize()
    return {"extra_bytes": int(torch.cuda.max_memory_allocated() - before - sum(x.nbytes for x in kept))}


def tuned(shapes: list[Shape], bench: Bench) -> Iterator[dict[str, Any]]:
    """Milliseconds of the kernel with other tiles than its table's; the first of each list is what it started from."""
    module, name = reference()
    flash, table = getattr(module, name), module.TILES[bench.dtype]
    for shape in shapes:
        inputs, kept = drawn(shape, bench), table[shape[3]]
        for tile in dict.fromkeys([kept, *TILES[shape[3]]]):
            table[shape[3]] = tile
            for causal in (False, True):
                def work(inputs: list[torch.Tensor] = inputs, causal: bool = causal) -> Any:
                    return flash(*inputs, causal=causal)

                try:
                    ms = medians({"ours": work}, bench._replace(rounds=min(bench.rounds, 10)))["ours"]
                    yield {"shape": shape, "causal": causal, "tile": tile, "ms": ms, "tflops": flops(shape, causal) / ms / 1e9, "in_table": tile == kept}
                except Exception as error:  # out of shared memory or registers on this card
                    yield {"shape": shape, "causal": causal, "tile": tile, "failed": str(error)[:200]}
        table[shape[3]] = kept


def line(row: dict[str, Any]) -> str:
    """A result on one line, printed as it is found."""
    return ", ".join(f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items())


def main() -> None:
    """Run every shape, print each row as it comes, write JSON. Without a CUDA device it says so and ends with 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--try", action="store_true", dest="trying")
    asked = parser.parse_args()
    if not asked.trying and not torch.cuda.is_available():
        print("No CUDA device here: the kernel benchmark did not run. `--try` runs it in the interpreter, without times that mean anything.")
        return
    bench, shapes = (CPU, SMALL) if asked.trying else (GPU, SHAPES)
    card = {"card": torch.cuda.get_device_name(), "capability": torch.cuda.get_device_capability()} if bench.device == "cuda" else {"card": None}
    told: dict[str, Any] = {**card, "torch": torch.__version__, "triton": importlib.import_module("triton").__version__, "dtype": str(bench.dtype), "rows": [], "tiles": []}
    for row in (race(shape, causal, bench) for shape in shapes for causal in (False, True)):
        told["rows"].append(row)
        keep(row, told, asked.output)
    for row in tuned(shapes[:2], bench) if asked.tune else ():
        told["tiles"].append(row)
        keep(row, told, asked.output)


def keep(row: dict[str, Any], told: dict[str, Any], output: Path | None) -> None:
    """Print a row, and write all rows so far: a run that is cut short leaves what it found."""
    print(line(row), flush=True)
    if output:
        output.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
