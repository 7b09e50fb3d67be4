"""Examples for exercise 06: python -m pytest. They show what is asked; they are not the whole.

Without a CUDA device the kernel runs in Triton's interpreter, which is slow and switched on here, before Triton is imported.
"""

import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"

from exercise06_online_softmax import blockwise_attention, flash_attention, merge_states


def test_the_empty_state_changes_nothing():
    empty = (torch.tensor(float("-inf")), torch.tensor(0.0), torch.zeros(2))
    state = (torch.tensor(1.0), torch.tensor(2.0), torch.ones(2))

    assert all(torch.equal(a, b) for a, b in zip(merge_states(state, empty), state, strict=True))


def test_one_key_gives_its_value():
    q, k, v = torch.randn(3, 1, 1, 1, 16)
    out, lse = blockwise_attention(q, k, v, 4)

    assert torch.allclose(out, v) and torch.allclose(lse, (q * k).sum(-1) / 4, atol=1e-5)


def test_the_kernel_agrees_with_the_blocks():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    q, k, v = torch.randn(3, 1, 2, 5, 16, device=device)
    out, lse = flash_attention(q, k, v, causal=True)
    expected, expected_lse = blockwise_attention(q, k, v, 2, causal=True)

    assert torch.allclose(out, expected, atol=1e-4) and torch.allclose(lse, expected_lse, atol=1e-4)


def test_the_query_of_a_step_sees_every_key_before_it():
    _, k, v = torch.randn(3, 1, 1, 4, 16)
    out, _ = blockwise_attention(torch.zeros(1, 1, 1, 16), k, v, 2, causal=True)

    assert torch.allclose(out, v.mean(-2, keepdim=True), atol=1e-6)
