"""Heads as pure index arithmetic: gather columns, gather heads."""

import math

import torch
from torch import Tensor


def _columns(n_heads: int, head: int, device) -> Tensor:
    return torch.arange(n_heads, device=device)[:, None] * head + torch.arange(head, device=device)[None, :]


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    if x.dim() != 3:
        raise ValueError(f"x: expected (B, T, D), got {list(x.shape)}")
    if n_heads < 1:
        raise ValueError(f"n_heads: expected at least 1, got {n_heads}")
    if x.shape[2] % n_heads:
        raise ValueError(f"n_heads: {n_heads} doesn't divide {x.shape[2]}")
    picked = x[:, :, _columns(n_heads, x.shape[2] // n_heads, x.device)]  # (B, T, H, Dh)
    return torch.movedim(picked, 2, 1).contiguous()


def merge_heads(x: Tensor) -> Tensor:
    if x.dim() != 4:
        raise ValueError(f"x: expected (B, H, T, Dh), got {list(x.shape)}")
    b, h, t, d = x.shape
    column = torch.arange(h * d, device=x.device)
    return x[:, column // d, :, column % d].permute(1, 2, 0).contiguous()


def repeat_kv(x: Tensor, n_rep: int) -> Tensor:
    if x.dim() != 4:
        raise ValueError(f"x: expected (B, H_kv, T, Dh), got {list(x.shape)}")
    if n_rep < 1:
        raise ValueError(f"n_rep: expected at least 1, got {n_rep}")
    which = torch.div(torch.arange(x.shape[1] * n_rep, device=x.device), n_rep, rounding_mode="floor")
    return x.index_select(1, which)


def _visible(mask: Tensor, shape: tuple) -> Tensor:
    if mask.dtype != torch.bool:
        raise ValueError(f"mask: expected torch.bool, got {mask.dtype}")
    try:
        if tuple(torch.broadcast_shapes(mask.shape, shape)) != tuple(shape):
            raise ValueError(f"mask: {list(mask.shape)} is larger than {list(shape)}")
    except RuntimeError as error:
        raise ValueError(f"mask: {error}") from None
    return mask


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    if 0 in (*x.shape, *w_q.shape):
        raise ValueError("x and w_q must not have a size of 0")
    if n_kv_heads is None:
        n_kv_heads = n_heads
    for name, value in (("n_heads", n_heads), ("n_kv_heads", n_kv_heads)):
        if value < 1:
            raise ValueError(f"{name}: expected at least 1, got {value}")
    if n_heads % n_kv_heads != 0:
        raise ValueError(f"n_kv_heads: {n_kv_heads} doesn't divide n_heads {n_heads}")
    for name, tensor, rank in (("x", x, 3), ("w_q", w_q, 2), ("w_k", w_k, 2), ("w_v", w_v, 2), ("w_o", w_o, 2)):
        if tensor.dim() != rank:
            raise ValueError(f"{name}: expected rank {rank}, got {tensor.dim()}")
    d = x.shape[2]
    if w_q.shape[1] % n_heads != 0:
        raise ValueError(f"n_heads: {n_heads} doesn't divide the {w_q.shape[1]} columns of w_q")
    dh = w_q.shape[1] // n_heads
    for name, tensor, want in (
        ("w_q", w_q, (d, n_heads * dh)),
        ("w_k", w_k, (d, n_kv_heads * dh)),
        ("w_v", w_v, (d, n_kv_heads * dh)),
        ("w_o", w_o, (n_heads * dh, d)),
    ):
        if tuple(tensor.shape) != want:
            raise ValueError(f"{name}: expected {want}, got {tuple(tensor.shape)}")
    work = torch.promote_types(x.dtype, torch.float32)
    source = x.to(work)
    q = split_heads(source @ (w_q.to(work) / math.sqrt(dh)), n_heads)
    k = split_heads(source @ w_k.to(work), n_kv_heads)
    v = split_heads(source @ w_v.to(work), n_kv_heads)
    k, v = (repeat_kv(t, n_heads // n_kv_heads) for t in (k, v))
    scores = torch.matmul(q, k.mT)
    if mask is not None:
        scores = torch.where(_visible(mask, tuple(scores.shape)), scores, -math.inf)
    scores = scores - scores.detach().amax(dim=3, keepdim=True)
    e = scores.exp()
    mixed = torch.matmul(e, v) / e.sum(dim=3, keepdim=True)
    return torch.matmul(merge_heads(mixed), w_o.to(work)).to(x.dtype)
