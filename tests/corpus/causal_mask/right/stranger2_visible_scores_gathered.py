from functools import reduce
from itertools import starmap

import torch
from torch import Tensor


def causal_mask(t_q, t_k=None, device=None):
    t_k = t_q if t_k is None else t_k
    if bad := [name for name, n in zip(("t_q", "t_k"), (t_q, t_k)) if n < 0]:
        raise ValueError(f"negative: {', '.join(bad)}")
    # flat index -> (query, key) by divmod, one comparison on the flat axis
    flat = torch.arange(t_q * t_k, device=device)
    query, key = flat // max(t_k, 1), flat % max(t_k, 1)
    return (key - query <= t_k - t_q).reshape(t_q, t_k)


def padding_mask(lengths, t_k):
    if t_k < 0:
        raise ValueError(f"negative: t_k")
    if lengths.dim() != 1:
        raise ValueError(f"lengths of rank {lengths.dim()}, not 1")
    if not torch.equal(lengths.clamp(0, t_k), lengths):
        raise ValueError(f"lengths must be in 0..{t_k}, got {lengths.tolist()}")
    triangle = torch.ones(t_k + 1, t_k, dtype=torch.bool, device=lengths.device).tril(-1)  # row n: n times True
    return triangle.index_select(0, lengths)[:, None, None]


def _spread(mask, shape):
    if not (isinstance(mask, Tensor) and mask.dtype == torch.bool):
        raise ValueError("mask: boolean tensors only")
    pad = len(shape) - mask.dim()
    if pad < 0 or any(starmap(lambda m, s: m != s and m != 1, zip(mask.shape, shape[pad:]))):
        raise ValueError(f"mask: {tuple(mask.shape)} does not fit {tuple(shape)}")
    return mask.expand(shape)


def mask_scores(scores, mask):
    visible = _spread(mask, scores.shape)
    # log(1) = 0 and log(0) = -inf: an additive mask. Hidden scores are finite, so no NaN can come of it.
    return scores + torch.log(visible.to(scores.dtype))


def masked_softmax(scores, mask):
    visible = _spread(mask, scores.shape)
    wide = scores.to(torch.promote_types(scores.dtype, torch.float32))
    # only the visible scores, row by row, in one long list; nothing hidden ever meets an exponential
    rows = wide.reshape(-1, wide.shape[-1])
    seen = visible.reshape(-1, wide.shape[-1])
    parts = (r[m].softmax(0) for r, m in zip(rows, seen))
    chosen = torch.cat([*parts, wide.new_zeros(0)])
    return torch.zeros_like(rows).masked_scatter(seen, chosen).reshape(scores.shape).to(scores.dtype)


def causal_attention(q, k, v):
    if {q.dim(), k.dim(), v.dim()} != {4}:
        raise ValueError("q, k, v: four axes each, please")
    (b, h, t_q, dh), t_k = q.shape, k.shape[2]
    if k.shape != (b, h, t_k, dh):
        raise ValueError(f"k: {tuple(k.shape)} beside q {tuple(q.shape)}")
    if v.shape != k.shape:
        raise ValueError(f"v: {tuple(v.shape)} beside k {tuple(k.shape)}")
    up = torch.promote_types(q.dtype, torch.float32)
    q2, k2, v2 = q.to(up) * dh**-0.5, k.to(up), v.to(up)
    see = causal_mask(t_q, t_k, q.device)

    # key by key: running maximum, running sum, running output, folded with reduce
    def absorb(state, j):
        m, l, o = state
        s = torch.where(see[:, j], (q2 * k2[:, :, j : j + 1]).sum(-1), -torch.inf)
        m_new = torch.maximum(m, s.detach())
        base = torch.where(m_new == -torch.inf, 0.0, m_new)
        old, new = torch.exp(m - base), torch.exp(s - base)
        return m_new, l * old + new, o * old[..., None] + new[..., None] * v2[:, :, j : j + 1]

    zero = q2.sum(-1) * 0
    _, l, o = reduce(absorb, range(t_k), (torch.full_like(zero, -torch.inf).detach(), zero, q2 * 0))
    return (o / torch.where(l == 0, 1.0, l)[..., None]).to(q.dtype)
