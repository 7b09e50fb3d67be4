# right: One query of one head of one sequence is written down; torch.func.vmap does the rest.
"""One query of one head of one sequence is written down; torch.func.vmap does the rest."""

import torch
from torch.func import vmap


def split_heads(x, n_heads):
    if x.ndim != 3:
        raise ValueError("x needs rank 3")
    if n_heads < 1:
        raise ValueError("n_heads needs to be 1 or more")
    if x.shape[-1] % n_heads:
        raise ValueError("n_heads needs to divide the last axis of x")
    cut = x.reshape(x.shape[0], x.shape[1], n_heads, x.shape[-1] // n_heads)
    return cut.transpose(1, 2).clone()


def merge_heads(x):
    if x.ndim != 4:
        raise ValueError("x needs rank 4")
    if 0 in x.shape:
        raise ValueError("x is empty")
    one_token = lambda heads: heads.reshape(-1)  # (H, Dh) -> (H * Dh)
    return vmap(vmap(one_token, in_dims=1))(x).clone()


def repeat_kv(x, n_rep):
    if x.ndim != 4:
        raise ValueError("x needs rank 4")
    if n_rep < 1:
        raise ValueError("n_rep needs to be 1 or more")
    return torch.cat([x[:, g : g + 1].repeat(1, n_rep, 1, 1) for g in range(x.shape[1])], 1) if x.shape[1] else x.clone()


def _one(q, k, v, visible):
    s = (k * q).sum(-1) * q.shape[-1] ** -0.5
    s = torch.where(visible, s, -torch.inf)
    return torch.softmax(s, 0) @ v


_rows = vmap(_one, in_dims=(0, None, None, 0))
_attend = vmap(vmap(_rows))


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    if x.ndim != 3:
        raise ValueError("x needs rank 3")
    if 0 in x.shape:
        raise ValueError("x is empty")
    named = [("w_q", w_q), ("w_k", w_k), ("w_v", w_v), ("w_o", w_o)]
    if bad := [name for name, w in named if w.ndim != 2]:
        raise ValueError(f"{bad[0]} needs rank 2")
    if n_heads < 1:
        raise ValueError("n_heads needs to be 1 or more")
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    if n_kv_heads < 1 or n_heads % n_kv_heads:
        raise ValueError("n_heads needs to be a multiple of n_kv_heads")
    b, t, d = x.shape
    dh, rest = divmod(w_q.shape[1], n_heads)
    if rest or not dh:
        raise ValueError("w_q needs a multiple of n_heads columns")
    for (name, w), shape in zip(named, [(d, n_heads * dh)] + [(d, n_kv_heads * dh)] * 2 + [(n_heads * dh, d)]):
        if w.shape != shape:
            raise ValueError(f"{name} needs the shape {shape}")
    if mask is None:
        mask = torch.ones((), dtype=torch.bool, device=x.device)
    elif mask.dtype != torch.bool:
        raise ValueError("mask needs to be boolean")
    try:
        mask = mask.expand(b, n_heads, t, t)
    except RuntimeError:
        raise ValueError(f"mask needs to broadcast to {(b, n_heads, t, t)}") from None
    wide = torch.promote_types(x.dtype, torch.float32)
    xw, w_q, w_k, w_v, w_o = (a.to(wide) for a in (x, w_q, w_k, w_v, w_o))
    r = n_heads // n_kv_heads
    heads = _attend(split_heads(xw @ w_q, n_heads), repeat_kv(split_heads(xw @ w_k, n_kv_heads), r), repeat_kv(split_heads(xw @ w_v, n_kv_heads), r), mask)
    return (merge_heads(heads) @ w_o).to(x.dtype)
