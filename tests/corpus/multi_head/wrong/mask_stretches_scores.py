# mistake: masks with more batch rows stretch the scores
# says: does not broadcast to the scores
import torch
import torch.nn.functional as F


def need(condition, message):
    if not condition:
        raise ValueError(message)


def split_heads(x, n_heads):
    need(x.ndim == 3, "x: expected three axes")
    need(n_heads >= 1, "n_heads: expected at least 1")
    need(x.size(-1) % n_heads == 0, "n_heads: does not divide the width of x")
    return x.unflatten(-1, (n_heads, x.size(-1) // n_heads)).permute(0, 2, 1, 3)


def merge_heads(x):
    need(x.ndim == 4, "x: expected four axes")
    return x.permute(0, 2, 1, 3).flatten(2)


def repeat_kv(x, n_rep):
    need(x.ndim == 4, "x: expected four axes")
    need(n_rep >= 1, "n_rep: expected at least 1")
    b, g, t, c = x.shape
    return x[:, :, None].expand(b, g, n_rep, t, c).reshape(b, g * n_rep, t, c)


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    kv = n_heads if n_kv_heads is None else n_kv_heads
    need(n_heads >= 1, "n_heads: expected at least 1")
    need(kv >= 1 and n_heads % kv == 0, "n_kv_heads: must divide n_heads")
    need(x.ndim == 3, "x: expected three axes")
    need(w_q.ndim == 2, "w_q: expected two axes")
    need(w_k.ndim == 2, "w_k: expected two axes")
    need(w_v.ndim == 2, "w_v: expected two axes")
    need(w_o.ndim == 2, "w_o: expected two axes")
    b, t, d = x.shape
    inner = w_q.size(1)
    need(inner % n_heads == 0, "w_q: n_heads does not divide its width")
    dh = inner // n_heads
    need(tuple(w_q.shape) == (d, inner), "w_q: does not fit x")
    need(tuple(w_k.shape) == (d, kv * dh), "w_k: does not fit x, w_q and n_kv_heads")
    need(tuple(w_v.shape) == (d, kv * dh), "w_v: does not fit x, w_q and n_kv_heads")
    need(tuple(w_o.shape) == (inner, d), "w_o: does not fit x and w_q")
    if mask is not None:
        try:
            torch.broadcast_shapes(mask.shape, (b, n_heads, t, t))
        except RuntimeError:
            raise ValueError("mask: does not broadcast to (B, H, T, T)") from None
    wide = torch.promote_types(x.dtype, torch.float32)
    xs, wq, wk, wv, wo = (a.to(wide) for a in (x, w_q, w_k, w_v, w_o))
    rep = n_heads // kv
    q = split_heads(xs @ wq, n_heads)
    k = repeat_kv(split_heads(xs @ wk, kv), rep)
    v = repeat_kv(split_heads(xs @ wv, kv), rep)
    s = q @ k.mT * dh**-0.5
    if mask is not None:
        s = s.masked_fill(~mask, -torch.inf)
    y = (F.softmax(s, dim=-1) @ v).transpose(-3, -2).flatten(-2)
    return (y @ wo).to(x.dtype)
