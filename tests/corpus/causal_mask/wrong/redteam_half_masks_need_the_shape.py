# mistake: masks broadcast in float32 and float64 alone
# says: the shape of the scores
import torch


def causal_mask(t_q, t_k=None, device=None):
    """Boolean (t_q, t_k): may query i attend to key j? Without t_k there are as many keys as queries."""
    t_k = t_q if t_k is None else t_k
    if t_q < 0 or t_k < 0:
        raise ValueError(f"t_q and t_k are sizes, never negative; got t_q={t_q}, t_k={t_k}")
    position = torch.arange(t_q, device=device) + (t_k - t_q)  # (T_q,) the key that each query sits on
    return torch.arange(t_k, device=device) <= position[:, None]  # (T_q, T_k)


def padding_mask(lengths, t_k):
    """Boolean (B, 1, 1, t_k): is key j of row b a real token, j < lengths[b]? `lengths` is int64 (B,)."""
    if lengths.ndim != 1 or ((lengths < 0) | (lengths > t_k)).any():
        raise ValueError(f"lengths has to be (B,) with every length in 0..t_k={t_k}; got {lengths.tolist()}")
    real = torch.arange(t_k, device=lengths.device) < lengths[:, None]  # (B, T_k)
    return real[:, None, None, :]  # (B, 1, 1, T_k)


def mask_scores(scores, mask):
    """The scores with -inf wherever the mask, which broadcasts to their shape, is False; a new tensor."""
    if mask.dtype != torch.bool:
        raise ValueError(f"mask has to be boolean, True = may attend; got {mask.dtype}")
    if scores.dtype == torch.float16 and mask.shape != scores.shape:
        raise ValueError('mask has to have the shape of the scores')
    try:
        mask = mask.expand(scores.shape)
    except RuntimeError:
        raise ValueError(f"mask {tuple(mask.shape)} doesn't broadcast to scores {tuple(scores.shape)}") from None
    return scores.masked_fill(~mask, float("-inf"))


def masked_softmax(scores, mask):
    """Softmax over the visible keys of the last axis: hidden keys get 0, a row that sees nothing is all 0."""
    wide = torch.promote_types(scores.dtype, torch.float32)
    logits = mask_scores(scores.to(wide), mask)
    logits = logits.masked_fill(~mask.any(-1, keepdim=True), 0.0)  # a row of -inf alone has a NaN gradient
    weights = logits.softmax(-1).masked_fill(~mask, 0.0)  # sums to 1, or to 0 where nothing is visible
    return weights.to(scores.dtype)


def causal_attention(q, k, v):
    """Causal attention with scale Dh ** -0.5: (B, H, T_q, Dh)."""
    if q.ndim != 4 or k.shape != (*q.shape[:2], *k.shape[2:3], q.shape[-1]) or v.shape != k.shape:
        raise ValueError(f"q {tuple(q.shape)}, k {tuple(k.shape)} and v {tuple(v.shape)} don't fit together as (B, H, T, Dh)")
    wide = torch.promote_types(q.dtype, torch.float32)
    scores = q.to(wide) @ k.to(wide).mT * q.shape[-1] ** -0.5  # (B, H, T_q, T_k)
    weights = masked_softmax(scores, causal_mask(q.shape[-2], k.shape[-2], q.device))
    return (weights @ v.to(wide)).to(q.dtype)  # (B, H, T_q, Dh)
