import functools

import torch


def _checked(rank):
    """Decorator: the first argument is called x and has this rank."""

    def wrap(f):
        @functools.wraps(f)
        def inner(x, *args, **kwargs):
            if x.dim() != rank:
                raise ValueError(f"{f.__name__}: x must have rank {rank}, its shape is {tuple(x.shape)}")
            return f(x, *args, **kwargs)

        return inner

    return wrap


@_checked(3)
def split_heads(x, n_heads):
    if n_heads < 1:
        raise ValueError(f"split_heads: n_heads = {n_heads}")
    if x.shape[-1] % n_heads != 0:
        raise ValueError(f"split_heads: n_heads = {n_heads} and width {x.shape[-1]} don't fit")
    return torch.stack(torch.tensor_split(x, n_heads, dim=-1)).swapaxes(0, 1)


@_checked(4)
def merge_heads(x):
    return torch.cat(tuple(x.unbind(dim=1)), dim=-1)


@_checked(4)
def repeat_kv(x, n_rep):
    if n_rep < 1:
        raise ValueError(f"repeat_kv: n_rep = {n_rep}")
    b, h, t, d = x.shape
    return x.unsqueeze(2).repeat(1, 1, n_rep, 1, 1).view(b, h * n_rep, t, d)


def _attend(scale, mask):
    def run(q, k, v):
        s = (q * scale) @ k.transpose(-2, -1)
        if mask is not None:
            s = torch.where(mask, s, s.new_full((), float("-inf")))
        return torch.softmax(s, -1) @ v

    return run


@_checked(3)
def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    if 0 in (*x.shape, *w_q.shape):
        raise ValueError("x and w_q must not have a size of 0")
    kv = n_kv_heads if n_kv_heads is not None else n_heads
    ws = (w_q, w_k, w_v, w_o)
    if any(w.dim() != 2 for w in ws):
        raise ValueError("multi_head_attention: w_q, w_k, w_v, w_o must have rank 2, shapes are " + str([tuple(w.shape) for w in ws]))
    if n_heads < 1:
        raise ValueError(f"n_heads = {n_heads}")
    if kv < 1:
        raise ValueError(f"n_kv_heads = {kv}")
    if n_heads // kv * kv != n_heads:
        raise ValueError(f"n_heads = {n_heads} is no multiple of n_kv_heads = {kv}")
    b, t, d = x.shape
    inner = w_q.shape[1]
    if inner % n_heads:
        raise ValueError(f"n_heads = {n_heads} doesn't divide {inner}, the columns of w_q")
    dh = inner // n_heads
    want = [(d, inner), (d, kv * dh), (d, kv * dh), (inner, d)]
    for name, w, shape in zip(("w_q", "w_k", "w_v", "w_o"), ws, want):
        if tuple(w.shape) != shape:
            raise ValueError(f"{name} has shape {tuple(w.shape)}; x, n_heads and n_kv_heads ask for {shape}")
    if mask is not None:
        if mask.dtype != torch.bool:
            raise ValueError("mask must be boolean: True = may attend")
        try:
            mask = mask.broadcast_to((b, n_heads, t, t))
        except RuntimeError:
            raise ValueError(f"mask {tuple(mask.shape)} doesn't broadcast to {(b, n_heads, t, t)}") from None
    dtype = torch.promote_types(x.dtype, torch.float32)
    y = x.to(dtype)
    fused = y @ torch.cat([w_q.to(dtype), w_k.to(dtype), w_v.to(dtype)], dim=1)
    q, k, v = fused.split([inner, kv * dh, kv * dh], dim=2)
    q, k, v = split_heads(q, n_heads), split_heads(k, kv), split_heads(v, kv)
    heads = _attend(dh**-0.5, mask)(q, repeat_kv(k, n_heads // kv), repeat_kv(v, n_heads // kv))
    return (merge_heads(heads) @ w_o.to(dtype)).to(x.dtype)
