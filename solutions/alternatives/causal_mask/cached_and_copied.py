"""The causal mask comes from a cache that is keyed by everything it depends on, and every caller gets a copy of his own."""

from functools import lru_cache

import numpy as np
import torch


@lru_cache(maxsize=64)
def _triangle(t_q, t_k):
    return torch.from_numpy(np.tri(t_q, t_k, t_k - t_q, dtype=bool))


def causal_mask(t_q, t_k=None, device=None):
    t_k = t_q if t_k is None else t_k
    if t_q < 0 or t_k < 0:
        raise ValueError("t_q, t_k: no negative sizes")
    return _triangle(int(t_q), int(t_k)).clone().to(device if device is not None else "cpu")


def padding_mask(lengths, t_k):
    counts = lengths.cpu().numpy()
    if counts.size and (counts.min() < 0 or counts.max() > t_k):
        raise ValueError("`lengths` must be between 0 and `t_k`")
    return torch.from_numpy(np.arange(t_k) < counts[:, None, None, None]).to(lengths.device)


def mask_scores(scores, mask):
    _refuse(scores, mask)
    return scores.masked_fill(mask == False, -np.inf)  # noqa: E712


def _refuse(scores, mask):
    if mask.dtype != torch.bool:
        raise ValueError("only boolean masks: mask")
    try:
        if np.broadcast_shapes(tuple(mask.shape), tuple(scores.shape)) != tuple(scores.shape):
            raise ValueError("mask enlarges the scores")
    except ValueError as error:
        raise ValueError(f"mask: {error}") from error


def masked_softmax(scores, mask):
    _refuse(scores, mask)
    x = scores.to(torch.float64 if scores.dtype == torch.float64 else torch.float32)
    visible = mask.expand(x.shape)
    x = torch.where(visible, x, 0.0)
    top = torch.where(visible, x, torch.finfo(x.dtype).min).amax(-1, keepdim=True).detach()
    e = torch.where(visible, torch.exp(torch.where(visible, x - top, 0.0)), 0.0)
    total = e.sum(-1, keepdim=True)
    return (e / total.clamp_min(0.5)).to(scores.dtype)  # the largest visible key adds 1, so only empty rows are below 1/2


def causal_attention(q, k, v):
    up = torch.float64 if q.dtype == torch.float64 else torch.float32
    s = torch.einsum("...qd,...kd->...qk", q.to(up), k.to(up)) * (1 / np.sqrt(q.shape[-1]))
    s = s.to(up)
    p = masked_softmax(s, causal_mask(q.shape[-2], k.shape[-2], device=q.device))
    return torch.einsum("...qk,...kd->...qd", p, v.to(up)).to(q.dtype)
