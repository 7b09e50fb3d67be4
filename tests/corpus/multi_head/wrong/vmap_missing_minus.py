# mistake: visible and hidden change places
# names: -
import torch
from torch import vmap


def _split_one(row, n_heads):
    return row.reshape(row.shape[0], n_heads, -1).permute(1, 0, 2)


def split_heads(x, n_heads):
    if x.dim() != 3:
        raise ValueError("x should be (batch, tokens, width)")
    if n_heads < 1:
        raise ValueError("n_heads should be positive")
    if x.shape[2] % n_heads > 0:
        raise ValueError("width of x should be a multiple of n_heads")
    return vmap(lambda row: _split_one(row, n_heads))(x)


def merge_heads(x):
    if x.dim() != 4:
        raise ValueError("x should be (batch, heads, tokens, head width)")
    return vmap(lambda row: row.permute(1, 0, 2).reshape(row.shape[1], -1))(x)


def repeat_kv(x, n_rep):
    if x.dim() != 4:
        raise ValueError("x should be (batch, heads, tokens, head width)")
    if n_rep < 1:
        raise ValueError("n_rep should be positive")
    return torch.take_along_dim(x, (torch.arange(x.shape[1] * n_rep) // n_rep).to(x.device)[None, :, None, None], dim=1)


def attend(q, k, v, visible):
    scores = torch.where(~visible, q @ k.T * q.shape[-1] ** -0.5, -torch.inf)
    return scores.softmax(1) @ v


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    kv = n_heads if n_kv_heads is None else n_kv_heads
    if n_heads < 1 or kv < 1 or n_heads % kv:
        raise ValueError(f"n_heads={n_heads}, n_kv_heads={kv}: a positive multiple is needed")
    if x.dim() != 3 or any(w.dim() != 2 for w in (w_q, w_k, w_v, w_o)):
        raise ValueError("x needs three axes; w_q, w_k, w_v and w_o need two")
    (b, t, d), inner = x.shape, w_q.shape[1]
    if inner % n_heads:
        raise ValueError("w_q: width should be a multiple of n_heads")
    narrow = inner * kv // n_heads
    shapes = [tuple(w.shape) for w in (w_q, w_k, w_v, w_o)]
    if shapes != [(d, inner), (d, narrow), (d, narrow), (inner, d)]:
        raise ValueError(f"x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads don't fit: {shapes}")
    if mask is None:
        mask = x.new_ones((1, 1, 1, 1), dtype=torch.bool)
    elif mask.dim() > 4 or any(m != 1 and m != s for m, s in zip(mask.shape[::-1], (t, t, n_heads, b), strict=False)):
        raise ValueError(f"mask {tuple(mask.shape)} doesn't broadcast")
    mask = mask.expand(b, n_heads, t, t)
    wide = torch.promote_types(x.dtype, torch.float)
    z, w_q, w_k, w_v, w_o = (a.to(wide) for a in (x, w_q, w_k, w_v, w_o))
    q = split_heads(z @ w_q, n_heads)
    k = repeat_kv(split_heads(z @ w_k, kv), n_heads // kv)
    v = repeat_kv(split_heads(z @ w_v, kv), n_heads // kv)
    return (merge_heads(vmap(vmap(attend))(q, k, v, mask)) @ w_o).to(x.dtype)
