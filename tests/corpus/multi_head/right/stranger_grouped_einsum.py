import torch
from torch import einsum


def split_heads(x, n_heads):
    if n_heads < 1:
        raise ValueError("n_heads < 1")
    if x.ndim != 3:
        raise ValueError("x: rank 3 wanted")
    batch, tokens, width = x.shape
    head, rest = divmod(width, n_heads)
    if rest:
        raise ValueError(f"n_heads {n_heads} leaves {rest} columns of {width} over")
    return x.reshape(batch, tokens, n_heads, head).permute(0, 2, 1, 3).contiguous()


def merge_heads(x):
    if x.ndim != 4:
        raise ValueError("x: rank 4 wanted")
    batch, heads, tokens, head = x.shape
    return einsum("bhtd->bthd", x).reshape(batch, tokens, heads * head)


def repeat_kv(x, n_rep):
    if n_rep < 1:
        raise ValueError("n_rep < 1")
    if x.ndim != 4:
        raise ValueError("x: rank 4 wanted")
    batch, groups, tokens, head = x.shape
    ones = torch.ones(n_rep, dtype=x.dtype, device=x.device)
    return einsum("bgtd,r->bgrtd", x, ones).reshape(batch, groups * n_rep, tokens, head)


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    if x.ndim != 3:
        raise ValueError("x must be (B, T, D)")
    if n_heads < 1:
        raise ValueError("n_heads must be positive")
    groups = n_heads if n_kv_heads is None else n_kv_heads
    if groups < 1 or n_heads % groups:
        raise ValueError(f"n_kv_heads {groups} must divide n_heads {n_heads}")
    weights = {"w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o}
    for name, w in weights.items():
        if w.ndim != 2:
            raise ValueError(f"{name} must be a matrix")
    batch, tokens, width = x.shape
    if w_q.shape[1] % n_heads:
        raise ValueError(f"w_q has {w_q.shape[1]} columns, n_heads is {n_heads}")
    head = w_q.shape[1] // n_heads
    expected = {
        "w_q": (width, n_heads * head),
        "w_k": (width, groups * head),
        "w_v": (width, groups * head),
        "w_o": (n_heads * head, width),
    }
    for name, shape in expected.items():
        if tuple(weights[name].shape) != shape:
            raise ValueError(f"{name} is {tuple(weights[name].shape)}, expected {shape}")
    rep = n_heads // groups
    acc = torch.float64 if x.dtype == torch.float64 else torch.float32
    xs = x.to(acc)
    # query head g * rep + r belongs to group g: no key or value is ever copied
    q = einsum("btc,cgrd->bgrtd", xs, w_q.to(acc).reshape(width, groups, rep, head))
    k = einsum("btc,cgd->bgtd", xs, w_k.to(acc).reshape(width, groups, head))
    v = einsum("btc,cgd->bgtd", xs, w_v.to(acc).reshape(width, groups, head))
    scores = einsum("bgrtd,bgsd->bgrts", q, k) / head**0.5
    if mask is not None:
        if mask.dtype != torch.bool:
            raise ValueError("mask must be boolean, True = may attend")
        target = (batch, n_heads, tokens, tokens)
        try:
            full = torch.broadcast_to(mask, target)
        except RuntimeError:
            raise ValueError(f"mask of shape {tuple(mask.shape)} against {target}") from None
        scores = scores.masked_fill(~full.reshape(batch, groups, rep, tokens, tokens), -torch.inf)
    p = scores.softmax(dim=-1)
    out = einsum("bgrts,bgsd->btgrd", p, v)
    return einsum("btgrd,grdc->btc", out, w_o.to(acc).reshape(groups, rep, head, width)).to(x.dtype)
