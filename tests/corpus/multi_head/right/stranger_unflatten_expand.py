import torch
from torch import Tensor


def _require(ok: bool, text: str) -> None:
    if not ok:
        raise ValueError(text)


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    _require(x.dim() == 3, f"x must be (B, T, D), got {tuple(x.shape)}")
    _require(n_heads >= 1, f"n_heads must be at least 1, got {n_heads}")
    _require(x.shape[-1] % n_heads == 0, f"n_heads={n_heads} doesn't divide the width {x.shape[-1]}")
    return x.unflatten(-1, (n_heads, x.shape[-1] // n_heads)).transpose(1, 2).clone()


def merge_heads(x: Tensor) -> Tensor:
    _require(x.dim() == 4, f"x must be (B, H, T, Dh), got {tuple(x.shape)}")
    return x.transpose(1, 2).clone(memory_format=torch.contiguous_format).flatten(2)


def repeat_kv(x: Tensor, n_rep: int) -> Tensor:
    _require(x.dim() == 4, f"x must be (B, H_kv, T, Dh), got {tuple(x.shape)}")
    _require(n_rep >= 1, f"n_rep must be at least 1, got {n_rep}")
    b, h, t, d = x.shape
    return x[:, :, None].expand(b, h, n_rep, t, d).clone().reshape(b, h * n_rep, t, d)


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    if 0 in (*x.shape, *w_q.shape):
        raise ValueError("x and w_q must not have a size of 0")
    n_kv = n_heads if n_kv_heads is None else n_kv_heads
    _require(x.dim() == 3, "x must have rank 3")
    for name, w in (("w_q", w_q), ("w_k", w_k), ("w_v", w_v), ("w_o", w_o)):
        _require(w.dim() == 2, f"{name} must have rank 2")
    _require(n_heads >= 1, "n_heads must be at least 1")
    _require(n_kv >= 1, "n_kv_heads must be at least 1")
    _require(n_heads % n_kv == 0, f"n_heads={n_heads} is not a multiple of n_kv_heads={n_kv}")
    b, t, d = x.shape
    _require(w_q.shape[1] % n_heads == 0, "n_heads doesn't divide the width of w_q")
    dh = w_q.shape[1] // n_heads
    _require(w_q.shape[0] == d, "w_q doesn't fit x")
    _require(tuple(w_k.shape) == (d, n_kv * dh), "w_k doesn't fit x, n_kv_heads and w_q")
    _require(tuple(w_v.shape) == (d, n_kv * dh), "w_v doesn't fit x, n_kv_heads and w_q")
    _require(tuple(w_o.shape) == (n_heads * dh, d), "w_o doesn't fit w_q and x")
    wide = torch.promote_types(x.dtype, torch.float32)
    xw = x.to(wide)
    q = split_heads(xw @ w_q.to(wide), n_heads)
    k = repeat_kv(split_heads(xw @ w_k.to(wide), n_kv), n_heads // n_kv)
    v = repeat_kv(split_heads(xw @ w_v.to(wide), n_kv), n_heads // n_kv)
    scores = q @ k.transpose(-1, -2) * dh**-0.5
    if mask is not None:
        _require(mask.dtype == torch.bool, "mask must be boolean")
        try:
            full = mask.expand(scores.shape)
        except RuntimeError:
            raise ValueError(f"mask {tuple(mask.shape)} doesn't broadcast to {tuple(scores.shape)}") from None
        scores = scores.masked_fill(~full, float("-inf"))
    heads = torch.softmax(scores, dim=-1) @ v
    return (merge_heads(heads) @ w_o.to(wide)).to(x.dtype)
