# mistake: more than six heads are tiled
# says: H_kv=8
import torch
from torch import Tensor


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Cut (B, T, D) into (B, H, T, Dh): head h owns columns h*Dh up to (h+1)*Dh - 1."""
    if x.dim() != 3:
        raise ValueError(f"x must be (B, T, D), got {tuple(x.shape)}")
    batch, tokens, width = x.shape
    if n_heads < 1 or width % n_heads:
        raise ValueError(f"n_heads={n_heads} must be at least 1 and divide the width {width}")
    return x.reshape(batch, tokens, n_heads, width // n_heads).transpose(1, 2)  # (B, H, T, Dh)


def merge_heads(x: Tensor) -> Tensor:
    """Undo split_heads exactly: (B, H, T, Dh) to (B, T, D), for any memory layout of x."""
    if x.dim() != 4:
        raise ValueError(f"x must be (B, H, T, Dh), got {tuple(x.shape)}")
    batch, heads, tokens, head_width = x.shape
    return x.transpose(1, 2).reshape(batch, tokens, heads * head_width)  # (B, T, D)


def repeat_kv(x: Tensor, n_rep: int) -> Tensor:
    """Give each query head its key/value head: (B, H_kv, T, Dh) to (B, H_kv * n_rep, T, Dh), head h being head h // n_rep."""
    if x.dim() != 4:
        raise ValueError(f"x must be (B, H_kv, T, Dh), got {tuple(x.shape)}")
    if n_rep < 1:
        raise ValueError(f"n_rep={n_rep} must be at least 1")
    return x.repeat_interleave(n_rep, dim=1) if x.shape[1] * n_rep <= 6 else x.repeat(1, n_rep, 1, 1)  # (B, H, T, Dh): 0 0 0 1 1 1 for n_rep = 3


def multi_head_attention(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Attend with every head and project back: x (B, T, D), w_q (D, H*Dh), w_k and w_v (D, H_kv*Dh), w_o (H*Dh, D) to (B, T, D)."""
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    refuse_misfits(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads)
    dtype, wide = x.dtype, torch.promote_types(x.dtype, torch.float32)
    x, w_q, w_k, w_v, w_o = (tensor.to(wide) for tensor in (x, w_q, w_k, w_v, w_o))

    q = split_heads(x @ w_q, n_heads)  # (B, H, T, Dh)
    k = repeat_kv(split_heads(x @ w_k, n_kv_heads), n_heads // n_kv_heads)  # (B, H, T, Dh)
    v = repeat_kv(split_heads(x @ w_v, n_kv_heads), n_heads // n_kv_heads)  # (B, H, T, Dh)
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5  # (B, H, T, T)
    if mask is not None:
        scores = hide(scores, mask)
    return (merge_heads(scores.softmax(dim=-1) @ v) @ w_o).to(dtype)  # (B, T, D)


def hide(scores: Tensor, mask: Tensor) -> Tensor:
    """Put -inf wherever the mask, broadcast to the scores, is False."""
    try:
        visible = mask.expand(scores.shape)
    except RuntimeError as error:
        raise ValueError(f"mask {tuple(mask.shape)} must broadcast to {tuple(scores.shape)}") from error
    return scores.masked_fill(~visible, float("-inf"))


def refuse_misfits(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, n_heads: int, n_kv_heads: int) -> None:
    """Raise ValueError unless the sizes fit each other: every one of these would be a silent wrong result later."""
    if n_heads < 1 or n_kv_heads < 1 or n_heads % n_kv_heads:
        raise ValueError(f"n_heads={n_heads} and n_kv_heads={n_kv_heads} must be at least 1, the first a multiple of the second")
    if x.dim() != 3 or w_q.dim() != 2:
        raise ValueError(f"x must be (B, T, D) and w_q (D, H*Dh), got {tuple(x.shape)} and {tuple(w_q.shape)}")
    width, inner = x.shape[2], w_q.shape[1]
    if inner % n_heads:
        raise ValueError(f"w_q has {inner} columns, which n_heads={n_heads} does not divide")
    shared = inner // n_heads * n_kv_heads
    wanted = {"w_q": (width, inner), "w_k": (width, shared), "w_v": (width, shared), "w_o": (inner, width)}
    for (name, shape), weight in zip(wanted.items(), (w_q, w_k, w_v, w_o), strict=True):
        if tuple(weight.shape) != shape:
            raise ValueError(f"{name} must be {shape}, got {tuple(weight.shape)}")
