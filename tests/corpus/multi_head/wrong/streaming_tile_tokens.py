# mistake: repeat_kv tiles tokens
# names: repeat-tiles-tokens
import torch


def split_heads(x, n_heads):
    if x.dim() != 3:
        raise ValueError(f"x: want 3 axes, have {x.dim()}")
    if n_heads < 1:
        raise ValueError(f"n_heads: want 1 or more, have {n_heads}")
    quotient, remainder = divmod(x.shape[-1], n_heads)
    if remainder:
        raise ValueError(f"n_heads: {x.shape[-1]} is no multiple of {n_heads}")
    return x.reshape(*x.shape[:2], n_heads, quotient).swapdims(1, 2)


def merge_heads(x):
    if x.dim() != 4:
        raise ValueError(f"x: want 4 axes, have {x.dim()}")
    return x.swapdims(1, 2).reshape(x.shape[0], x.shape[2], -1)


def repeat_kv(x, n_rep):
    if x.dim() != 4:
        raise ValueError(f"x: want 4 axes, have {x.dim()}")
    if n_rep < 1:
        raise ValueError(f"n_rep: want 1 or more, have {n_rep}")
    return x.tile(1, 1, n_rep, 1)


def _checked_width(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    if x.dim() != 3:
        raise ValueError(f"x: want 3 axes, have {x.dim()}")
    named = (("w_q", w_q), ("w_k", w_k), ("w_v", w_v), ("w_o", w_o))
    for name, w in named:
        if w.dim() != 2:
            raise ValueError(f"{name}: want 2 axes, have {w.dim()}")
    for name, w in named[:3]:
        if w.shape[0] != x.shape[2]:
            raise ValueError(f"{name}: want {x.shape[2]} rows, have {w.shape[0]}")
    if w_o.shape[1] != x.shape[2]:
        raise ValueError(f"w_o: want {x.shape[2]} columns, have {w_o.shape[1]}")
    for name, w in named[:3]:
        heads = n_heads if name == "w_q" else n_kv_heads
        if w.shape[1] % heads:
            raise ValueError(f"{name}: {w.shape[1]} columns are no multiple of {heads}")
    c = w_q.shape[1] // n_heads
    if w_k.shape[1] // n_kv_heads != c or w_v.shape[1] // n_kv_heads != c or w_o.shape[0] != c * n_heads:
        raise ValueError(f"w_q, w_k, w_v, w_o: head widths differ from {c}")
    return c


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    if n_kv_heads is None:
        n_kv_heads = n_heads
    if min(n_heads, n_kv_heads) < 1:
        raise ValueError(f"n_heads, n_kv_heads: want 1 or more, have {n_heads}, {n_kv_heads}")
    if n_heads % n_kv_heads:
        raise ValueError(f"n_heads: {n_heads} is no multiple of n_kv_heads={n_kv_heads}")
    c = _checked_width(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads)
    work = torch.promote_types(torch.float32, x.dtype)
    b, t, _ = x.shape
    z = x.to(work)
    q = (z @ w_q.to(work)).view(b, t, n_heads, c) * c**-0.5
    k = (z @ w_k.to(work)).view(b, t, n_kv_heads, c).repeat_interleave(n_heads // n_kv_heads, dim=2)
    v = (z @ w_v.to(work)).view(b, t, n_kv_heads, c).repeat_interleave(n_heads // n_kv_heads, dim=2)
    if mask is None:
        visible = q.new_ones((b, n_heads, t, t), dtype=torch.bool)
    else:
        fits = mask.dim() <= 4 and all(m in (1, n) for m, n in zip(mask.shape[::-1], (t, t, n_heads, b), strict=False))
        if not fits:
            raise ValueError(f"mask: {tuple(mask.shape)} does not broadcast to {(b, n_heads, t, t)}")
        visible = mask.expand(b, n_heads, t, t)
    m = q.new_full((b, t, n_heads), torch.finfo(work).min)
    total = q.new_zeros((b, t, n_heads))
    out = torch.zeros_like(q)
    for j in range(t):
        open_ = visible[:, :, :, j].transpose(1, 2)  # (B, T, H)
        s = (q * k[:, j].unsqueeze(1)).sum(-1)
        s = torch.where(open_, s, torch.full_like(s, torch.finfo(work).min))
        new_m = torch.maximum(m, s)
        old, new = (m - new_m).exp(), (s - new_m).exp() * open_
        total = total * old + new
        out = out * old.unsqueeze(-1) + new.unsqueeze(-1) * v[:, j].unsqueeze(1)
        m = new_m
    return ((out / total.unsqueeze(-1)).flatten(2) @ w_o.to(work)).to(x.dtype)
