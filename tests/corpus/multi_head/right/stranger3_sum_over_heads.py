# right: stack and cat instead of reshapes, and a loop over heads that adds each head times its rows of w_o instead of merging
from __future__ import annotations

import torch
from torch import Tensor

LOW = (torch.float16, torch.bfloat16)


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    if x.ndim != 3:
        raise ValueError(f"x: expected three axes, got shape {tuple(x.shape)}")
    if n_heads < 1 or x.shape[2] % n_heads:
        raise ValueError(f"n_heads: {n_heads} cannot cut a width of {x.shape[2]}")
    pieces = x.chunk(n_heads, dim=2)
    return torch.stack(pieces, dim=1)


def merge_heads(x: Tensor) -> Tensor:
    if x.ndim != 4:
        raise ValueError(f"x: expected four axes, got shape {tuple(x.shape)}")
    return torch.cat(x.unbind(dim=1), dim=-1)


def repeat_kv(x: Tensor, n_rep: int) -> Tensor:
    if x.ndim != 4:
        raise ValueError(f"x: expected four axes, got shape {tuple(x.shape)}")
    if n_rep < 1:
        raise ValueError(f"n_rep: {n_rep} is below 1")
    source = torch.arange(x.shape[1] * n_rep, device=x.device) // n_rep
    return x.index_select(1, source)


def _check(x, w_q, w_k, w_v, w_o, n_heads, n_kv, mask):
    if x.ndim != 3:
        raise ValueError("x: must be (B, T, D)")
    if n_heads < 1:
        raise ValueError("n_heads: must be positive")
    if n_kv < 1 or n_heads % n_kv:
        raise ValueError("n_kv_heads: must be positive and divide n_heads")
    b, t, d = x.shape
    for label, w in {"w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o}.items():
        if w.ndim != 2:
            raise ValueError(f"{label}: must have two axes")
    if w_q.shape[1] % n_heads:
        raise ValueError("w_q: columns must split into n_heads")
    dh = w_q.shape[1] // n_heads
    wanted = {
        "w_q": (w_q, (d, n_heads * dh)),
        "w_k": (w_k, (d, n_kv * dh)),
        "w_v": (w_v, (d, n_kv * dh)),
        "w_o": (w_o, (n_heads * dh, d)),
    }
    for label, (w, shape) in wanted.items():
        if tuple(w.shape) != shape:
            raise ValueError(f"{label}: expected {shape}, got {tuple(w.shape)}")
    if mask is not None:
        full = (b, n_heads, t, t)
        if mask.dtype is not torch.bool:
            raise ValueError("mask: must be boolean")
        ok = mask.ndim <= 4 and all(m in (1, f) for m, f in zip(mask.shape[::-1], full[::-1]))
        if not ok:
            raise ValueError(f"mask: {tuple(mask.shape)} does not broadcast to {full}")
    return dh


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    n_kv = n_heads if n_kv_heads is None else n_kv_heads
    dh = _check(x, w_q, w_k, w_v, w_o, n_heads, n_kv, mask)
    dtype = torch.float32 if x.dtype in LOW else x.dtype
    xs, wq, wk, wv, wo = (t.to(dtype) for t in (x, w_q, w_k, w_v, w_o))
    group = n_heads // n_kv

    if mask is not None:
        mask = mask.expand(x.shape[0], n_heads, x.shape[1], x.shape[1])
    total = torch.zeros_like(xs)
    for h in range(n_heads):
        g = h // group
        q = xs @ wq[:, h * dh:(h + 1) * dh]
        k = xs @ wk[:, g * dh:(g + 1) * dh]
        v = xs @ wv[:, g * dh:(g + 1) * dh]
        s = torch.einsum("btd,bsd->bts", q, k) / dh ** 0.5
        if mask is not None:
            s = torch.where(mask[:, h], s, torch.full_like(s, float("-inf")))
        p = (s - s.detach().amax(dim=-1, keepdim=True)).exp()
        p = p / p.sum(dim=-1, keepdim=True)
        total = total + p @ v @ wo[h * dh:(h + 1) * dh]
    return total.to(x.dtype)
