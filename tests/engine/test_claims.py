"""What a check author's ``expect`` takes for right, and what it keeps of what is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from attngrade.checks import claims
from attngrade.checks.claims import EVIDENCE_CAP, MISFIT_CAP, Claim, expect
from attngrade.sandbox.proxy import Call, Result, tensor


def result(dtype, *given, values=(1.0, 2.0)):
    """A result of a call with arguments of these dtypes."""
    call = Call("f", {"op": "call", "args": tuple(tensor(np.ones(2), name) for name in given), "kwargs": {}})
    return Result(np.array(values, dtype="float32" if dtype == "bfloat16" else dtype), dtype, "ndarray", {}, call)


@pytest.mark.parametrize(("dtype", "given"), [("float16", ("float64",)), ("bfloat16", ("float32", "float64")), ("float16", ("float32", "int64"))])
def test_a_result_in_half_precision_of_wider_arguments_is_not_measured_by_its_own_tolerance(dtype, given):
    with pytest.raises(Claim, match=f"has dtype {dtype} where {given[0]}, as its arguments have, was asked"):
        expect(result(dtype, *given), np.array([1.0, 2.0]))


@pytest.mark.parametrize(("dtype", "given"), [
    ("float16", ("float16", "float64")), ("float16", ("int64",)), ("float16", ()), ("float32", ("float64",)), ("bfloat16", ("bfloat16",)),
])
def test_a_result_as_wide_as_one_of_its_arguments_is_measured_by_its_values(dtype, given):
    expect(result(dtype, *given), np.array([1.0, 2.0]))


def test_a_large_wrong_result_is_not_kept():
    wrong = result("float64", "float64", values=np.zeros(EVIDENCE_CAP // 8 + 1))

    with pytest.raises(Claim) as claim:
        expect(wrong, np.ones(wrong.shape))

    assert claim.value.evidence.got is None
    assert "off by 1" in str(claim.value)


def test_a_large_result_of_another_shape_ends_its_check_and_a_small_one_is_kept_beside_the_calls_that_follow(monkeypatch):
    monkeypatch.setattr(claims, "collected", kept := [])

    expect(result("float64", "float64"), np.ones((2, 1)))
    with pytest.raises(Claim, match="has shape"):
        expect(result("float64", "float64", values=np.zeros((MISFIT_CAP + 1, 1))), np.zeros(MISFIT_CAP + 1))

    assert len(kept) == 1
