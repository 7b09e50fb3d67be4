"""In-place work on copies of its own, exponentials in base 2, and named tuples between the steps."""

import math
from typing import NamedTuple

import torch


class Parts(NamedTuple):
    numerator: torch.Tensor
    normaliser: torch.Tensor


def causal_mask(t_q, t_k=None, device=None):
    if t_k is None:
        t_k = t_q
    if t_q < 0 or t_k < 0:
        raise ValueError(f"negative size: t_q={t_q} t_k={t_k}")
    mask = torch.zeros(t_q, t_k, dtype=torch.bool, device=device)
    for i in range(t_q):
        mask[i, : max(0, i + 1 + t_k - t_q)] = True
    return mask


def padding_mask(lengths, t_k):
    for n in lengths.tolist():
        if n < 0:
            raise ValueError("lengths must not be negative")
        if n > t_k:
            raise ValueError("lengths must not exceed t_k")
    mask = torch.ones(lengths.size(0), t_k, dtype=torch.bool, device=lengths.device)
    for row, n in zip(mask, lengths.tolist(), strict=True):
        row[n:] = False
    return mask.view(lengths.size(0), 1, 1, t_k)


def mask_scores(scores, mask, fill=-math.inf):
    if mask.dtype != torch.bool:
        raise ValueError("mask has to be a bool tensor")
    if mask.dim() > scores.dim():
        raise ValueError("mask has more axes than scores")
    full = torch.empty(scores.shape, dtype=torch.bool, device=scores.device)
    try:
        full.copy_(mask)
    except RuntimeError:
        raise ValueError("mask does not fit scores") from None
    return scores.clone().masked_fill_(full.logical_not_(), fill)


def _parts(scores, mask):
    z = mask_scores(scores.to(torch.promote_types(scores.dtype, torch.float32)), mask)
    with torch.no_grad():
        top = z.amax(-1, keepdim=True)
        top[top == -math.inf] = 0
    z = z.sub_(top)
    z = z * math.log2(math.e)
    numerator = torch.exp2(z)
    return Parts(numerator, numerator.sum(-1, keepdim=True))


def masked_softmax(scores, mask):
    numerator, normaliser = _parts(scores, mask)
    return numerator.div(normaliser + (normaliser == 0)).to(scores.dtype)


def causal_attention(q, k, v):
    kind = torch.promote_types(q.dtype, torch.float32)
    q_scaled = q.to(kind, copy=True)
    q_scaled = q_scaled.mul_(q.shape[-1] ** -0.5) if not q_scaled.requires_grad else q_scaled * q.shape[-1] ** -0.5
    parts = _parts(q_scaled @ k.to(kind).transpose(2, 3), causal_mask(q.shape[2], k.shape[2], q.device))
    return ((parts.numerator @ v.to(kind)) / (parts.normaliser + (parts.normaliser == 0))).to(q.dtype)
