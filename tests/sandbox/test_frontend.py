"""Kernels are read by Triton's compiler as for a GPU, and followed while they run: what it refuses or never sees doesn't count, nor what depends on the order of programs."""

from __future__ import annotations

import numpy as np
import pytest
from attngrade.sandbox.errors import Raised
from attngrade.sandbox.host import Worker
from attngrade.sandbox.proxy import tensor
from attngrade.sandbox.sibling import Sibling

HEAD = """
import math
import numpy as np
import torch, triton, triton.language as tl

FACTOR = 2.0
WIDTH: tl.constexpr = 16
KIND = np.dtype("float32")

@triton.constexpr_function
def half(n):
    return int(math.ceil(n / 2))

@triton.jit
def helper(x, by=2.0):
    return x * by

"""
KERNEL = """
@triton.jit
def kernel(x, out, n, scale):
    i = tl.program_id(0) * 4 + tl.arange(0, 4)
    a = tl.load(x + i, mask=i < n, other=0.0)
    {body}
    tl.store(out + i, a, mask=i < n)

def double(x):
    out = torch.zeros_like(x)
    kernel[(triton.cdiv(x.numel(), 4),)](x, out, x.numel(), 2.0)
    return out
"""
X = np.arange(7.0, dtype=np.float32)


@pytest.mark.parametrize("body", [
    "a = a * 2", "a = helper(a)", "a = helper(a, by=scale)", "a = a * (WIDTH // half(WIDTH))", "a = a * 2 if n > 3 else a + a", "a, _ = (a + a, i)", "a = tl.where(\n        i < n,\n        a * 2,\n        0.0,\n    )",
    "if n == 7:\n        a = a * 2\n    else:\n        a = a + a", "for _ in range(1):\n        a += a", "for _ in tl.static_range(1):\n        a = tl.math.exp2(tl.log2(a) + 1)",
])
def test_what_a_compiler_takes_is_taken(load, body):
    submission = load(HEAD + KERNEL.format(body=body))

    got = submission.double(tensor(X), _examined=True)

    np.testing.assert_allclose(got.array, 2 * X, rtol=1e-6)
    assert submission.launches()[0]["overlap"] is False


@pytest.mark.parametrize(("body", "further", "said"), [
    ("a = a * FACTOR", 0, "compiler refuses it: FACTOR is a variable of the file.*FACTOR = tl.constexpr"),
    ("a = a.repeat(2)[:4]", 0, "compiler refuses it"),
    ("a = tl.arange(0, n)", 0, "compiler refuses it.*constexpr"),
    ("if isinstance(scale, tl.tensor):\n        a = a * 2\n    else:\n        a = a + a + scale * 0", 3, "never comes to read"),
    ("a = a * 2 if isinstance(scale, tl.tensor) else a + a", 0, "never comes to read"),
    ("a = a * 2 if isinstance(scale, tl.tensor) else helper(a)", 0, "never comes to read"),
    ("a = (\n        a * 2 if isinstance(scale, tl.tensor) else\n        a\n        .to(tl.float64)\n    )", 3, "never comes to read"),
])
def test_what_no_gpu_would_run_is_refused_with_its_line(load, body, further, said):
    text = HEAD + KERNEL.format(body=body)
    line = 1 + text[: text.index("    " + body)].count("\n") + further
    submission = load(text)

    with pytest.raises(Raised, match=said) as refused:
        submission.double(tensor(X), _examined=True)

    assert refused.value.line == line


def test_programs_that_build_on_what_another_one_left_are_seen(load):
    split = KERNEL.replace("tl.program_id(0) * 4 + ", "").format(body="a = tl.load(out + i, mask=i < n, other=0.0) + a * (tl.program_id(0) + 1)")
    submission = load(HEAD + split)

    submission.double(tensor(X[:4]), _examined=True)
    alone = submission.launches()[0]["overlap"]
    submission.double(tensor(X), _examined=True)

    assert (alone, submission.launches()[0]["overlap"]) == (False, True)


def test_what_another_program_has_left_is_not_there_to_be_read(load):
    reads = KERNEL.format(body="a = a * 2").replace("    tl.store(", "    if tl.program_id(0) > 0:\n        a += 0.01 * tl.load(out + 3)\n    tl.store(")
    submission = load(HEAD + reads)

    np.testing.assert_allclose(submission.double(tensor(X)).array[4:], 2 * X[4:] + 0.06, rtol=1e-6)
    got = submission.double(tensor(X), _examined=True).array

    assert got[:4].tolist() == (2 * X[:4]).tolist() and (got[4:] < 2 * X[4:] - 9).all()


def test_a_counter_that_programs_share_is_no_result(load):
    text = HEAD + """
@triton.jit
def kernel(x, out, turn, n, tiles):
    tile = tl.atomic_add(turn, 1)
    while tile < tiles:
        i = tile * 4 + tl.arange(0, 4)
        tl.store(out + i, 2 * tl.load(x + i, mask=i < n, other=0.0), mask=i < n)
        tile = tl.atomic_add(turn, 1)

def double(x):
    out, turn = torch.empty_like(x), torch.zeros(1, dtype=torch.int32)
    kernel[(2,)](x, out, turn, x.numel(), triton.cdiv(x.numel(), 4))
    return out
"""
    submission = load(text)

    assert submission.double(tensor(X), _examined=True).array.tolist() == (2 * X).tolist()
    assert submission.launches()[0]["overlap"] is False


def test_a_reader_that_is_closed_while_it_gets_ready_leaves_nothing(crew, plan):
    sibling = Sibling(lambda: crew.worker(plan))
    sibling.start_reader()
    reader = sibling._reader

    sibling.close()

    assert reader is not None and not reader.alive()


def test_a_reader_that_was_started_by_itself_reads_the_same(load, plan):
    submission = load(HEAD + KERNEL.format(body="a = a * 2"))
    submission.sibling = Sibling(lambda: Worker(plan))

    try:
        assert submission.double(tensor(X), _examined=True).array.tolist() == (2 * X).tolist()
        assert submission.launches()[0]["overlap"] is False
    finally:
        submission.sibling.close()
