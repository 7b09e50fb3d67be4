# right: Only visible scores are kept, as one long list with row numbers; softmax is a segment operation on it.
"""Only visible scores are kept, as one long list with row numbers; softmax is a segment operation on it."""

import torch


def causal_mask(t_q, t_k=None, device=None):
    t_k = t_q if t_k is None else t_k
    for name, n in (("t_q", t_q), ("t_k", t_k)):
        if n < 0:
            raise ValueError(f"{name} must be 0 or more")
    i, j = torch.meshgrid(torch.arange(-t_q, 0, device=device), torch.arange(-t_k, 0, device=device), indexing="ij")
    return j.le(i)


def padding_mask(lengths, t_k):
    if lengths.dim() != 1 or lengths.dtype != torch.int64:
        raise ValueError("lengths must be int64 (B,)")
    if t_k < 0:
        raise ValueError("t_k must be 0 or more")
    if not torch.equal(lengths.clamp(0, t_k), lengths):
        raise ValueError("lengths must lie in 0..t_k")
    steps = torch.zeros(len(lengths), t_k + 1, dtype=torch.int64, device=lengths.device)
    steps.scatter_(1, lengths[:, None], 1)
    return (steps.cumsum(1)[:, :t_k] == 0).view(len(lengths), 1, 1, t_k)


def _visible(scores, mask):
    if not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool:
        raise ValueError("mask must be a tensor of booleans")
    try:
        return mask.broadcast_to(scores.shape)
    except RuntimeError as error:
        raise ValueError("mask must broadcast to scores") from error


def mask_scores(scores, mask):
    visible = _visible(scores, mask)
    return torch.full_like(scores, float("-inf")).masked_scatter(visible, scores[visible])


def masked_softmax(scores, mask):
    if scores.dim() == 0:
        raise ValueError("scores must have an axis")
    visible = _visible(scores, mask)
    if scores.numel() == 0:
        return scores.clone()
    wide = torch.promote_types(scores.dtype, torch.float32)
    at = visible.reshape(-1, scores.shape[-1]).nonzero(as_tuple=True)
    x = scores.reshape(-1, scores.shape[-1])[at].to(wide)
    n = scores.numel() // scores.shape[-1]
    top = torch.full((n,), float("-inf"), dtype=wide, device=x.device).scatter_reduce(0, at[0], x.detach(), "amax")
    e = torch.exp(x - top[at[0]])
    total = torch.zeros(n, dtype=wide, device=x.device).index_add(0, at[0], e)
    p = torch.zeros(n, scores.shape[-1], dtype=wide, device=x.device).index_put(at, e / total[at[0]])
    return p.reshape(scores.shape).to(scores.dtype)


def causal_attention(q, k, v):
    for name, t in (("q", q), ("k", k), ("v", v)):
        if t.dim() != 4:
            raise ValueError(f"{name} must have four axes")
        if t.numel() == 0:
            raise ValueError(f"{name} must not be empty")
    if q.shape[:2] + q.shape[3:] != k.shape[:2] + k.shape[3:]:
        raise ValueError("q and k must fit")
    if k.shape != v.shape:
        raise ValueError("k and v must fit")
    wide = torch.promote_types(q.dtype, torch.float32)
    s = torch.matmul(q.to(wide) * q.shape[-1] ** -0.5, k.to(wide).mT)
    return torch.matmul(masked_softmax(s, causal_mask(q.shape[2], k.shape[2], q.device)), v.to(wide)).to(q.dtype)
