"""A process with torch, Triton's interpreter and the worker's sentry in it, which runs the scripts that it is sent."""

import json
import os
import subprocess
import sys
import textwrap
from functools import partial
from pathlib import Path

import pytest

SENTRY = Path(__file__).resolve().parents[2] / "grader" / "sandbox"
KERNEL = """
import numpy as np, torch, triton, triton.language as tl
import fence, sentry

@triton.jit
def copy(x, out, n, BLOCK: tl.constexpr, MASKED: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if MASKED:
        tl.store(out + i, tl.load(x + i, mask=i < n, other=0.0), mask=i < n)
    else:
        tl.store(out + i, tl.load(x + i, mask=i < n, other=0.0))

class Given:
    def __init__(self, flat):
        self.flat, self.device = flat, "cpu"

kernels = sentry.Kernels()
kernels.watch(__file__)
x = torch.arange(5.0)
"""


LOOP = """
while script := sys.stdin.readline():
    print(end="", flush=True)
    exec(json.loads(script), {**globals(), "kernels": kernels})
    kernels.watch(__file__)
    print("--", flush=True)
"""


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """Starts a process that has imported torch and triton (for the interpreter) and runs the scripts that it is sent."""
    file = tmp_path_factory.mktemp("sentry") / "claim.py"
    file.write_text("import json, sys\n" + KERNEL + LOOP)
    env = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(SENTRY), "OMP_NUM_THREADS": "1"}
    begin = partial(subprocess.Popen, [sys.executable, str(file)], env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    started = []
    yield lambda: started.append(begin()) or started[-1]
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def process(start):
    return start()


@pytest.fixture
def run(process):
    """What a script prints."""
    return partial(told_by, process)


@pytest.fixture
def run_afresh(start):
    """What a script prints in a process of its own."""
    return partial(told_by, start())


def told_by(process, script):
    process.stdin.write(json.dumps(textwrap.dedent(script)) + "\n")
    process.stdin.flush()
    return "".join(iter(process.stdout.readline, "--\n"))
