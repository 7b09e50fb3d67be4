"""Kernels run apart from the submission: the host sees every launch, fills in the arguments, and keeps what was written."""

from __future__ import annotations

import numpy as np
import pytest
from attngrade.sandbox import wire
from attngrade.sandbox.errors import Raised, WorkerDied, WorkerGarbage
from attngrade.sandbox.proxy import tensor
from attngrade.sandbox.sibling import Relay, Sibling, holds

DOUBLING = """
import torch, triton, triton.language as tl

@triton.jit
def _double(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, 2 * tl.load(x + i, mask=i < n, other=0.0), mask=i < n)

@triton.jit
def _wild(x, BLOCK: tl.constexpr):
    tl.store(x + (1 << 40) + tl.arange(0, BLOCK), 1.0)

def double(x):
    out = torch.empty_like(x)
    _double[(1,)](x, out, x.numel(), BLOCK=16)
    return out

def twice(x):
    return double(x) * 1.0001

def late(x):
    double(x)
    return x * 2

def into(x):
    _double[(1,)](x, x, x.numel(), BLOCK=16)
    return x

def wild(x):
    _wild[(1,)](x, BLOCK=16)
    return x

def wrong(x):
    _double[(1,)](x, x, None, BLOCK=16)
"""
TAMPERED = """
import triton.runtime.interpreter as _inner
_inner.GridExecutor.__call__ = lambda *args, **kwargs: args[1].fill_(7.0)
import numpy as np
np.matmul = np.where = None
"""


X, Y = np.arange(5.0, dtype=np.float32), np.full(5, 9.0, dtype=np.float32)


def test_the_kernel_alone_computes_from_values_that_the_submission_never_has(load):
    submission = load(DOUBLING)

    got = submission.double(tensor(X), _during=(tensor(Y),))

    assert got.array.tolist() == (2 * Y).tolist()
    assert submission.launches() == ({"kernel": "_double", "grid": [1], "fresh_bytes": 20},)
    assert submission.late(tensor(X), _during=(tensor(Y),)).array.tolist() == (2 * X).tolist()


@pytest.mark.parametrize(("function", "as_written"), [("double", (True,)), ("twice", (False,)), ("late", (True,))])
def test_the_host_knows_whether_a_result_is_as_the_kernel_left_it(load, function, as_written):
    submission = load(DOUBLING)

    getattr(submission, function)(tensor(X))

    assert submission.last.as_written == as_written


def test_what_a_submission_does_to_its_own_interpreter_changes_no_kernel(load):
    assert load(DOUBLING + TAMPERED).double(tensor(X)).array.tolist() == (2 * X).tolist()


def test_a_decoy_is_counted_and_runs_nowhere(load):
    submission = load(DOUBLING)

    submission.double(tensor(X), _decoy=True)

    assert len(submission.launches()) == 1
    assert submission.last.as_written == ()


def test_an_argument_that_a_kernel_writes_to_has_changed(load):
    submission = load(DOUBLING)

    got = submission.into(tensor(X))

    assert got.array.tolist() == (2 * X).tolist()
    assert submission.mutated() == ("0",)


def test_an_early_call_with_other_values_is_no_launch_that_counts(load):
    submission = load(DOUBLING)

    got = submission.double(tensor(X), _before=(tensor(Y),))

    assert got.array.tolist() == (2 * X).tolist()
    assert len(submission.launches()) == 1


def test_an_error_of_a_kernel_is_the_submissions_with_its_line(load):
    with pytest.raises(Raised) as raised:
        load(DOUBLING).wrong(tensor(X))

    assert (raised.value.type, raised.value.bases) == ("TypeError", ("Exception", "BaseException", "object"))
    assert raised.value.line == 7


def test_a_kernel_that_ends_its_process_ends_the_call(load):
    submission = load(DOUBLING)

    with pytest.raises(WorkerDied, match="_wild ended the process that ran it: it loads or stores where no memory is"):
        submission.wild(tensor(X))


@pytest.mark.parametrize("told", [
    None, {"name": "k"}, {"name": "k", "grid": [1], "storages": [{"dtype": "float32", "shape": [5], "argument": 1}]},
    {"name": "k", "grid": ["1"], "storages": []}, {"name": 1, "grid": [1], "storages": []},
    {"name": "k", "grid": [1], "storages": [{"dtype": "float32", "shape": [5], "octets": "20"}]},
])
def test_what_is_no_launch_is_garbage(told):
    relay = Relay(Sibling(lambda: pytest.fail("nothing may be started for this")), {"args": (tensor(X),), "kwargs": {}}, 0.0)

    with pytest.raises(WorkerGarbage):
        relay(told)


@pytest.mark.parametrize(("dtype", "memory", "array", "there"), [
    ("float32", [1, 2, 3], [3, 2, 1], True), ("float32", [1, 2, 3], [3, 2, 2], False), ("float32", [1, 2, 3, 0], [3, 1], True), ("float32", [1, 2, 3, 0], [3, 3], False),
    ("float32", [np.nan, 1], [1, np.nan], True), ("float32", [1.0001, 2], [1, 2], False), ("float32", [1], [1, 1], False),
])
def test_values_are_found_bit_for_bit_in_any_order(dtype, memory, array, there):
    octets = np.array(memory, dtype=wire.STORAGE[dtype]).view(np.uint8)

    assert holds(dtype, octets, tensor(np.array(array, dtype=np.float32))) is there


def test_values_that_were_rounded_once_are_found():
    wide = np.array([1.0001, -2.3], dtype=np.float32)

    assert holds("float32", wide.view(np.uint8), tensor(wide, "float16"))
    assert holds("float32", wide.view(np.uint8), tensor(wide, "bfloat16"))
    assert not holds("float32", wide.view(np.uint8), tensor(wide * 1.5, "float16"))
