# mistake: scaled before and after the product
# names: scale-without-the-root
import torch

NEVER = float("-inf")


def causal_mask(t_q, t_k=None, device=None, *, offset=None):
    keys = t_q if t_k is None else t_k
    if t_q < 0 or keys < 0:
        raise ValueError(f"sizes can't be negative (t_q={t_q}, t_k={t_k})")
    offset = keys - t_q if offset is None else offset
    hidden = torch.triu(torch.ones(t_q, keys, dtype=torch.bool, device=device), diagonal=1 + offset)
    return ~hidden


def padding_mask(lengths, t_k):
    if bool(((lengths < 0) + (lengths > t_k)).any()):
        raise ValueError("lengths: 0 <= length <= t_k is needed")
    grid = torch.arange(t_k, device=lengths.device).repeat(lengths.numel(), 1)
    return torch.lt(grid, lengths.unsqueeze(1)).unsqueeze(1).unsqueeze(1)


def bias_of(mask, dtype):
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(mask.logical_not(), NEVER)


def checked(mask, shape):
    if mask.dtype != torch.bool:
        raise ValueError(f"mask should be torch.bool and is {mask.dtype}")
    short = len(shape) - mask.dim()
    if short < 0 or any(m not in (1, n) for m, n in zip(mask.shape, shape[short:], strict=True)):
        raise ValueError(f"mask {list(mask.shape)} won't broadcast to {list(shape)}")
    return mask


def mask_scores(scores, mask):
    return scores.masked_fill(checked(mask, scores.shape).logical_not(), NEVER)


def masked_softmax(scores, mask):
    checked(mask, scores.shape)
    work = scores if scores.dtype in (torch.float32, torch.float64) else scores.to(torch.float32)
    lonely = ~mask.any(dim=-1, keepdim=True)
    bias = bias_of(mask | lonely, work.dtype)
    tame = torch.where(mask, work, torch.zeros((), dtype=work.dtype, device=work.device))  # hidden scores can't overflow
    weights = torch.softmax(tame + bias, dim=-1)
    return torch.where(lonely, torch.zeros_like(weights), weights).to(scores.dtype)


def causal_attention(q, k, v):
    wide = torch.promote_types(q.dtype, torch.float32)
    Q, K, V = q.to(wide), k.to(wide), v.to(wide)
    t_q, t_k = q.shape[-2], k.shape[-2]
    Q = Q * q.shape[-1] ** -0.5
    s = Q @ K.transpose(-1, -2) * q.shape[-1] ** -0.5
    return (masked_softmax(s, causal_mask(t_q, t_k, q.device)) @ V).to(q.dtype)
