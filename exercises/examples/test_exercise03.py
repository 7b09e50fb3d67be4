"""Examples for exercise 03: python -m pytest. They show what is asked; they are not the whole."""

import torch
from exercise03_causal_mask import causal_attention, causal_mask, mask_scores, masked_softmax, padding_mask


def test_three_tokens():
    assert causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]


def test_second_row_is_two_tokens_long():
    assert padding_mask(torch.tensor([3, 2]), 3)[:, 0, 0].tolist() == [[True, True, True], [True, True, False]]


def test_hidden_scores_are_minus_infinity():
    assert mask_scores(torch.zeros(1, 2), torch.tensor([[True, False]])).tolist() == [[0.0, float("-inf")]]


def test_weights_of_the_visible():
    assert masked_softmax(torch.zeros(1, 3), torch.tensor([[True, True, False]])).tolist() == [[0.5, 0.5, 0.0]]


def test_the_first_token_attends_to_itself():
    q, k, v = torch.randn(3, 1, 2, 4, 8)

    assert torch.allclose(causal_attention(q, k, v)[:, :, 0], v[:, :, 0], atol=1e-6)


def test_the_query_of_a_step_sees_every_key_before_it():
    _, k, v = torch.randn(3, 1, 2, 4, 8)

    assert torch.allclose(causal_attention(torch.zeros(1, 2, 1, 8), k, v), v.mean(-2, keepdim=True), atol=1e-6)
