"""Examples for exercise 05: python -m pytest. They show what is asked; they are not the whole."""

import pytest
import torch
from exercise05_qk_norm import QKNorm, logit_bound, qk_norm_logits, rms_norm, saturation


def test_norm_of_three_and_four():
    x = torch.tensor([3.0, 4.0])

    assert torch.allclose(rms_norm(x, torch.ones(2)), x / 12.5**0.5, atol=1e-5)


def test_the_module_has_two_gains():
    assert sorted(name for name, _ in QKNorm(4).named_parameters()) == ["k_gain", "q_gain"]


def test_a_query_that_is_its_key_has_the_logit_sqrt_dh():
    q = torch.randn(1, 1, 1, 16)

    assert qk_norm_logits(q, q, torch.ones(16), torch.ones(16)).item() == pytest.approx(4.0, rel=1e-4)


def test_bound_with_gains_of_one():
    assert logit_bound(torch.ones(64), torch.ones(64)) == pytest.approx(8.0)


def test_a_tie_is_as_alive_as_it_gets():
    assert saturation(torch.zeros(1, 2)) == pytest.approx(0.5, rel=1e-5)
