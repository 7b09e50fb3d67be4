"""A kernel is made of Triton alone and is handed nothing that was worked out beforehand; the interpreter itself would run anything."""
from __future__ import annotations

import math
import sys
from types import FunctionType
from typing import NamedTuple

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


def climbs_through_a_class(x_ptr):
    tl.tensor.__init__.__globals__["sys"].exit()


def takes_the_array_behind(x_ptr):
    tl.load(x_ptr).handle.data.sort()


def fetches_by_a_name(x_ptr):
    getattr(x_ptr, "han" + "dle").data.sort()


def false_friend(x):
    return x


false_friend.__module__ = "triton.language.core"
FALSE_CONSTANT = tl.constexpr(helper)


class dtype:
    """A thing whose type is called as those of Triton and NumPy are."""

    def __call__(self, x):
        return x


DTYPE = dtype()


def calls_a_false_friend(x_ptr):
    false_friend(x_ptr)


def unwraps_a_constant(x_ptr):
    FALSE_CONSTANT.value(x_ptr)


def calls_a_false_dtype(x_ptr):
    DTYPE(x_ptr)


def puts_a_module_aside(x_ptr):
    (core := tl.core).inspect.sys.exit(x_ptr, core)


def climbs_through_a_frame(x_ptr):
    (i for i in (0,)).gi_frame.f_builtins["print"](x_ptr)


def takes_the_function_behind(x_ptr):
    inner.fn(x_ptr)


def takes_what_was_hung_on_a_kernel(x_ptr):
    inner.answer(x_ptr)


HUNG = tl.constexpr(1)
HUNG.answer = helper


def takes_what_was_hung_on_a_constant(x_ptr):
    HUNG.answer(x_ptr)


class State(NamedTuple):
    """What Triton compiles: names for the parts of a tuple, and nothing more."""

    m: tl.tensor
    l: tl.tensor


class Trapped(NamedTuple):
    """A named tuple that computes as well."""

    m: tl.tensor

    def grown(self):
        return helper(self.m)


def keeps_a_trapped_state(x_ptr):
    Trapped(x_ptr).grown()


class Sequence(tuple):
    """A tuple whose reading runs Python."""

    def __getitem__(self, place):
        return helper(place)


def keeps_a_state(x_ptr, n):
    state = State(tl.load(x_ptr), n)
    tl.store(x_ptr, state.m + state.l)


def around(thing):
    def kernel(x_ptr):
        thing(x_ptr)

    return kernel


def test_a_kernel_of_triton_alone_is_one() -> None:
    purity.check(right, [torch.ones(2), 3, tl.float16, None, (1, 2), inner])
    purity.check(keeps_a_state, [torch.ones(2), State(1, 2)])


@pytest.mark.parametrize("kernel", [imports, calls_torch, calls_torch_by_another_name, goes_through_triton, calls_numpy, calls_a_list, evaluates, calls_through_another, hides_it_in_a_function, calls_a_system,
                                    climbs_through_a_class, takes_the_array_behind, fetches_by_a_name, calls_a_false_friend, unwraps_a_constant, calls_a_false_dtype, puts_a_module_aside, climbs_through_a_frame,
                                    takes_the_function_behind, takes_what_was_hung_on_a_kernel, takes_what_was_hung_on_a_constant, keeps_a_trapped_state, around(helper)])
def test_a_kernel_that_reaches_into_python_is_none(kernel: FunctionType) -> None:
    with pytest.raises(purity.NotTriton, match="is Python and not Triton"):
        purity.check(kernel, [])


def test_a_kernel_that_is_handed_a_function_of_python_is_none() -> None:
    with pytest.raises(purity.NotTriton, match="handed `helper`"):
        purity.check(right, [helper])


METHODICAL = torch.zeros(1)
METHODICAL.untyped_storage = helper  # type: ignore[method-assign,assignment]


class Own(torch.Tensor):
    """A tensor whose reading runs Python."""


@pytest.mark.parametrize("thing", [math, torch, np.linalg.norm, FALSE_CONSTANT, DTYPE, Own(), METHODICAL, Sequence((1,)), (1, [DTYPE]), lambda: 0], ids=lambda thing: type(thing).__name__)
def test_a_kernel_that_is_handed_what_is_neither_tensor_nor_number_is_none(thing: object) -> None:
    with pytest.raises(purity.NotTriton, match="is handed"):
        purity.check(right, [thing])


def test_a_default_of_python_is_handed_as_well() -> None:
    def kernel(x_ptr, f=helper):
        tl.store(x_ptr, 0)

    with pytest.raises(purity.NotTriton, match="handed `helper`"):
        purity.check(kernel, [])


def test_a_hook_of_a_kernel_is_python() -> None:
    class Hooked:
        __name__, fn, pre_run_hooks = "hooked", staticmethod(right), [helper]

    with pytest.raises(purity.NotTriton, match="has a hook"):
        purity.check_launch(Hooked(), [])


def test_what_runs_is_looked_at_and_not_what_was_decorated() -> None:
    class Swapped:
        __name__, fn = "swapped", staticmethod(right)

        def rewrite(self):
            return calls_numpy

    with pytest.raises(purity.NotTriton, match="is Python and not Triton"):
        purity.check_launch(Swapped(), [])
