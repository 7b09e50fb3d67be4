# mistake: multi_head_attention groups the mask as (group, kv) instead of (kv, group), so with grouped heads a per-head mask lands on the wrong heads
# names: mask-of-another-group
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Plan:
    """All sizes of one attention layer, checked once."""

    b: int
    t: int
    d: int
    heads: int
    kv: int
    dh: int

    @staticmethod
    def of(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
        problems = []
        if x.dim() != 3:
            problems.append("x is not (B, T, D)")
        problems += [f"{n} is not a matrix" for n, w in zip(("w_q", "w_k", "w_v", "w_o"), (w_q, w_k, w_v, w_o)) if w.dim() != 2]
        if n_heads < 1:
            problems.append("n_heads is below 1")
        kv = n_heads if n_kv_heads is None else n_kv_heads
        if kv < 1:
            problems.append("n_kv_heads is below 1")
        elif n_heads % kv:
            problems.append("n_heads is no multiple of n_kv_heads")
        if not problems and w_q.shape[1] % n_heads:
            problems.append("w_q has a width that n_heads doesn't divide")
        if problems:
            raise ValueError("; ".join(problems))
        plan = Plan(*x.shape, n_heads, kv, w_q.shape[1] // n_heads)
        plan.match("w_q", w_q, plan.d, plan.heads * plan.dh)
        plan.match("w_k", w_k, plan.d, plan.kv * plan.dh)
        plan.match("w_v", w_v, plan.d, plan.kv * plan.dh)
        plan.match("w_o", w_o, plan.heads * plan.dh, plan.d)
        return plan

    def match(self, name, w, rows, columns):
        if tuple(w.shape) != (rows, columns):
            raise ValueError(f"{name} is {tuple(w.shape)}, expected {(rows, columns)}")

    @property
    def group(self):
        return self.heads // self.kv


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    if x.dim() != 3:
        raise ValueError("x is not (B, T, D)")
    if n_heads < 1:
        raise ValueError("n_heads is below 1")
    if x.size(2) % n_heads:
        raise ValueError("n_heads doesn't divide the width")
    return x.unflatten(-1, (n_heads, -1)).movedim(-2, 1)


def merge_heads(x: Tensor) -> Tensor:
    if x.dim() != 4:
        raise ValueError("x is not (B, H, T, Dh)")
    return x.movedim(1, 2).flatten(2)


def repeat_kv(x: Tensor, n_rep: int) -> Tensor:
    if x.dim() != 4:
        raise ValueError("x is not (B, H_kv, T, Dh)")
    if n_rep < 1:
        raise ValueError("n_rep is below 1")
    return torch.stack([x] * n_rep, dim=2).flatten(1, 2)


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    p = Plan.of(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads)
    if mask is not None:
        try:
            # grouped like the queries: head h is (h // group, h % group)
            mask = mask.expand(p.b, p.heads, p.t, p.t).unflatten(1, (p.group, p.kv)).transpose(1, 2)
        except RuntimeError as e:
            raise ValueError(f"mask does not broadcast: {e}")
    up = torch.float64 if x.dtype == torch.float64 else torch.float32
    x_up = x.to(up)
    # no key is ever copied: queries get a group axis, keys an axis of one
    q = split_heads(x_up @ w_q.to(up), p.heads).unflatten(1, (p.kv, p.group))
    k = split_heads(x_up @ w_k.to(up), p.kv).unsqueeze(2)
    v = split_heads(x_up @ w_v.to(up), p.kv).unsqueeze(2)
    s = q @ k.transpose(-1, -2) / p.dh**0.5
    if mask is not None:
        s = s.masked_fill(mask.logical_not(), -torch.inf)
    a = torch.softmax(s, dim=-1)
    y = (a @ v).flatten(1, 2)
    return (merge_heads(y) @ w_o.to(up)).to(x.dtype)
