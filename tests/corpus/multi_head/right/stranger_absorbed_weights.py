import torch
from torch import Tensor


def _rank(tensor: Tensor, name: str, rank: int) -> None:
    if tensor.ndim != rank:
        raise ValueError(f"{name} has rank {tensor.ndim}, it needs {rank}")


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    _rank(x, "x", 3)
    if n_heads <= 0:
        raise ValueError("n_heads must be positive")
    if x.shape[2] % n_heads > 0:
        raise ValueError(f"x has a width of {x.shape[2]}, which n_heads = {n_heads} doesn't divide")
    b, t, width = x.shape
    out = torch.as_strided(x.clone(memory_format=torch.contiguous_format), (b, n_heads, t, width // n_heads), (t * width, width // n_heads, width, 1))
    return out


def merge_heads(x: Tensor) -> Tensor:
    _rank(x, "x", 4)
    b, h, t, d = x.shape
    return x.permute(0, 2, 1, 3).clone().reshape(b, t, h * d)


def repeat_kv(x: Tensor, n_rep: int) -> Tensor:
    _rank(x, "x", 4)
    if n_rep <= 0:
        raise ValueError("n_rep must be positive")
    b, h, t, d = x.shape
    # tile first (copies far apart), then bring the copies of one head together
    tiled = x.tile(1, n_rep, 1, 1).reshape(b, n_rep, h, t, d)
    return tiled.transpose(1, 2).reshape(b, h * n_rep, t, d)


def multi_head_attention(
    x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, n_heads: int, n_kv_heads: int | None = None, mask: Tensor | None = None
) -> Tensor:
    """Score by x (w_q_h w_k_g^T) x^T and value by x (w_v_g w_o_h): keys and queries are never formed for themselves."""
    if 0 in (*x.shape, *w_q.shape):
        raise ValueError("x and w_q must not have a size of 0")
    _rank(x, "x", 3)
    for name, w in zip(("w_q", "w_k", "w_v", "w_o"), (w_q, w_k, w_v, w_o)):
        _rank(w, name, 2)
    kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    if n_heads <= 0:
        raise ValueError("n_heads must be positive")
    if kv_heads <= 0:
        raise ValueError("n_kv_heads must be positive")
    if n_heads % kv_heads:
        raise ValueError("n_kv_heads must divide n_heads")
    B, T, D = x.shape
    dh, left = divmod(w_q.shape[1], n_heads)
    if left:
        raise ValueError("w_q: n_heads must divide its columns")
    if w_q.shape[0] != D:
        raise ValueError(f"w_q: {w_q.shape[0]} rows, x has a width of {D}")
    if w_k.shape != (D, kv_heads * dh):
        raise ValueError(f"w_k: {tuple(w_k.shape)}, {(D, kv_heads * dh)} wanted")
    if w_v.shape != (D, kv_heads * dh):
        raise ValueError(f"w_v: {tuple(w_v.shape)}, {(D, kv_heads * dh)} wanted")
    if w_o.shape != (n_heads * dh, D):
        raise ValueError(f"w_o: {tuple(w_o.shape)}, {(n_heads * dh, D)} wanted")
    dtype = torch.float64 if x.dtype == torch.float64 else torch.float32
    xs, wq, wk, wv, wo = (t.to(dtype) for t in (x, w_q, w_k, w_v, w_o))
    hide = None
    if mask is not None:
        if mask.dtype != torch.bool:
            raise ValueError("mask must be boolean")
        try:
            hide = ~mask.expand(B, n_heads, T, T)
        except RuntimeError:
            raise ValueError(f"mask: {tuple(mask.shape)} doesn't broadcast to {(B, n_heads, T, T)}") from None
    result = 0
    for h in range(n_heads):
        g = h * kv_heads // n_heads
        mine, theirs = slice(h * dh, (h + 1) * dh), slice(g * dh, (g + 1) * dh)
        bilinear = wq[:, mine] @ wk[:, theirs].T * dh**-0.5
        scores = xs @ bilinear @ xs.transpose(1, 2)
        if hide is not None:
            scores = scores.masked_fill(hide[:, h], float("-inf"))
        result = result + torch.softmax(scores, dim=-1) @ (xs @ (wv[:, theirs] @ wo[mine]))
    return result.to(x.dtype)
