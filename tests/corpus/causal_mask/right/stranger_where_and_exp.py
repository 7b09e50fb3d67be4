import torch


def causal_mask(t_q, t_k=None, device=None):
    if t_k is None:
        t_k = t_q
    if t_q < 0:
        raise ValueError(f"t_q must not be negative, got {t_q}")
    if t_k < 0:
        raise ValueError(f"t_k must not be negative, got {t_k}")
    rows = torch.arange(t_q, device=device).unsqueeze(1)
    cols = torch.arange(t_k, device=device).unsqueeze(0)
    return cols <= rows + (t_k - t_q)


def padding_mask(lengths, t_k):
    if t_k < 0:
        raise ValueError(f"t_k must not be negative, got {t_k}")
    if lengths.dim() != 1:
        raise ValueError(f"lengths must have rank 1, got shape {tuple(lengths.shape)}")
    if ((lengths < 0) | (lengths > t_k)).any():
        raise ValueError(f"lengths must lie in 0..t_k = 0..{t_k}, got {lengths.tolist()}")
    j = torch.arange(t_k, device=lengths.device)
    return (j < lengths[:, None])[:, None, None, :]


def _check_mask(scores, mask):
    if not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool:
        raise ValueError("mask must be a boolean tensor, True = may attend")
    try:
        shape = torch.broadcast_shapes(scores.shape, mask.shape)
    except RuntimeError:
        raise ValueError(f"mask {tuple(mask.shape)} doesn't broadcast to scores {tuple(scores.shape)}") from None
    if shape != scores.shape:
        raise ValueError(f"mask {tuple(mask.shape)} would enlarge scores {tuple(scores.shape)}")


def mask_scores(scores, mask):
    _check_mask(scores, mask)
    return torch.where(mask, scores, torch.full_like(scores, float("-inf")))


def masked_softmax(scores, mask):
    _check_mask(scores, mask)
    if scores.dim() == 0 or scores.numel() == 0:
        raise ValueError("scores need a last axis with at least one key")
    wide = scores if scores.dtype == torch.float64 else scores.float()
    hidden = torch.where(mask, wide, torch.full_like(wide, float("-inf")))
    top = hidden.detach().amax(dim=-1, keepdim=True)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    weight = torch.exp(hidden - top)
    total = weight.sum(dim=-1, keepdim=True)
    total = torch.where(total == 0, torch.ones_like(total), total)
    return (weight / total).to(scores.dtype)


def causal_attention(q, k, v):
    if any(t.numel() == 0 for t in (q, k, v)):
        raise ValueError("q, k and v must not have a size of 0")
    for name, t in (("q", q), ("k", k), ("v", v)):
        if t.dim() != 4:
            raise ValueError(f"{name} must have rank 4, got shape {tuple(t.shape)}")
    if q.shape[:2] != k.shape[:2] or q.shape[3] != k.shape[3]:
        raise ValueError(f"q {tuple(q.shape)} and k {tuple(k.shape)} don't fit")
    if k.shape != v.shape:
        raise ValueError(f"k {tuple(k.shape)} and v {tuple(v.shape)} don't fit")
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    qw, kw, vw = q.to(wide), k.to(wide), v.to(wide)
    scores = (qw * q.shape[-1] ** -0.5) @ kw.transpose(-2, -1)
    weights = masked_softmax(scores, causal_mask(q.shape[2], k.shape[2], q.device))
    return (weights @ vw).to(q.dtype)
