# mistake: 1e-9 instead of -1e9
# names: mask-tiny-sentinel
import math

import torch


def split_heads(x, n_heads):
    if x.dim() != 3:
        raise ValueError(f"x must be (B, T, D), got {tuple(x.shape)}")
    if n_heads < 1:
        raise ValueError(f"n_heads must be at least 1, got {n_heads}")
    if x.shape[2] % n_heads != 0:
        raise ValueError(f"n_heads={n_heads} does not divide the width {x.shape[2]}")
    B, T, D = x.shape
    return x.reshape(B, T, n_heads, D // n_heads).transpose(1, 2)


def merge_heads(x):
    if x.dim() != 4:
        raise ValueError(f"x must be (B, H, T, Dh), got {tuple(x.shape)}")
    B, H, T, Dh = x.shape
    return x.transpose(1, 2).reshape(B, T, H * Dh)


def repeat_kv(x, n_rep):
    if x.dim() != 4:
        raise ValueError(f"x must be (B, H_kv, T, Dh), got {tuple(x.shape)}")
    if n_rep < 1:
        raise ValueError(f"n_rep must be at least 1, got {n_rep}")
    return x.repeat_interleave(n_rep, dim=1)


def check_arguments(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, mask):
    if n_heads < 1:
        raise ValueError(f"n_heads must be at least 1, got {n_heads}")
    if n_kv_heads < 1 or n_heads % n_kv_heads != 0:
        raise ValueError(f"n_heads={n_heads} must be a multiple of n_kv_heads={n_kv_heads}")
    if x.dim() != 3:
        raise ValueError(f"x must be (B, T, D), got {tuple(x.shape)}")
    for name, w in [("w_q", w_q), ("w_k", w_k), ("w_v", w_v), ("w_o", w_o)]:
        if w.dim() != 2:
            raise ValueError(f"{name} must be a matrix, got {tuple(w.shape)}")
    B, T, D = x.shape
    if w_q.shape[1] % n_heads != 0:
        raise ValueError(f"n_heads={n_heads} does not divide the width {w_q.shape[1]} of w_q")
    Dh = w_q.shape[1] // n_heads
    if w_q.shape[0] != D:
        raise ValueError(f"w_q has {w_q.shape[0]} rows, x has width {D}")
    if w_k.shape != (D, n_kv_heads * Dh):
        raise ValueError(f"w_k must be {(D, n_kv_heads * Dh)}, got {tuple(w_k.shape)}")
    if w_v.shape != (D, n_kv_heads * Dh):
        raise ValueError(f"w_v must be {(D, n_kv_heads * Dh)}, got {tuple(w_v.shape)}")
    if w_o.shape != (n_heads * Dh, D):
        raise ValueError(f"w_o must be {(n_heads * Dh, D)}, got {tuple(w_o.shape)}")
    if mask is not None:
        want = (T, T, n_heads, B)
        if mask.dim() > 4 or any(m not in (1, n) for m, n in zip(mask.shape[::-1], want)):
            raise ValueError(f"mask {tuple(mask.shape)} does not broadcast to {want[::-1]}")


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    if n_kv_heads is None:
        n_kv_heads = n_heads
    check_arguments(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, mask)
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x, w_q, w_k, w_v, w_o = x.float(), w_q.float(), w_k.float(), w_v.float(), w_o.float()
    q = split_heads(x @ w_q, n_heads)
    k = split_heads(x @ w_k, n_kv_heads)
    v = split_heads(x @ w_v, n_kv_heads)
    k = repeat_kv(k, n_heads // n_kv_heads)
    v = repeat_kv(v, n_heads // n_kv_heads)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, 1e-9)
    weights = torch.softmax(scores, dim=-1)
    out = merge_heads(weights @ v)
    return (out @ w_o).to(dtype)
