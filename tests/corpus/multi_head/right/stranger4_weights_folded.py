# right: W_q W_k^T and W_v W_o folded per head, in double precision: scores are a bilinear form of x, the output one of x again.
"""W_q W_k^T and W_v W_o folded per head, in double precision: scores are a bilinear form of x, the output one of x again."""

import torch


def _check_rank(name, tensor, rank):
    if tensor.dim() != rank:
        raise ValueError(f"{name}: rank {rank} expected, got {tensor.dim()}")


def _at_least_one(**numbers):
    for name, number in numbers.items():
        if number < 1:
            raise ValueError(f"{name} must be at least 1, got {number}")


def split_heads(x, n_heads):
    _check_rank("x", x, 3)
    _at_least_one(n_heads=n_heads)
    if x.shape[2] % n_heads:
        raise ValueError(f"n_heads {n_heads} must divide {x.shape[2]}")
    return torch.stack(x.tensor_split(n_heads, dim=2), dim=1)


def merge_heads(x):
    _check_rank("x", x, 4)
    b, h, t, dh = x.shape
    out = x.new_zeros(b, t, h * dh)
    for i in range(h):
        out[:, :, i * dh : (i + 1) * dh] = x[:, i]
    return out


def repeat_kv(x, n_rep):
    _check_rank("x", x, 4)
    _at_least_one(n_rep=n_rep)
    return torch.stack([x] * n_rep, dim=2).flatten(1, 2)


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    _check_rank("x", x, 3)
    for name, w in (("w_q", w_q), ("w_k", w_k), ("w_v", w_v), ("w_o", w_o)):
        _check_rank(name, w, 2)
    _at_least_one(n_heads=n_heads, n_kv_heads=n_kv_heads)
    if n_heads % n_kv_heads:
        raise ValueError("n_kv_heads must divide n_heads")
    b, t, d = x.shape
    if w_q.shape[1] % n_heads or w_q.shape[1] == 0 or w_q.shape[0] != d:
        raise ValueError("w_q must be (D, n_heads * Dh)")
    dh = w_q.shape[1] // n_heads
    for name, w in (("w_k", w_k), ("w_v", w_v)):
        if tuple(w.shape) != (d, n_kv_heads * dh):
            raise ValueError(f"{name} must be (D, n_kv_heads * Dh)")
    if tuple(w_o.shape) != (n_heads * dh, d):
        raise ValueError("w_o must be (n_heads * Dh, D)")
    if 0 in (b, t, d):
        raise ValueError("x must not be empty")
    x2 = x.double()
    per_head = lambda w, n: w.double().reshape(d, n, dh).permute(1, 0, 2).repeat_interleave(n_heads // n, 0)
    bilinear = per_head(w_q, n_heads) @ per_head(w_k, n_kv_heads).transpose(1, 2)  # (H, D, D)
    through = per_head(w_v, n_kv_heads) @ w_o.double().reshape(n_heads, dh, d)  # (H, D, D)
    s = torch.einsum("bic,hcd,bjd->bhij", x2, bilinear, x2) * dh**-0.5
    if mask is not None:
        if mask.dtype != torch.bool:
            raise ValueError("mask must be boolean")
        try:
            s = torch.where(mask.expand_as(s), s, -torch.inf)
        except RuntimeError:
            raise ValueError("mask must broadcast to (B, H, T, T)") from None
    return torch.einsum("bhij,bjc,hcd->bid", s.softmax(-1), x2, through).to(x.dtype)
