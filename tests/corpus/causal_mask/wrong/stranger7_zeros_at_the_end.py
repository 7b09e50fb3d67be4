# mistake: causal_attention pads the outputs of queries that see nothing at the end
# names: empty-queries-at-the-end
"""Masks are NumPy tables moved to the device; attention goes head by head with baddbmm and an additive bias."""
import numpy as np
import torch

NEG = np.float32(-np.inf)
DTYPES = {torch.float16: torch.float32, torch.bfloat16: torch.float32}


def refuse(parameter, value):
    raise ValueError("%s = %r" % (parameter, value))


def causal_mask(t_q, t_k=None, device=None):
    if t_q < 0:
        refuse("t_q", t_q)
    if t_k is None:
        t_k = t_q
    elif t_k < 0:
        refuse("t_k", t_k)
    table = np.subtract.outer(np.arange(t_q) + (t_k - t_q), np.arange(t_k)) >= 0
    return torch.from_numpy(table).to(device if device is not None else torch.get_default_device())


def padding_mask(lengths, t_k):
    if t_k < 0:
        refuse("t_k", t_k)
    if lengths.ndim != 1:
        refuse("lengths.ndim", lengths.ndim)
    n = lengths.cpu().numpy()
    wrong = n[(n < 0) | (n > t_k)]
    if wrong.size:
        refuse("lengths", wrong.tolist())
    return torch.from_numpy(np.less(np.arange(t_k)[None, None, None, :], n[:, None, None, None])).to(lengths.device)


def _fit(scores, mask):
    if mask.dtype is not torch.bool:
        refuse("mask.dtype", mask.dtype)
    try:
        np.broadcast_to(np.False_, mask.shape)
        ok = np.broadcast_shapes(tuple(mask.shape), tuple(scores.shape)) == tuple(scores.shape)
    except ValueError:
        ok = False
    if not ok:
        refuse("mask.shape", tuple(mask.shape))
    return mask.expand_as(scores)


def mask_scores(scores, mask):
    return scores.where(_fit(scores, mask), scores.new_full((), float(NEG)))


def masked_softmax(scores, mask):
    visible = _fit(scores, mask)
    if scores.ndim == 0:
        refuse("scores.ndim", 0)
    x = scores.to(DTYPES.get(scores.dtype, scores.dtype))
    any_visible = visible.any(dim=-1, keepdim=True)
    # a blind row pretends to see everything, on zeros
    x = torch.where(visible, x, torch.where(any_visible, float(NEG), 0.0).to(x.dtype))
    return (torch.softmax(x, -1) * visible).to(scores.dtype)


def causal_attention(q, k, v):
    for parameter, t in (("q", q), ("k", k), ("v", v)):
        if t.ndim != 4:
            refuse(parameter + ".ndim", t.ndim)
    if k.shape[0] != q.shape[0] or k.shape[1] != q.shape[1] or k.shape[3] != q.shape[3]:
        refuse("k.shape", tuple(k.shape))
    if v.shape != k.shape:
        refuse("v.shape", tuple(v.shape))
    (B, H, M, D), N = q.shape, k.shape[2]
    if 0 in (B, H, M, D, N):
        refuse("q.shape, k.shape", (tuple(q.shape), tuple(k.shape)))
    kind = DTYPES.get(q.dtype, q.dtype)
    visible = causal_mask(M, N, q.device)
    first = max(0, M - N)  # queries above see nothing at all
    bias = torch.zeros(M - first, N, dtype=kind, device=q.device).masked_fill(~visible[first:], float(NEG))
    out = []
    for h in range(H):
        s = torch.baddbmm(bias, q[:, h, first:].to(kind), k[:, h].to(kind).transpose(1, 2), alpha=D**-0.5)
        out.append(torch.bmm(s.softmax(2), v[:, h].to(kind)))
    seen = torch.stack(out, dim=1)
    return torch.nn.functional.pad(seen, (0, 0, 0, first)).to(q.dtype)
