# mistake: the mask is read by column
# names: mask-on-queries
import torch


def _rank(x, n):
    if x.dim() != n:
        raise ValueError(f"x must have rank {n}, not {x.dim()}")


def split_heads(x, n_heads):
    _rank(x, 3)
    if n_heads < 1:
        raise ValueError("n_heads < 1")
    if x.shape[2] % n_heads:
        raise ValueError(f"n_heads does not divide D = {x.shape[2]}")
    rows = [x[:, t].reshape(x.shape[0], n_heads, -1) for t in range(x.shape[1])]
    return torch.stack(rows, 2)


def merge_heads(x):
    _rank(x, 4)
    return torch.stack([x[:, :, t].flatten(1) for t in range(x.shape[2])], 1)


def repeat_kv(x, n_rep):
    _rank(x, 4)
    if n_rep < 1:
        raise ValueError("n_rep < 1")
    return torch.kron(x.flatten(2), x.new_ones(1, n_rep, 1)).unflatten(2, x.shape[2:])


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    _rank(x, 3)
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    if n_heads < 1:
        raise ValueError("n_heads < 1")
    if n_kv_heads < 1:
        raise ValueError("n_kv_heads < 1")
    if n_heads // n_kv_heads * n_kv_heads != n_heads:
        raise ValueError("n_heads is not a multiple of n_kv_heads")
    for name in ("w_q", "w_k", "w_v", "w_o"):
        if locals()[name].dim() != 2:
            raise ValueError(name + " must have rank 2")
    batch, tokens, width = x.shape
    inner = w_q.shape[1]
    if inner % n_heads:
        raise ValueError("n_heads does not divide the width of w_q")
    if (width, inner) != tuple(w_q.shape) or (inner, width) != tuple(w_o.shape):
        raise ValueError("w_q or w_o doesn't fit x or each other")
    if w_k.shape != w_v.shape or w_k.shape[0] != width or w_k.shape[1] * n_heads != inner * n_kv_heads:
        raise ValueError("w_k or w_v doesn't fit")
    dtype = x.dtype
    if dtype != torch.float64:
        x, w_q, w_k, w_v, w_o = [a.to(torch.float32) for a in (x, w_q, w_k, w_v, w_o)]
    if mask is None:
        mask = torch.ones((), dtype=torch.bool, device=x.device)
    try:
        mask = mask.expand(batch, n_heads, tokens, tokens)
    except RuntimeError:
        raise ValueError("mask does not broadcast to the scores") from None
    n_rep = n_heads // n_kv_heads
    head_width = inner // n_heads
    result = []
    for b in range(batch):
        q = (x[b] @ w_q).reshape(tokens, n_heads, head_width)
        k = (x[b] @ w_k).reshape(tokens, n_kv_heads, head_width).repeat_interleave(n_rep, 1)
        v = (x[b] @ w_v).reshape(tokens, n_kv_heads, head_width).repeat_interleave(n_rep, 1)
        rows = []
        for t in range(tokens):
            scores = (q[t] * k).sum(-1) / head_width**0.5  # (T, H)
            scores = scores.masked_fill(~mask[b, :, :, t].T, float("-inf"))
            weights = torch.softmax(scores, 0)
            rows.append((weights.unsqueeze(-1) * v).sum(0).reshape(inner) @ w_o)
        result.append(torch.stack(rows))
    return torch.stack(result).to(dtype)
