"""Right in another way: weights reshaped to one matrix per head, everything else is einsum."""

import torch


def _need(ok, message):
    if not ok:
        raise ValueError(message)


def split_heads(x, n_heads):
    _need(x.ndim == 3, "x: rank 3 expected")
    _need(n_heads >= 1, "n_heads: at least one head")
    _need(x.shape[2] % n_heads == 0, "n_heads: must divide the last axis of x")
    return torch.einsum("bthc->bhtc", x.unflatten(2, (n_heads, x.shape[2] // n_heads)))


def merge_heads(x):
    _need(x.ndim == 4, "x: rank 4 expected")
    return torch.einsum("bhtc->bthc", x).flatten(2)


def repeat_kv(x, n_rep):
    _need(x.ndim == 4, "x: rank 4 expected")
    _need(n_rep >= 1, "n_rep: at least one copy")
    return x.unsqueeze(2).expand(-1, -1, n_rep, -1, -1).flatten(1, 2)


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    if n_kv_heads is None:
        n_kv_heads = n_heads
    _need(x.ndim == 3, "x: rank 3 expected")
    _need(n_heads >= 1, "n_heads: at least one head")
    _need(n_kv_heads >= 1 and n_heads % n_kv_heads == 0, "n_kv_heads: must divide n_heads")
    for name, w in zip(("w_q", "w_k", "w_v", "w_o"), (w_q, w_k, w_v, w_o), strict=False):
        _need(w.ndim == 2, name + ": rank 2 expected")
    b, t, d = x.shape
    _need(w_q.shape[1] % n_heads == 0, "w_q: columns must be a multiple of n_heads")
    dh = w_q.shape[1] // n_heads
    _need(w_q.shape[0] == d, "w_q: rows must match x")
    _need(w_k.shape == (d, n_kv_heads * dh), "w_k: misfit")
    _need(w_v.shape == (d, n_kv_heads * dh), "w_v: misfit")
    _need(w_o.shape == (n_heads * dh, d), "w_o: misfit")
    if mask is not None:
        want = (b, n_heads, t, t)
        _need(mask.ndim <= 4, "mask: too many axes")
        for have, size in zip(reversed(mask.shape), reversed(want), strict=False):
            _need(have in (1, size), "mask: does not broadcast")

    calc = torch.float64 if x.dtype == torch.float64 else torch.float32
    group = n_heads // n_kv_heads
    wq = w_q.to(calc).reshape(d, n_kv_heads, group, dh)
    wk = w_k.to(calc).reshape(d, n_kv_heads, dh)
    wv = w_v.to(calc).reshape(d, n_kv_heads, dh)
    wo = w_o.to(calc).reshape(n_kv_heads, group, dh, d)
    xs = x.to(calc)
    q = torch.einsum("btd,dgrc->bgrtc", xs, wq)
    k = torch.einsum("btd,dgc->bgtc", xs, wk)
    v = torch.einsum("btd,dgc->bgtc", xs, wv)
    s = torch.einsum("bgrtc,bgsc->bgrts", q, k) / dh**0.5
    if mask is not None:
        full = torch.broadcast_to(mask, want).reshape(b, n_kv_heads, group, t, t)
        s = torch.where(full, s, torch.full_like(s, -torch.inf))
    p = torch.softmax(s, -1)
    return torch.einsum("bgrts,bgsc,grcd->btd", p, v, wo).to(x.dtype)
