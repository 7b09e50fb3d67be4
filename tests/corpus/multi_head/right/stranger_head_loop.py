import torch


def _cut(x, n):
    step = x.shape[-1] // n
    return [x[..., i * step : (i + 1) * step] for i in range(n)]


def split_heads(x, n_heads):
    if x.dim() != 3:
        raise ValueError("x should have 3 axes, it has %d" % x.dim())
    if n_heads < 1 or x.size(2) % n_heads != 0:
        raise ValueError("n_heads = %d can't cut a width of %d" % (n_heads, x.size(2)))
    return torch.stack(_cut(x, n_heads), dim=1)


def merge_heads(x):
    if x.numel() == 0:
        raise ValueError("x should not be empty")
    if x.dim() != 4:
        raise ValueError("x should have 4 axes, it has %d" % x.dim())
    return torch.cat([x[:, h] for h in range(x.size(1))], dim=-1)


def repeat_kv(x, n_rep):
    if x.numel() == 0:
        raise ValueError("x should not be empty")
    if x.dim() != 4:
        raise ValueError("x should have 4 axes, it has %d" % x.dim())
    if n_rep < 1:
        raise ValueError("n_rep should be 1 or more")
    return torch.stack([x[:, h // n_rep] for h in range(x.size(1) * n_rep)], dim=1)


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    if 0 in (*x.shape, *w_q.shape):
        raise ValueError("x and w_q must not have a size of 0")
    if n_kv_heads is None:
        n_kv_heads = n_heads
    if n_heads < 1 or n_kv_heads < 1:
        raise ValueError("n_heads and n_kv_heads should be 1 or more")
    if n_heads % n_kv_heads:
        raise ValueError("n_heads should be a multiple of n_kv_heads")
    if x.dim() != 3:
        raise ValueError("x should have 3 axes")
    if w_q.dim() != 2 or w_k.dim() != 2 or w_v.dim() != 2 or w_o.dim() != 2:
        raise ValueError("w_q, w_k, w_v and w_o should have 2 axes")
    B, T, D = x.shape
    if w_q.size(1) % n_heads:
        raise ValueError("w_q: n_heads doesn't divide its columns")
    Dh = w_q.size(1) // n_heads
    if w_q.size(0) != D or w_k.size(0) != D or w_v.size(0) != D:
        raise ValueError("w_q, w_k and w_v should have as many rows as x has columns")
    if w_k.size(1) != n_kv_heads * Dh or w_v.size(1) != n_kv_heads * Dh:
        raise ValueError("w_k and w_v should have n_kv_heads * Dh columns")
    if w_o.size(0) != n_heads * Dh or w_o.size(1) != D:
        raise ValueError("w_o should be (n_heads * Dh, D)")
    if mask is not None:
        if mask.dtype is not torch.bool:
            raise ValueError("mask should be boolean")
        lead = 4 - mask.dim()
        if lead < 0 or any(m not in (1, s) for m, s in zip(mask.shape, (B, n_heads, T, T)[lead:])):
            raise ValueError("mask should broadcast to (B, H, T, T)")
        mask = mask.expand(B, n_heads, T, T)
    wide = torch.float64 if x.dtype is torch.float64 else torch.float32
    x32 = x.to(wide)
    queries = _cut(w_q.to(wide), n_heads)
    keys = _cut(w_k.to(wide), n_kv_heads)
    values = _cut(w_v.to(wide), n_kv_heads)
    rows = w_o.to(wide).split(Dh, dim=0)
    group = n_heads // n_kv_heads
    total = torch.zeros_like(x32)
    for h in range(n_heads):
        g = h // group
        q, k, v = x32 @ queries[h], x32 @ keys[g], x32 @ values[g]
        s = torch.bmm(q, k.transpose(1, 2)) / Dh**0.5
        if mask is not None:
            s = s.masked_fill(mask[:, h].logical_not(), float("-inf"))
        total = total + torch.bmm(s.softmax(dim=2), v) @ rows[h]
    return total.to(x.dtype)
