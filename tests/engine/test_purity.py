"""A kernel is made of Triton alone and is handed nothing that was worked out beforehand; the interpreter itself would run anything."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from attngrade.sandbox import purity

WIDTH = 16
BASE = tl.constexpr(2)
KEPT = [torch.ones(1)]


def helper(x):
    return x


@triton.jit
def inner(x):
    return tl.exp2(x) * WIDTH


@triton.jit
def reaching(x):
    return helper(x)


def right(x_ptr, n, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    for _ in range(min(n, 2)):
        tl.store(x_ptr + at, inner(tl.load(x_ptr + at)) * math.pi + BASE, mask=at < n)
    if x_ptr.dtype.element_ty == torch.float16:
        tl.device_print("half", at)


def imports(x_ptr):
    import torch as anything

    anything.ones(1)


def calls_torch(x_ptr):
    torch.exp(x_ptr)


def calls_numpy(x_ptr):
    np.linalg.norm(x_ptr)


def calls_torch_by_another_name(x_ptr):
    other = torch
    other.exp(x_ptr)


def goes_through_triton(x_ptr):
    tl.core.inspect.sys.exit(x_ptr)


def calls_a_list(x_ptr):
    KEPT[0].add_(1)


def evaluates(x_ptr):
    eval("1")


def calls_through_another(x_ptr):
    reaching(x_ptr)


def hides_it_in_a_function(x_ptr):
    def again():
        return helper(x_ptr)

    again()


def calls_a_system(x_ptr):
    sys.exit()


def test_a_kernel_of_triton_alone_is_one() -> None:
    purity.check(right, [torch.ones(2), 3, tl.float16, None, (1, 2), inner])


@pytest.mark.parametrize("kernel", [imports, calls_torch, calls_torch_by_another_name, goes_through_triton, calls_numpy, calls_a_list, evaluates, calls_through_another, hides_it_in_a_function, calls_a_system])
def test_a_kernel_that_reaches_into_python_is_none(kernel: FunctionType) -> None:
    with pytest.raises(purity.NotTriton, match="is Python and not Triton"):
        purity.check(kernel, [])


def test_a_kernel_that_is_handed_a_function_of_python_is_none() -> None:
    with pytest.raises(purity.NotTriton, match="handed `helper`"):
        purity.check(right, [helper])


def test_memory_that_is_the_same_for_all_values_tells_nothing() -> None:
    memory, poison = purity.Memory(), torch.full((8,), float("nan"))

    for x in (torch.zeros(3), torch.ones(3)):
        memory.compare("k", [x, poison, 3], [poison])
    memory.compare("k", [torch.ones(4), poison, 3], [torch.zeros(8)])  # another shape


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.bool])
def test_memory_that_follows_the_values_was_worked_out_before(dtype: torch.dtype) -> None:
    memory = purity.Memory()
    memory.compare("k", [torch.zeros(3)], [torch.tensor([1, 0, 1]).to(dtype)])

    with pytest.raises(purity.WorkedOutBefore, match="itself has to compute"):
        memory.compare("k", [torch.ones(3)], [torch.tensor([0, 1, 1]).to(dtype)])


def test_memory_that_is_filled_with_one_value_was_not_worked_out() -> None:
    memory = purity.Memory()

    memory.compare("k", [torch.zeros(3)], [torch.full((8,), float("nan")), torch.zeros(8)])
    memory.compare("k", [torch.ones(3)], [torch.zeros(8)])  # the other is kept from the call before


def test_the_file_stands_beside_the_worker() -> None:
    from attngrade.sandbox.jail import WORKER_FILES

    assert Path(purity.__file__).name in WORKER_FILES
