import torch
from torch import Tensor, inf


def causal_mask(t_q, t_k=None, device=None):
    t_k = t_q if t_k is None else t_k
    bad = [name for name, size in (("t_q", t_q), ("t_k", t_k)) if size < 0]
    if bad:
        raise ValueError("negative: " + ", ".join(bad))
    offset = t_k - t_q
    return torch.ones(t_q, t_k, device=device).triu(1 + offset).eq(0)


def padding_mask(lengths: Tensor, t_k: int) -> Tensor:
    if lengths.ndim != 1:
        raise ValueError("lengths must have exactly one axis")
    if t_k < 0:
        raise ValueError("t_k must not be negative")
    inside = lengths.ge(0) & lengths.le(t_k)
    if not bool(inside.all()):
        raise ValueError(f"lengths outside 0..{t_k}: {lengths[~inside].tolist()}")
    return torch.arange(t_k, device=lengths.device)[None, None, None].lt(lengths[:, None, None, None])


def _bias(scores, mask):
    """0 where visible, -inf where hidden, in the shape of scores."""
    if mask.dtype != torch.bool:
        raise ValueError(f"mask: torch.bool wanted, {mask.dtype} given")
    try:
        mask = torch.broadcast_to(mask, scores.shape)
    except RuntimeError:
        raise ValueError(f"mask: {tuple(mask.shape)} can't become {tuple(scores.shape)}")
    zero = torch.zeros(scores.shape, dtype=scores.dtype, device=scores.device)
    return zero.masked_fill(~mask, -inf)


def mask_scores(scores: Tensor, mask: Tensor) -> Tensor:
    return scores + _bias(scores, mask)


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    if scores.ndim == 0 or 0 in scores.shape:
        raise ValueError("scores: at least one axis, and no size of 0")
    work = scores if scores.dtype is torch.float64 else scores.float()
    logits = work + _bias(work, mask)
    empty = torch.isneginf(logits).all(-1, keepdim=True)
    logits = torch.where(empty, torch.zeros_like(logits), logits)
    logits = logits - logits.detach().amax(-1, keepdim=True)
    log_weights = logits - torch.logsumexp(logits, dim=-1, keepdim=True)
    weights = torch.where(empty, torch.zeros_like(logits), log_weights.exp())
    return weights.to(scores.dtype)


def causal_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    if any(t.numel() == 0 for t in (q, k, v)):
        raise ValueError("q, k and v must not have a size of 0")
    shapes = {"q": q.shape, "k": k.shape, "v": v.shape}
    for name, shape in shapes.items():
        if len(shape) != 4:
            raise ValueError(f"{name}: rank 4 wanted, shape is {tuple(shape)}")
    if not (q.shape[0] == k.shape[0] == v.shape[0] and q.shape[1] == k.shape[1] == v.shape[1]):
        raise ValueError(f"q, k, v disagree in batch or heads: {shapes}")
    if not (q.shape[3] == k.shape[3] == v.shape[3]):
        raise ValueError(f"q, k, v disagree in width: {shapes}")
    if k.shape[2] != v.shape[2]:
        raise ValueError(f"k, v disagree in length: {shapes}")
    work = torch.float64 if q.dtype is torch.float64 else torch.float32
    fourth = q.shape[3] ** -0.25
    scores = (q.to(work) * fourth) @ (k.to(work) * fourth).transpose(2, 3)
    weights = masked_softmax(scores, causal_mask(q.shape[2], k.shape[2], scores.device))
    return (weights @ v.to(work)).type(q.dtype)
