# mistake: the last real key is hidden
# names: padding-one-too-few
import math

import torch
import torch.nn.functional as F


def acc_dtype(x):
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def causal_mask(t_q, t_k=None, device=None):
    n = t_q if t_k is None else t_k
    if t_q < 0 or n < 0:
        raise ValueError("t_q / t_k negative")
    return torch.arange(n - t_q, n, device=device)[:, None] >= torch.arange(n, device=device)


def padding_mask(lengths, t_k):
    if not all(0 <= int(n) <= t_k for n in lengths):
        raise ValueError("lengths must be in 0..t_k")
    out = torch.zeros(len(lengths), 1, 1, t_k, dtype=torch.bool, device=lengths.device)
    for b, n in enumerate(lengths.tolist()):
        out[b, :, :, : max(n - 1, 0)] = True
    return out


def mask_scores(scores, mask):
    if mask.dtype != torch.bool:
        raise ValueError("mask must be boolean")
    try:
        hidden = ~torch.broadcast_to(mask, scores.shape)
    except RuntimeError as e:
        raise ValueError("mask must broadcast to scores") from e
    return scores.masked_fill(hidden, -math.inf)


def masked_softmax(scores, mask):
    x = mask_scores(scores.to(acc_dtype(scores)), mask)
    dead = ~mask.any(-1, keepdim=True)
    return F.softmax(x.masked_fill(dead, 0.0), dim=-1).masked_fill(dead | ~mask, 0.0).to(scores.dtype)


def causal_attention(q, k, v):
    dt = acc_dtype(q)
    scores = torch.einsum("bhqd,bhkd->bhqk", q.to(dt), k.to(dt)) / math.sqrt(q.shape[-1])
    p = masked_softmax(scores, causal_mask(q.shape[2], k.shape[2], q.device))
    return torch.einsum("bhqk,bhkd->bhqd", p, v.to(dt)).to(q.dtype)
