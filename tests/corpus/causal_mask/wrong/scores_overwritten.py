# mistake: the softmax hides in place
# names: softmax-hides-in-place
import math

import torch


def causal_mask(t_q, t_k=None, device=None):
    if t_k is None:
        t_k = t_q
    for name, size in (("t_q", t_q), ("t_k", t_k)):
        if size < 0:
            raise ValueError(f"{name} must not be negative, got {size}")
    return torch.tril(torch.ones((t_q, t_k), device=device), diagonal=t_k - t_q).to(torch.bool)


def padding_mask(lengths, t_k):
    if lengths.min() < 0 or lengths.max() > t_k:
        raise ValueError("every entry of lengths must lie in 0..t_k")
    keys = torch.arange(t_k, device=lengths.device).view(1, 1, 1, t_k)
    return keys < lengths.reshape(-1, 1, 1, 1)


def mask_scores(scores, mask):
    if mask.dtype is not torch.bool:
        raise ValueError("mask must be a boolean tensor")
    try:
        fits = torch.broadcast_shapes(mask.shape, scores.shape) == scores.shape
    except RuntimeError:
        fits = False
    if not fits:
        raise ValueError(f"mask of shape {tuple(mask.shape)} does not broadcast to {tuple(scores.shape)}")
    return torch.where(mask, scores, torch.full((), -math.inf, dtype=scores.dtype, device=scores.device))


def masked_softmax(scores, mask):
    mask_scores(scores, mask)
    scores.data[~mask.expand(scores.shape)] = -math.inf
    z = scores.double()
    z = z.masked_fill(~mask.any(-1, keepdim=True), 0.0)
    return (z.softmax(-1) * mask).to(scores.dtype)


def causal_attention(q, k, v):
    q64, k64, v64 = q.double(), k.double(), v.double()
    scores = torch.einsum("bhid,bhjd->bhij", q64, k64) / math.sqrt(q.size(-1))
    weights = masked_softmax(scores, causal_mask(q.size(2), k.size(2), device=q.device))
    return torch.einsum("bhij,bhjd->bhid", weights, v64).to(q.dtype)
