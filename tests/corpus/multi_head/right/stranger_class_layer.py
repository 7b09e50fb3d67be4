from __future__ import annotations

import torch
from torch import Tensor


class Heads:
    """A count of heads that knows how to cut and to glue."""

    def __init__(self, n_heads: int, name: str = "n_heads"):
        if n_heads < 1:
            raise ValueError(f"{name} must be >= 1 (it is {n_heads})")
        self.n, self.name = n_heads, name

    def head_width(self, width: int) -> int:
        if width % self.n:
            raise ValueError(f"{self.name}={self.n} doesn't divide {width}")
        return width // self.n

    def cut(self, x: Tensor) -> Tensor:
        d = self.head_width(x.shape[-1])
        out = x.new_empty(x.shape[0], self.n, x.shape[1], d)
        for h in range(self.n):
            out[:, h] = x[:, :, h * d : h * d + d]
        return out


class Layer:
    def __init__(self, x, n_heads, n_kv_heads, **weights):
        if x.ndim != 3:
            raise ValueError("x must be of rank 3")
        self.wide = torch.promote_types(x.dtype, torch.float32)
        self.q_heads = Heads(n_heads)
        self.kv_heads = Heads(n_kv_heads, "n_kv_heads")
        if n_heads % n_kv_heads:
            raise ValueError("n_heads must be a multiple of n_kv_heads")
        for name, w in weights.items():
            if w.ndim != 2:
                raise ValueError(f"{name} must be of rank 2")
        self.dh = self.q_heads.head_width(weights["w_q"].shape[1])
        inner, outer = n_heads * self.dh, x.shape[2]
        for name in ("w_q", "w_k", "w_v"):
            columns = inner if name == "w_q" else n_kv_heads * self.dh
            if weights[name].shape != (outer, columns):
                raise ValueError(f"{name} must be {(outer, columns)}, not {tuple(weights[name].shape)}")
        if weights["w_o"].shape != (inner, outer):
            raise ValueError(f"w_o must be {(inner, outer)}, not {tuple(weights['w_o'].shape)}")
        self.w = {name: w.to(self.wide) for name, w in weights.items()}

    def __call__(self, x, mask):
        h = x.to(self.wide)
        q = self.q_heads.cut(h @ self.w["w_q"])
        rep = self.q_heads.n // self.kv_heads.n
        k = repeat_kv(self.kv_heads.cut(h @ self.w["w_k"]), rep)
        v = repeat_kv(self.kv_heads.cut(h @ self.w["w_v"]), rep)
        s = torch.matmul(q, k.transpose(2, 3)).mul(self.dh**-0.5)
        if mask is not None:
            s = s + self.bias(mask, s)
        s = s - s.amax(-1, keepdim=True)
        p = torch.exp(s - torch.logsumexp(s, -1, keepdim=True))
        return (merge_heads(p @ v) @ self.w["w_o"]).to(x.dtype)

    @staticmethod
    def bias(mask, s):
        if mask.dtype != torch.bool:
            raise ValueError("mask must be boolean")
        if mask.ndim > 4 or any(a not in (1, b) for a, b in zip(mask.shape[::-1], s.shape[::-1])):
            raise ValueError(f"mask {tuple(mask.shape)} doesn't broadcast to {tuple(s.shape)}")
        return torch.zeros(mask.shape, dtype=s.dtype, device=s.device).masked_fill(mask.logical_not(), float("-inf"))


def split_heads(x, n_heads):
    if x.ndim != 3:
        raise ValueError("x must be of rank 3")
    return Heads(n_heads).cut(x)


def merge_heads(x):
    if x.ndim != 4:
        raise ValueError("x must be of rank 4")
    b, h, t, d = x.shape
    out = x.new_empty(b, t, h * d)
    for i in range(h):
        out[..., i * d : (i + 1) * d] = x[:, i]
    return out


def repeat_kv(x, n_rep):
    if x.ndim != 4:
        raise ValueError("x must be of rank 4")
    if n_rep < 1:
        raise ValueError("n_rep must be >= 1")
    return x.repeat_interleave(n_rep, dim=1)


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    if 0 in (*x.shape, *w_q.shape):
        raise ValueError("x and w_q must not have a size of 0")
    layer = Layer(x, n_heads, n_heads if n_kv_heads is None else n_kv_heads, w_q=w_q, w_k=w_k, w_v=w_v, w_o=w_o)
    return layer(x, mask)
