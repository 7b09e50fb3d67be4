"""One batch row and head at a time, queries that see nothing left out and put back as zeros."""

import torch
import torch.nn.functional as F


def causal_mask(t_q, t_k=None, device=None):
    t_k = t_q if t_k is None else t_k
    if t_q < 0:
        raise ValueError(f"t_q can't be negative (got {t_q})")
    if t_k < 0:
        raise ValueError(f"t_k can't be negative (got {t_k})")
    full = torch.ones(max(t_q, t_k), t_k, dtype=torch.bool, device=device).tril(min(0, t_k - t_q))
    return full[-t_q:] if t_q else full[:0]


def padding_mask(lengths, t_k):
    if lengths.dim() != 1:
        raise ValueError("lengths is a vector")
    if not bool(torch.all((lengths >= 0) & (lengths <= t_k))):
        raise ValueError(f"lengths outside 0..{t_k}: {lengths}")
    positions = torch.arange(t_k, device=lengths.device)
    return torch.unflatten(positions.expand(lengths.shape[0], t_k) < lengths.unsqueeze(-1), 0, (lengths.shape[0], 1, 1))


def mask_scores(scores, mask):
    if mask.dtype != torch.bool:
        raise ValueError(f"mask.dtype is {mask.dtype}, not bool")
    try:
        bias = torch.zeros_like(scores, requires_grad=False).masked_fill_(~mask, -torch.inf)
    except RuntimeError as error:
        raise ValueError(f"mask can't be broadcast: {error}") from error
    return scores + bias


def masked_softmax(scores, mask):
    if mask.dtype != torch.bool:
        raise ValueError("mask: bool, please")
    if mask.dim() > scores.dim():
        raise ValueError("mask has too many axes")
    try:
        mask = mask.expand(scores.size())
    except RuntimeError:
        raise ValueError("mask doesn't broadcast") from None
    alive = mask.any(-1)
    rows = scores[alive].float() if scores.dtype != torch.float64 else scores[alive]
    weights = F.softmax(rows.masked_fill(~mask[alive], -torch.inf), dim=-1).to(scores.dtype)
    if scores.dim() == 1:
        return weights[0] if alive else scores * 0
    return torch.zeros_like(scores).index_put(alive.nonzero(as_tuple=True), weights)


def _one_head(q, k, v, mask):
    seen = mask.any(-1)
    scores = (q[seen] @ k.T) * q.shape[-1] ** -0.5
    out = torch.zeros(len(mask), v.shape[-1], dtype=v.dtype, device=v.device)
    return out.index_put((seen.nonzero().flatten(),), scores.masked_fill(~mask[seen], -torch.inf).softmax(-1) @ v)


def causal_attention(q, k, v):
    wide = torch.promote_types(q.dtype, torch.float32)
    mask = causal_mask(q.size(2), k.size(2), q.device)
    rows = zip(q.to(wide), k.to(wide), v.to(wide), strict=True)
    outputs = [torch.stack([_one_head(*head, mask) for head in zip(*row, strict=True)]) for row in rows]
    return torch.stack(outputs).to(q.dtype)
