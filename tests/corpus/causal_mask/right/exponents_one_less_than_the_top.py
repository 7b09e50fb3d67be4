"""Exponents of at most -1: in a row of one visible key the weight is e^-1 / e^-1, and its gradient is 0 up to rounding alone."""

import torch


def causal_mask(t_q, t_k=None, device=None):
    t_k = t_q if t_k is None else t_k
    if min(t_q, t_k) < 0:
        raise ValueError(f"t_q={t_q} and t_k={t_k} have to be sizes")
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).tril(t_k - t_q)


def padding_mask(lengths, t_k):
    if lengths.ndim != 1 or (lengths.numel() and not 0 <= int(lengths.min()) <= int(lengths.max()) <= t_k):
        raise ValueError(f"lengths has to be (B,), each within 0..{t_k}")
    return torch.arange(t_k, device=lengths.device).expand(len(lengths), 1, 1, t_k) < lengths.reshape(-1, 1, 1, 1)


def fitting(mask, scores):
    if mask.dtype != torch.bool:
        raise ValueError("mask has to be boolean")
    try:
        return torch.broadcast_to(mask, scores.shape)
    except RuntimeError as problem:
        raise ValueError("mask doesn't fit the scores") from problem


def mask_scores(scores, mask):
    return torch.where(fitting(mask, scores), scores, torch.full_like(scores, -torch.inf))


def masked_softmax(scores, mask):
    mask = fitting(mask, scores)
    x = (scores if scores.dtype == torch.float64 else scores.float()).masked_fill(~mask, -torch.inf)
    peak = x.detach().amax(-1, keepdim=True)
    e = (x - torch.where(peak.isneginf(), 0.0, peak) - 1).exp()
    total = e.sum(-1, keepdim=True)
    return (e / torch.where(total > 0, total, 1.0)).to(scores.dtype)


def causal_attention(q, k, v):
    if not (q.ndim == k.ndim == v.ndim == 4 and k.shape == v.shape and q.shape[:2] == k.shape[:2] and q.shape[-1] == k.shape[-1]):
        raise ValueError("q, k and v have to be (B, H, T, Dh) and fit together")
    kind = torch.promote_types(q.dtype, torch.float32)
    scores = torch.einsum("bhid,bhjd->bhij", q.to(kind), k.to(kind)) / q.shape[-1] ** 0.5
    return (masked_softmax(scores, causal_mask(q.shape[2], k.shape[2], q.device)) @ v.to(kind)).to(q.dtype)
