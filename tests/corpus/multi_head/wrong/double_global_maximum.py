# mistake: one maximum for all scores
# names: -
import numpy as np
import torch


def split_heads(x, n_heads):
    if x.dim() != 3:
        raise ValueError("x must be three-dimensional")
    if n_heads < 1:
        raise ValueError("n_heads must be positive")
    if x.size(-1) % n_heads:
        raise ValueError("n_heads must divide the width of x")
    b, t, d = x.size()
    return x.contiguous().view(b, t, n_heads, d // n_heads).permute(0, 2, 1, 3).contiguous()


def merge_heads(x):
    if x.dim() != 4:
        raise ValueError("x must be four-dimensional")
    b, h, t, c = x.size()
    return x.permute(0, 2, 1, 3).contiguous().view(b, t, h * c)


def repeat_kv(x, n_rep):
    if x.dim() != 4:
        raise ValueError("x must be four-dimensional")
    if n_rep < 1:
        raise ValueError("n_rep must be positive")
    owner = torch.as_tensor(np.arange(x.size(1) * n_rep) // n_rep, device=x.device)
    return x.index_select(1, owner)


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    if n_kv_heads is None:
        n_kv_heads = n_heads
    if n_heads < 1:
        raise ValueError("n_heads must be positive")
    if n_kv_heads < 1:
        raise ValueError("n_kv_heads must be positive")
    if n_heads % n_kv_heads:
        raise ValueError("n_heads must be a multiple of n_kv_heads")
    if x.dim() != 3:
        raise ValueError("x must be three-dimensional")
    if w_q.dim() != 2 or w_k.dim() != 2 or w_v.dim() != 2 or w_o.dim() != 2:
        raise ValueError("w_q, w_k, w_v, w_o must all be matrices")
    b, t, d = x.shape
    inner = w_q.shape[1]
    if w_q.shape[0] != d:
        raise ValueError("w_q does not fit x")
    if inner % n_heads:
        raise ValueError("w_q does not fit n_heads")
    if list(w_k.shape) != [d, inner // n_heads * n_kv_heads]:
        raise ValueError("w_k does not fit x, n_heads or n_kv_heads")
    if w_v.shape != w_k.shape:
        raise ValueError("w_v does not fit w_k")
    if w_o.shape != w_q.T.shape:
        raise ValueError("w_o does not fit w_q")
    if mask is not None:
        try:
            fits = torch.broadcast_shapes(mask.shape, (b, n_heads, t, t)) == (b, n_heads, t, t)
        except RuntimeError:
            fits = False
        if not fits:
            raise ValueError("mask does not broadcast")
    x64 = x.double()
    q = split_heads(x64.matmul(w_q.double()), n_heads)
    k = split_heads(x64.matmul(w_k.double()), n_kv_heads)
    v = split_heads(x64.matmul(w_v.double()), n_kv_heads)
    k, v = repeat_kv(k, n_heads // n_kv_heads), repeat_kv(v, n_heads // n_kv_heads)
    scores = torch.matmul(q, k.transpose(2, 3)) / np.sqrt(q.size(3))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    scores = scores - scores[scores.isfinite()].max()
    weights = scores.exp()
    weights = weights / weights.sum(-1, keepdim=True)
    return merge_heads(weights @ v).matmul(w_o.double()).to(dtype=x.dtype)
