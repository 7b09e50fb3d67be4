# right: Keys one after the other, with a running maximum, sum and average (in the functions that can do so).
"""Keys one after the other, with a running maximum, sum and average (in the functions that can do so)."""

from itertools import count

import torch

MINUS = -float("inf")


def causal_mask(t_q, t_k=None, device=None):
    if t_k is None:
        t_k = t_q
    if t_q < 0 or t_k < 0:
        raise ValueError(f"t_q, t_k: {t_q}, {t_k}")
    # columns, not rows: key j is seen by the queries from j - (t_k - t_q) on
    mask = torch.ones(t_q, t_k, dtype=torch.bool, device=device)
    for j in range(t_k):
        mask[: min(t_q, max(0, j - t_k + t_q)), j] = False
    return mask


def padding_mask(lengths, t_k):
    if lengths.dim() != 1 or lengths.dtype != torch.int64:
        raise ValueError("lengths: an int64 vector, please")
    if t_k < 0:
        raise ValueError("t_k: at least 0, please")
    if lengths.numel() and not 0 <= lengths.min() <= lengths.max() <= t_k:
        raise ValueError("lengths: between 0 and t_k, please")
    return torch.bucketize(torch.arange(t_k, device=lengths.device).repeat(len(lengths), 1), torch.arange(t_k + 1, device=lengths.device)).lt(
        lengths.unsqueeze(1)
    )[:, None, None, :]


def _same(scores, mask):
    try:
        return mask.expand(scores.shape) if mask.dtype == torch.bool else _no()
    except (RuntimeError, AttributeError):
        _no()


def _no():
    raise ValueError("mask: a boolean tensor that broadcasts to scores, please")


def mask_scores(scores, mask):
    visible = _same(scores, mask)
    return torch.where(visible, scores, scores.new_tensor(MINUS))


def masked_softmax(scores, mask):
    visible = _same(scores, mask)
    if scores.dim() == 0 or scores.numel() == 0:
        raise ValueError("scores: at least one on an axis, please")
    wide = torch.promote_types(scores.dtype, torch.float32)
    columns = [torch.where(s, x, 0.0) for x, s in zip(scores.to(wide).unbind(-1), visible.unbind(-1))]
    seen = visible.unbind(-1)
    top = torch.full(scores.shape[:-1], MINUS, dtype=wide, device=scores.device)
    for x, s in zip(columns, seen):
        top = torch.where(s, torch.maximum(top, x.detach()), top)
    top = torch.where(torch.isneginf(top), 0.0, top)
    es = [torch.where(s, torch.exp(torch.where(s, x - top, 0.0)), 0.0) for x, s in zip(columns, seen)]
    total = sum(es)
    total = torch.where(total == 0, 1.0, total)
    return torch.stack([e / total for e in es], -1).to(scores.dtype)


def causal_attention(q, k, v):
    for name, t in (("q", q), ("k", k), ("v", v)):
        if t.dim() != 4 or t.numel() == 0:
            raise ValueError(f"{name}: (B, H, T, Dh), please")
    if k.shape != v.shape or q.shape[:2] != k.shape[:2] or q.shape[3] != k.shape[3]:
        raise ValueError("q, k, v: shapes that fit, please")
    wide = torch.promote_types(q.dtype, torch.float32)
    x = q.to(wide) * q.shape[3] ** -0.5
    t_q, t_k = q.shape[2], k.shape[2]
    m = torch.full(q.shape[:3], MINUS, dtype=wide, device=q.device)
    l = torch.zeros(q.shape[:3], dtype=wide, device=q.device)
    o = torch.zeros(q.shape, dtype=wide, device=q.device)
    newest = torch.arange(t_q, device=q.device) + t_k - t_q
    for j, key, value in zip(count(), k.to(wide).unbind(2), v.to(wide).unbind(2)):
        see = newest >= j
        s = torch.where(see, (x * key[:, :, None]).sum(-1), 0.0)
        new = torch.where(see, torch.maximum(m, s.detach()), m)
        pivot = torch.where(torch.isneginf(new), 0.0, new)
        e = torch.where(see, torch.exp(torch.where(see, s - pivot, 0.0)), 0.0)
        fade = torch.exp(m - pivot)
        m, l, o = new, l * fade + e, o * fade[..., None] + e[..., None] * value[:, :, None]
    return (o / torch.where(l == 0, 1.0, l)[..., None]).to(q.dtype)
