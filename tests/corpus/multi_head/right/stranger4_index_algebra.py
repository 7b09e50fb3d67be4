# right: Every re-arrangement is one integer table that says where each number comes from.
"""Every re-arrangement is one integer table that says where each number comes from."""

import torch


def _take(x, table, shape):
    return torch.take(x, table.reshape(shape))


def _axes(shape, device):
    return torch.meshgrid(*(torch.arange(n, device=device) for n in shape), indexing="ij")


def split_heads(x, n_heads):
    if x.dim() != 3:
        raise ValueError("x is not of rank 3")
    if n_heads < 1:
        raise ValueError("n_heads is less than one")
    B, T, D = x.shape
    if D % n_heads != 0:
        raise ValueError("n_heads does not divide D")
    shape = (B, n_heads, T, D // n_heads)
    b, h, t, e = _axes(shape, x.device)
    return _take(x, (b * T + t) * D + h * shape[3] + e, shape)


def merge_heads(x):
    if x.dim() != 4:
        raise ValueError("x is not of rank 4")
    if x.numel() == 0:
        raise ValueError("x is empty")
    B, H, T, E = x.shape
    b, t, c = _axes((B, T, H * E), x.device)
    return _take(x, ((b * H + c // E) * T + t) * E + c % E, (B, T, H * E))


def repeat_kv(x, n_rep):
    if x.dim() != 4:
        raise ValueError("x is not of rank 4")
    if n_rep < 1:
        raise ValueError("n_rep is less than one")
    return x.index_select(1, torch.tensor([g for g in range(x.shape[1]) for _ in range(n_rep)], dtype=torch.long, device=x.device))


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    problems = []
    if x.dim() != 3 or x.numel() == 0:
        problems.append("x is not (B, T, D)")
    for name, w in zip(("w_q", "w_k", "w_v", "w_o"), (w_q, w_k, w_v, w_o)):
        if w.dim() != 2 or w.numel() == 0:
            problems.append(f"{name} is not a matrix")
    if n_heads < 1:
        problems.append("n_heads is less than one")
    if n_kv_heads < 1:
        problems.append("n_kv_heads is less than one")
    if not problems:
        if n_heads % n_kv_heads:
            problems.append("n_heads is not a multiple of n_kv_heads")
        if w_q.shape[1] % n_heads:
            problems.append("w_q is not divisible by n_heads")
        E = w_q.shape[1] // n_heads
        D = x.shape[2]
        if w_q.shape[0] != D:
            problems.append("w_q does not fit x")
        if w_k.shape != (D, n_kv_heads * E):
            problems.append("w_k does not fit")
        if w_v.shape != (D, n_kv_heads * E):
            problems.append("w_v does not fit")
        if w_o.shape != (n_heads * E, D):
            problems.append("w_o does not fit")
        if mask is not None:
            goal = (x.shape[0], n_heads, x.shape[1], x.shape[1])
            padded = (1,) * (4 - mask.dim()) + tuple(mask.shape)
            if len(padded) != 4 or any(a != b and a != 1 for a, b in zip(padded, goal)):
                problems.append(f"mask does not broadcast to {goal}")
            if mask.dtype != torch.bool:
                problems.append("mask is not boolean")
    if problems:
        raise ValueError("; ".join(problems))
    wide = torch.promote_types(x.dtype, torch.float32)
    q, k, v = (
        split_heads(torch.tensordot(x.to(wide), w.to(wide), 1), n)
        for w, n in ((w_q, n_heads), (w_k, n_kv_heads), (w_v, n_kv_heads))
    )
    k = repeat_kv(k, n_heads // n_kv_heads)
    v = repeat_kv(v, n_heads // n_kv_heads)
    logits = torch.matmul(q, k.transpose(2, 3)) / E**0.5
    if mask is not None:
        logits = logits.masked_fill(~mask, -float("inf"))
    logits = logits - logits.detach().amax(-1, keepdim=True)
    log_weights = logits - logits.logsumexp(-1, keepdim=True)
    return torch.tensordot(merge_heads(torch.matmul(log_weights.exp(), v)), w_o.to(wide), 1).to(x.dtype)
