# mistake: the head width is read off x
# names: refuses-other-inner-width
from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Heads(NamedTuple):
    query: Tensor
    key: Tensor
    value: Tensor


def split_heads(x: Tensor, n_heads: int, copy: bool = False) -> Tensor:
    """(B, T, D) -> (B, H, T, Dh)"""
    if x.dim() != 3:
        raise ValueError(f"expected x of rank 3 but its shape is {x.shape}")
    if not n_heads >= 1:
        raise ValueError("n_heads has to be one or more")
    if x.size(-1) % n_heads != 0:
        raise ValueError("the last axis of x must be divisible by n_heads")
    dh = x.size(-1) // n_heads
    index = torch.arange(n_heads * dh, device=x.device).view(n_heads, 1, dh)
    y = x.unsqueeze(1).expand(-1, n_heads, -1, -1).gather(3, index.expand(x.size(0), n_heads, x.size(1), dh))
    return y.clone() if copy else y


def merge_heads(x: Tensor, copy: bool = False) -> Tensor:
    """(B, H, T, Dh) -> (B, T, D)"""
    if x.dim() != 4:
        raise ValueError(f"expected x of rank 4 but its shape is {x.shape}")
    y = x.transpose(1, 2).flatten(2, 3)
    return y.clone() if copy else y


def repeat_kv(x: Tensor, n_rep: int, dim: int = 1) -> Tensor:
    if x.dim() != 4:
        raise ValueError(f"expected x of rank 4 but its shape is {x.shape}")
    if not n_rep >= 1:
        raise ValueError("n_rep has to be one or more")
    return x.index_select(dim, torch.arange(x.size(dim), device=x.device).repeat_interleave(n_rep))


def multi_head_attention(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int | None = None,
    mask: Tensor | None = None,
    *,
    scale: float | None = None,
    dropout: float = 0.0,
) -> Tensor:
    kv = n_heads if n_kv_heads is None else n_kv_heads
    if not n_heads >= 1:
        raise ValueError("n_heads has to be one or more")
    if not kv >= 1:
        raise ValueError("n_kv_heads has to be one or more")
    if n_heads % kv:
        raise ValueError("n_heads has to be a multiple of n_kv_heads")
    if x.dim() != 3:
        raise ValueError(f"expected x of rank 3 but its shape is {x.shape}")
    weights = {"w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o}
    for name, w in weights.items():
        if w.dim() != 2:
            raise ValueError(f"expected {name} of rank 2 but its shape is {w.shape}")
    inner, model = w_o.shape
    if model != x.size(2):
        raise ValueError("columns of w_o and width of x differ")
    if inner % n_heads:
        raise ValueError("rows of w_o must be divisible by n_heads")
    dh = model // n_heads
    for name, cols in (("w_q", n_heads), ("w_k", kv), ("w_v", kv)):
        if weights[name].shape != (model, cols * dh):
            raise ValueError(f"{name} should be {(model, cols * dh)} for this x, w_o, n_heads and n_kv_heads")
    acc = torch.promote_types(x.dtype, torch.float32)
    z = x.to(acc)
    heads = Heads(
        split_heads(z @ w_q.to(acc), n_heads),
        repeat_kv(split_heads(z @ w_k.to(acc), kv), n_heads // kv),
        repeat_kv(split_heads(z @ w_v.to(acc), kv), n_heads // kv),
    )
    scale = 1 / dh**0.5 if scale is None else scale
    logits = (heads.query * scale) @ heads.key.transpose(-1, -2)
    if mask is not None:
        if torch.Size([1] * (4 - mask.dim()) + list(mask.shape)).numel() == 0 or mask.dim() > 4:
            raise ValueError("mask must broadcast to (B, H, T, T)")
        try:
            mask = mask.broadcast_to(logits.shape)
        except RuntimeError as error:
            raise ValueError("mask must broadcast to (B, H, T, T)") from error
        logits = logits.masked_fill(mask.logical_not(), -float("inf"))
    p = torch.log_softmax(logits, dim=-1).exp()
    if dropout:
        p = torch.nn.functional.dropout(p, dropout)
    return (merge_heads(p @ heads.value) @ w_o.to(acc)).to(x.dtype)
