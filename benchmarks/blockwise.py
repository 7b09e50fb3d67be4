"""Attention block by block, in plain PyTorch, against the version that holds every score: processor time and memory of a call, each in a process of its own.

    python -m benchmarks.blockwise blockwise|naive T BLOCK_SIZE     one call: JSON on a line
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

LENGTH, WIDTH, BLOCK_SIZE = 16384, 64, 256


def rows(rounds: int, row: Callable[..., dict[str, Any]], length: int = LENGTH) -> list[dict[str, Any]]:
    """Seconds of processor time (medians of alternating runs) and how far a call raised the process's peak."""
    runs: dict[str, list[dict[str, float]]] = {"blockwise": [], "naive": []}
    for _ in range(min(rounds, 5)):
        for name, found in runs.items():
            found.append(json.loads(subprocess.run([sys.executable, "-m", "benchmarks.blockwise", name, str(length), str(BLOCK_SIZE)], capture_output=True, check=True).stdout))
    seconds, peak = ({name: statistics.median(run[key] for run in found) for name, found in runs.items()} for key in ("cpu_s", "peak_mib"))
    return [row(f"attention in blocks of {BLOCK_SIZE}, T = {length}, Dh = {WIDTH}, one head, processor time", seconds["blockwise"],
                "the same with all scores at once", seconds["naive"], peak["blockwise"], peak["naive"])]


def naive(q: Any, k: Any, v: Any) -> tuple[Any, Any]:
    """Output and log-normaliser from all scores, as sparing as it can be written."""
    scores = (q * q.shape[-1] ** -0.5) @ k.mT  # (B, H, T_q, T_k)
    lse = scores.logsumexp(-1)
    return (scores - lse[..., None]).exp_() @ v, lse


def measure(name: str, length: int, block_size: int) -> dict[str, float]:
    """One call in this process, on one thread; a tiny one goes before, so that no library is loaded on the way."""
    os.environ["TRITON_INTERPRET"] = "1"
    import torch

    from .kernel import reference

    torch.set_num_threads(1)
    module, _ = reference()
    call = naive if name == "naive" else lambda q, k, v: module.blockwise_attention(q, k, v, block_size)
    call(*torch.randn(3, 1, 1, 2, WIDTH))
    inputs = torch.randn(3, 1, 1, length, WIDTH)
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    call(*inputs)
    return {"cpu_s": time.process_time() - started, "peak_mib": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
