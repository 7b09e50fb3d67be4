from __future__ import annotations

import math

import torch
from torch import Tensor

_WIDE = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.float32: torch.float32, torch.float64: torch.float64}


def causal_mask(t_q: int, t_k: int | None = None, device=None) -> Tensor:
    keys = t_q if t_k is None else t_k
    if min(t_q, keys) < 0:
        raise ValueError(f"sizes can't be negative: t_q={t_q}, t_k={keys}")
    everything = torch.ones((t_q, keys), dtype=torch.bool, device=device)
    return torch.tril(everything, diagonal=keys - t_q)


def padding_mask(lengths: Tensor, t_k: int) -> Tensor:
    if lengths.ndim != 1 or lengths.is_floating_point():
        raise ValueError(f"lengths: a vector of integers is wanted, one per row; shape {tuple(lengths.shape)}, {lengths.dtype}")
    if t_k < 0:
        raise ValueError(f"t_k = {t_k} is negative")
    for row, value in enumerate(lengths.tolist()):
        if not 0 <= value <= t_k:
            raise ValueError(f"lengths[{row}] = {value} lies outside 0..{t_k}")
    positions = torch.arange(t_k, device=lengths.device).view(1, 1, 1, t_k)
    return positions < lengths.view(-1, 1, 1, 1)


def _fits(scores: Tensor, mask: Tensor) -> bool:
    gap = scores.ndim - mask.ndim
    return gap >= 0 and all(m in (1, s) for m, s in zip(mask.shape, scores.shape[gap:]))


def mask_scores(scores: Tensor, mask: Tensor) -> Tensor:
    if mask.dtype is not torch.bool:
        raise ValueError(f"mask is {mask.dtype}, not torch.bool")
    if not _fits(scores, mask):
        raise ValueError(f"mask of shape {tuple(mask.shape)} doesn't broadcast to {tuple(scores.shape)}")
    return scores.masked_fill(~mask, -math.inf)


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    if scores.ndim < 1 or scores.shape[-1] < 1:
        raise ValueError(f"scores of shape {tuple(scores.shape)} have no last axis to share weight on")
    hidden = mask_scores(scores.to(_WIDE[scores.dtype]), mask)
    nothing_to_see = ~mask.any(dim=-1, keepdim=True) if mask.ndim else ~mask
    safe = hidden.masked_fill(nothing_to_see, 0.0)
    weights = torch.softmax(safe, dim=-1)
    return weights.masked_fill(nothing_to_see, 0.0).to(scores.dtype)


def causal_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    if {q.ndim, k.ndim, v.ndim} != {4}:
        raise ValueError(f"q, k and v must have rank 4: {q.ndim}, {k.ndim}, {v.ndim}")
    if k.shape != v.shape:
        raise ValueError(f"k and v must have one shape: {tuple(k.shape)} against {tuple(v.shape)}")
    b, h, t_q, d = q.shape
    if (k.shape[0], k.shape[1], k.shape[3]) != (b, h, d):
        raise ValueError(f"k {tuple(k.shape)} doesn't fit q {tuple(q.shape)}")
    wide = _WIDE[q.dtype]
    scores = torch.einsum("bhid,bhjd->bhij", q.to(wide), k.to(wide)) / math.sqrt(d)
    weights = masked_softmax(scores, causal_mask(t_q, k.shape[2], device=q.device))
    return torch.einsum("bhij,bhjd->bhid", weights, v.to(wide)).to(q.dtype)
