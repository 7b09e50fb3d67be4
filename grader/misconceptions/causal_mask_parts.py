"""Pieces that the wrong answers of exercise 03 share: scores and masks with one thing open, and what is kept between calls."""

import sys

import torch
from attngrade.solutions import exercise03_causal_mask as right


def memory():
    """What a submission would keep in a global: it lives as long as the solution that the misconception stands in."""
    return vars(sys.modules["solution_on_stage"]).setdefault("_kept", {})


def widened(scores):
    """Scores in float32, or in float64 if they are."""
    return scores.to(torch.promote_types(scores.dtype, torch.float32))


def filled(scores, mask, value):
    """Scores with another number than -inf where they are hidden, for a mask that fits."""
    right.mask_scores(scores, mask)
    return scores.masked_fill(~mask, value)


def lowest(scores):
    return torch.finfo(scores.dtype).min


def parts(q, k, v, scale=None):
    """Scaled scores in the working precision, the causal mask, and the values in the working precision."""
    right.causal_attention(q, k, v)
    wide = torch.promote_types(q.dtype, torch.float32)
    scores = q.to(wide) @ k.to(wide).mT * (q.shape[-1] ** -0.5 if scale is None else scale)
    return scores, right.causal_mask(q.shape[-2], k.shape[-2], q.device), v.to(wide)


def scaled_by(q, k, v, scale):
    scores, mask, values = parts(q, k, v, scale)
    return (right.masked_softmax(scores, mask) @ values).to(q.dtype)


def weighed_by(q, k, v, weigh):
    scores, mask, values = parts(q, k, v)
    return (weigh(scores, mask) @ values).to(q.dtype)
