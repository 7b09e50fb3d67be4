"""A kernel is handed nothing that was worked out beforehand: memory that follows the values of the arguments shows."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from attngrade.sandbox import purity


def test_a_number_that_differs_keeps_no_launch_from_being_compared() -> None:
    memory = purity.Memory()
    memory.compare("k", [torch.zeros(3), 1], [torch.tensor([1.0, 0.0])])

    with pytest.raises(purity.WorkedOutBefore):
        memory.compare("k", [torch.ones(3), 2], [torch.tensor([0.0, 1.0])])


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
