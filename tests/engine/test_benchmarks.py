"""What the benchmarks count, without a clock: operations, memory of several processes, rows of parts that were not run again."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from benchmarks.__main__ import HERE, merged, page, row, table
from benchmarks.measure import heaviest, weight


def test_a_part_that_is_not_run_keeps_its_rows_and_one_that_is_run_loses_them():
    old = [{"part": "cold", "what": "a"}, {"part": "help", "what": "b"}, {"part": "gone", "what": "c"}]

    rows = merged(old, {"help": [{"what": "new"}]}, ["cold", "help"])

    assert [(each["part"], each["what"]) for each in rows] == [("cold", "a"), ("help", "new")]


def test_a_row_is_told_with_its_memory_and_what_the_other_took():
    told = table([row("this", 2.0, "that", 4.0, 100.4, 50.0)])

    assert "| this | 2 | 100 | that | 4 | 50 | 0.50 |" in told


def test_the_page_shows_what_was_recorded():
    told = json.loads((HERE / "results.json").read_text())

    assert (HERE / "README.md").read_text() == page(told)
    assert all(row["what"] in page(told) for row in told["rows"])


def test_memory_is_that_of_every_process_that_a_command_starts():
    child = "import sys, time; held = b'x' * (60 << 20); time.sleep(1.0)"
    alone = heaviest([sys.executable, "-c", child])
    both = heaviest([sys.executable, "-c", f"import subprocess, sys; held = b'y' * (60 << 20); subprocess.run([sys.executable, '-c', {child!r}])"])

    assert 60 < alone < 90 and 120 < both < 170


def test_a_process_that_is_gone_weighs_nothing():
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()

    assert weight([ended.pid]) == 0 < weight([os.getpid()])


@pytest.mark.slow
def test_the_kernel_benchmark_runs_whole_without_a_device_and_halves_the_work_where_it_is_causal(tmp_path):
    out = tmp_path / "kernel.json"
    subprocess.run([sys.executable, "-m", "benchmarks.kernel", "--try", "--tune", "--output", str(out)], check=True, capture_output=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    told = json.loads(out.read_text())
    work = {(tuple(row["shape"]), row["causal"]): row["ours_tflops"] * row["ours_ms"] * 1e9 for row in told["rows"]}

    assert told["card"] is None and len(told["rows"]) == 8 and told["tiles"] and not any("failed" in row for row in told["tiles"])
    for (b, h, t, d), causal in work:
        assert work[(b, h, t, d), causal] == pytest.approx(4 * b * h * t * t * d / (2 if causal else 1))
    assert max(row["error"] for row in told["rows"]) < 1e-5 and max(row["lse_error"] for row in told["rows"]) < 1e-5
    assert {"ours_ms", "torch_ms", "ratio", "extra_bytes"} <= set(told["rows"][0])


def test_the_version_with_all_scores_is_attention_and_its_log_normaliser():
    import numpy as np
    import torch
    from attngrade.checks.online_oracles import attention

    from benchmarks.blockwise import naive

    q, k, v = torch.randn(3, 1, 1, 40, 64, dtype=torch.float64)

    for got, want in zip(naive(q, k, v), attention(q.numpy(), k.numpy(), v.numpy()), strict=True):
        assert np.allclose(got.numpy(), want)
