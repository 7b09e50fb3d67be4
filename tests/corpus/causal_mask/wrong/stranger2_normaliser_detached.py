# mistake: masked_softmax detaches the normaliser, so the weights are right and the gradient lacks the softmax coupling term
# names: normaliser-detached
# my notes: True = allowed to look. exp by hand because I wanted to see every step.
import torch as th


def need(cond, msg):
    if not cond:
        raise ValueError(msg)


def causal_mask(t_q, t_k=None, device=None):
    if t_k is None:
        t_k = t_q
    need(t_q >= 0, "t_q is negative")
    need(t_k >= 0, "t_k is negative")
    rows = th.arange(t_q, device=device).view(-1, 1)
    cols = th.arange(t_k, device=device).view(1, -1)
    offset = t_k - t_q
    return cols <= rows + offset


def padding_mask(lengths, t_k):
    need(t_k >= 0, "t_k is negative")
    need(lengths.dim() == 1, "lengths needs exactly one axis")
    low = lengths < 0
    high = lengths > t_k
    need(not bool(low.any()), "lengths has a negative entry")
    need(not bool(high.any()), "lengths has an entry larger than t_k")
    cols = th.arange(t_k, device=lengths.device).view(1, 1, 1, -1)
    return cols < lengths.view(-1, 1, 1, 1)


def as_full_mask(scores, mask):
    need(th.is_tensor(mask), "mask is not a tensor")
    need(mask.dtype == th.bool, "mask is not boolean")
    try:
        full = mask.expand(scores.shape)
    except RuntimeError:
        full = None
    need(full is not None, "mask does not fit the scores")
    return full


def mask_scores(scores, mask):
    full = as_full_mask(scores, mask)
    minus_inf = th.tensor(float("-inf"), dtype=scores.dtype, device=scores.device)
    return th.where(full, scores, minus_inf)


def masked_softmax(scores, mask):
    full = as_full_mask(scores, mask)
    work = scores.to(th.float32) if scores.dtype != th.float64 else scores
    hidden = mask_scores(work, full)
    # shift by the biggest visible score; a row without one is shifted by 0
    shift = hidden.amax(dim=-1, keepdim=True).detach()
    shift = shift.masked_fill(shift == float("-inf"), 0.0)
    e = th.exp(hidden - shift)
    total = e.sum(dim=-1, keepdim=True)
    total = total.masked_fill(total == 0, 1.0)
    total = total.detach()  # only a constant, I think: saves memory in the backward
    return (e / total).to(scores.dtype)


def causal_attention(q, k, v):
    need(q.dim() == 4, "q is not (B, H, T_q, Dh)")
    need(k.dim() == 4, "k is not (B, H, T_k, Dh)")
    need(v.dim() == 4, "v is not (B, H, T_k, Dh)")
    need(q.size(0) == k.size(0) and q.size(1) == k.size(1), "q and k differ in batch or heads")
    need(q.size(3) == k.size(3), "q and k differ in width")
    need(k.shape == v.shape, "k and v differ in shape")
    work = th.float64 if q.dtype == th.float64 else th.float32
    scale = q.size(3) ** -0.5
    s = th.einsum("bhqd,bhkd->bhqk", q.to(work), k.to(work)) * scale
    m = causal_mask(q.size(2), k.size(2), q.device)
    w = masked_softmax(s, m)
    y = th.einsum("bhqk,bhkd->bhqd", w, v.to(work))
    return y.to(q.dtype)
