"""Empty rows become NaN and are replaced after the softmax: masked_fill's backward lets no NaN through, so gradients are zero as well."""

import torch


def causal_mask(t_q, t_k=None, device=None):
    t_k = t_q if t_k is None else t_k
    if t_q < 0 or t_k < 0:
        raise ValueError(f"t_q ({t_q}) and t_k ({t_k}) must not be negative")
    return torch.full((t_q, t_k), True, device=device).tril_(t_k - t_q)


def padding_mask(lengths, t_k):
    low, high = torch.aminmax(lengths)
    if low < 0 or high > t_k:
        raise ValueError(f"lengths from {low} to {high} are not all in 0..{t_k}")
    return torch.arange(t_k, device=lengths.device)[None, None, None].less(lengths[:, None, None, None])


def mask_scores(scores, mask):
    if mask.dtype != torch.bool:
        raise ValueError(f"mask is {mask.dtype}")
    if _together(scores, mask) != tuple(scores.shape):
        raise ValueError(f"mask {tuple(mask.shape)} against scores {tuple(scores.shape)}")
    return scores.masked_fill(mask.logical_not(), float("-inf"))


def _together(scores, mask):
    try:
        return tuple(torch.broadcast_shapes(scores.shape, mask.shape))
    except RuntimeError:
        return None


def masked_softmax(scores, mask):
    wide = torch.promote_types(scores.dtype, torch.float32)
    return torch.nan_to_num(torch.softmax(mask_scores(scores.to(wide), mask), dim=-1)).to(scores.dtype)


def causal_attention(q, k, v):
    wide = torch.promote_types(q.dtype, torch.float32)
    s = torch.matmul(q.to(wide), k.to(wide).transpose(-1, -2)).div(q.size(-1) ** 0.5)
    return torch.matmul(masked_softmax(s, causal_mask(q.size(-2), k.size(-2), q.device)), v.to(wide)).to(q.dtype)
