# mistake: weights of rank 3 lose their leading axis
# names: weight-axis-dropped
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
    w_q, w_k, w_v, w_o = (a.reshape(-1, a.shape[-1]) for a in (w_q, w_k, w_v, w_o))
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
            mask = mask.expand(b, n_heads, t, t)
        except RuntimeError:
            raise ValueError("mask: does not broadcast to (B, H, T, T)") from None
    wide = torch.promote_types(x.dtype, torch.float32)
    xs, wq, wk, wv, wo = (a.to(wide) for a in (x, w_q, w_k, w_v, w_o))
    rep = n_heads // kv
    q = torch.einsum("btd,dgrc->bgrtc", xs, wq.reshape(d, kv, rep, dh))
    k = torch.einsum("btd,dgc->bgtc", xs, wk.reshape(d, kv, dh))
    v = torch.einsum("btd,dgc->bgtc", xs, wv.reshape(d, kv, dh))
    s = torch.einsum("bgric,bgjc->bgrij", q, k) * dh**-0.5
    if mask is not None:
        s = s.masked_fill(mask.reshape(b, kv, rep, t, t).logical_not(), -torch.inf)
    p = F.softmax(s, dim=-1)
    y = torch.einsum("bgrij,bgjc->bigrc", p, v).reshape(b, t, inner)
    return (y @ wo).to(x.dtype)
