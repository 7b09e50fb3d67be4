"""Right in another way: the core of attention is a torch.autograd.Function with its own backward; an index list is cached."""

import functools

import torch


@functools.cache
def owners(n_heads, n_rep):
    return [h // n_rep for h in range(n_heads)]


class Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, hidden):
        q = q * q.shape[-1] ** -0.5
        s = q @ k.mT
        if hidden is not None:
            s[hidden.expand_as(s)] = float("-inf")
        p = s.sub_(s.amax(-1, keepdim=True)).exp_()
        p /= p.sum(-1, keepdim=True)
        ctx.save_for_backward(q, k, v, p)
        return p @ v

    @staticmethod
    def backward(ctx, grad):
        q, k, v, p = ctx.saved_tensors
        gp = grad @ v.mT
        gs = p * (gp - (p * gp).sum(-1, keepdim=True))
        return gs @ k * q.shape[-1] ** -0.5, gs.mT @ q, p.mT @ grad, None


def split_heads(x, n_heads):
    if x.dim() != 3:
        raise ValueError("split_heads: x is not (B, T, D)")
    if n_heads < 1:
        raise ValueError("split_heads: n_heads is below one")
    if x.shape[2] % n_heads:
        raise ValueError("split_heads: D is not a multiple of n_heads")
    dh = x.shape[2] // n_heads
    return torch.stack([x.narrow(2, h * dh, dh) for h in range(n_heads)], dim=1)


def merge_heads(x):
    if x.dim() != 4:
        raise ValueError("merge_heads: x is not (B, H, T, Dh)")
    return torch.concatenate(torch.unbind(x, dim=1), dim=2)


def repeat_kv(x, n_rep):
    if x.dim() != 4:
        raise ValueError("repeat_kv: x is not (B, H_kv, T, Dh)")
    if n_rep < 1:
        raise ValueError("repeat_kv: n_rep is below one")
    return x[:, owners(x.shape[1] * n_rep, n_rep)]


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    kv = n_heads if n_kv_heads is None else n_kv_heads
    if n_heads < 1:
        raise ValueError("n_heads is below one")
    if kv < 1 or n_heads % kv:
        raise ValueError("n_kv_heads does not divide n_heads")
    if x.dim() != 3:
        raise ValueError("x is not (B, T, D)")
    for w, name in ((w_q, "w_q"), (w_k, "w_k"), (w_v, "w_v"), (w_o, "w_o")):
        if w.dim() != 2:
            raise ValueError(f"{name} is not a matrix")
    if w_q.shape[1] % n_heads:
        raise ValueError("the width of w_q is not a multiple of n_heads")
    d, dh = x.shape[2], w_q.shape[1] // n_heads
    if w_q.shape[0] != d:
        raise ValueError("w_q does not fit x")
    if w_k.shape != (d, kv * dh):
        raise ValueError("w_k does not fit x, w_q or n_kv_heads")
    if w_v.shape != (d, kv * dh):
        raise ValueError("w_v does not fit x, w_q or n_kv_heads")
    if w_o.shape != (n_heads * dh, d):
        raise ValueError("w_o does not fit x or w_q")
    hidden = None
    if mask is not None:
        try:
            hidden = ~torch.broadcast_to(mask, (x.shape[0], n_heads, x.shape[1], x.shape[1]))
        except RuntimeError as error:
            raise ValueError(f"mask: {error}") from error
    work = x.dtype if x.dtype == torch.float64 else torch.float32
    z = x.to(work)
    q = split_heads(z @ w_q.to(work), n_heads)
    k = repeat_kv(split_heads(z @ w_k.to(work), kv), n_heads // kv)
    v = repeat_kv(split_heads(z @ w_v.to(work), kv), n_heads // kv)
    return (merge_heads(Attend.apply(q, k, v, hidden)) @ w_o.to(work)).to(x.dtype)
