# mistake: causal_attention scales and multiplies half-precision q and k before it widens them
# names: queries-and-keys-scaled-in-half-precision
"""Closures and recursion: the mask of n + 1 queries is the mask of n with one row below."""
from functools import partial
from itertools import count, takewhile

import torch

Unfit = type("Unfit", (ValueError,), {})


def insist(**claims):
    for name, claim in claims.items():
        if not claim:
            raise Unfit(f"{name} can't be right")


def causal_mask(t_q, t_k=None, device=None):
    t_k = t_q if t_k is None else t_k
    insist(t_q=t_q >= 0, t_k=t_k >= 0)

    def build(lo, hi):
        if hi - lo == 0:
            return torch.empty((0, t_k), dtype=torch.bool, device=device)
        if hi - lo == 1:
            return (torch.arange(t_k, device=device) - lo <= t_k - t_q).unsqueeze(0)
        mid = (lo + hi) // 2
        return torch.cat([build(lo, mid), build(mid, hi)])

    return build(0, t_q)


def padding_mask(lengths, t_k):
    insist(t_k=t_k >= 0, lengths=lengths.dim() == 1)
    insist(lengths=lengths.numel() == 0 or (int(lengths.min()) >= 0 and int(lengths.max()) <= t_k))
    keys = list(takewhile(lambda j: j < t_k, count()))
    table = lengths.new_tensor(keys, dtype=torch.int64).repeat(lengths.shape[0], 1)
    return (table < lengths.unsqueeze(1)).reshape(lengths.shape[0], 1, 1, t_k)


def _visible(scores, mask):
    insist(mask=mask.dtype == torch.bool)
    try:
        both = torch.broadcast_shapes(scores.shape, mask.shape)
    except RuntimeError:
        both = None
    insist(mask=both == scores.shape)
    return torch.broadcast_to(mask, scores.shape)


def mask_scores(scores, mask):
    return torch.where(_visible(scores, mask), scores, scores.new_tensor(-torch.inf))


def masked_softmax(scores, mask):
    see = _visible(scores, mask)
    insist(scores=scores.dim() > 0)
    kind = {torch.float64: torch.float64}.get(scores.dtype, torch.float32)
    floor = torch.finfo(kind).min
    z = scores.to(kind).masked_fill(~see, 0.0)
    top = z.detach().masked_fill(~see, floor).amax(-1, keepdim=True) if z.shape[-1] else z.sum(-1, True)
    e = torch.exp((z - top).masked_fill(~see, -torch.inf))
    total = e.sum(-1, keepdim=True)
    return torch.div(e, torch.where(total > 0, total, torch.ones_like(total))).to(scores.dtype)


def causal_attention(q, k, v):
    insist(q=q.dim() == 4, k=k.dim() == 4, v=v.dim() == 4)
    insist(k=q.shape[:2] == k.shape[:2] and q.shape[3] == k.shape[3], v=v.shape == k.shape)
    kind = {torch.float64: torch.float64}.get(q.dtype, torch.float32)
    up = partial(torch.Tensor.to, dtype=kind)
    scale = max(q.shape[3], 1) ** -0.25
    s = torch.matmul(q * scale, (k * scale).transpose(-1, -2))
    return torch.matmul(masked_softmax(up(s), causal_mask(q.shape[2], k.shape[2], device=q.device)), up(v)).type_as(q)
