"""The kernels compiled for a Hopper GPU, which needs none: right ones compile, and the reference has what makes it fast and exact."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from attngrade.catalog import builtin

ROOT = Path(__file__).resolve().parents[2]
EXERCISE = next(e for e in builtin().exercises if e.gpu)
RIGHT = [EXERCISE.solution, *sorted(EXERCISE.alternatives.glob("*.py"))]


def run(*command, cwd=ROOT, tmp):
    env = {**os.environ, "TRITON_CACHE_DIR": str(tmp), "OMP_NUM_THREADS": "1"}
    env.pop("TRITON_INTERPRET", None)
    done = subprocess.run([sys.executable, *command], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """The reference's kernels in numbers."""
    rows = run("-m", "benchmarks.compiled", "--only", "bfloat16:64,bfloat16:128", tmp=tmp_path_factory.mktemp("triton"))
    return {(row["dtype"], row["width"], row["causal"]): row for row in rows}


@pytest.mark.parametrize("width", [64, 128])
def test_half_precision_runs_on_tensor_cores_and_stays_in_registers(kernels, width):
    for causal in (False, True):
        row = kernels["bfloat16", width, causal]

        assert row["wgmma"] and row["stack_bytes"] <= 64 and row["shared_bytes"] <= 227 << 10


def test_the_loop_without_a_mask_spends_one_exponential_and_one_multiply_add_on_a_score(kernels):
    for width, scores in ((64, 128), (128, 32)):
        loop = kernels["bfloat16", width, False]["loop"]

        assert loop["MUFU"] <= 1.1 * scores and loop["FFMA"] <= 1.1 * scores


def test_every_right_kernel_compiles_for_the_device_and_none_of_them_rounds_float32(tmp_path):
    rows = run(str(Path(__file__).with_name("compile_all.py")), *map(str, RIGHT), tmp=tmp_path)

    assert [row["file"] for row in rows if row["failed"] or row["tf32"] or not row["kernels"]] == []
    assert len(rows) == len(RIGHT)
