# mistake: -1e9, and hidden weights emptied afterwards
# names: minus-a-billion-then-emptied
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
    return (torch.softmax(torch.where(mask, work, -1e9), dim=-1) * mask).to(scores.dtype)


def causal_attention(q, k, v):
    b, h, t_q, d = q.shape
    t_k = k.shape[-2]
    work = torch.float64 if q.dtype == torch.float64 else torch.float32
    flat_q, flat_k, flat_v = (x.to(work).reshape(b * h, -1, d) for x in (q, k, v))
    scores = torch.bmm(flat_q * d**-0.5, flat_k.transpose(1, 2))
    out = torch.bmm(masked_softmax(scores, causal_mask(t_q, t_k, q.device)), flat_v)
    return out.view(b, h, t_q, d).to(q.dtype)
