"""Examples for exercise 04: python -m pytest. They show what is asked; they are not the whole."""

import torch
from exercise04_multi_head import merge_heads, multi_head_attention, repeat_kv, split_heads


def test_two_heads_of_two_columns():
    assert split_heads(torch.arange(4.0).reshape(1, 1, 4), 2).tolist() == [[[[0.0, 1.0]], [[2.0, 3.0]]]]


def test_merging_two_heads():
    assert merge_heads(torch.tensor([[[[0.0, 1.0]], [[2.0, 3.0]]]])).tolist() == [[[0.0, 1.0, 2.0, 3.0]]]


def test_each_key_head_serves_its_neighbours():
    heads = torch.tensor([1.0, 2.0]).reshape(1, 2, 1, 1)

    assert repeat_kv(heads, 2).flatten().tolist() == [1.0, 1.0, 2.0, 2.0]


def test_one_token_attends_to_itself():
    x, eye = torch.randn(1, 1, 4), torch.eye(4)

    assert torch.allclose(multi_head_attention(x, eye, eye, eye, eye, 2), x, atol=1e-6)


def test_a_token_that_sees_itself_alone_keeps_its_value():
    x, eye = torch.randn(1, 2, 4), torch.eye(4)

    assert torch.allclose(multi_head_attention(x, eye, eye, eye, eye, 2, mask=torch.eye(2, dtype=torch.bool)), x, atol=1e-6)
