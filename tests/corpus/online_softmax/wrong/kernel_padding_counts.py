# mistake: keys past the end score 0
# names: kernel-padding-counts-as-keys
import math
from typing import NamedTuple

import torch
import triton
import triton.language as tl


class SoftmaxState(NamedTuple):
    m: torch.Tensor
    l: torch.Tensor
    o: torch.Tensor


def merge_states(a, b):
    a, b = SoftmaxState(*a), SoftmaxState(*b)
    for name, s in (("a", a), ("b", b)):
        if s.m.shape != s.l.shape or s.o.shape[:-1] != s.m.shape or s.o.dim() == 0:
            raise ValueError(f"state {name}: m and l must be (...), o must be (..., Dh)")
    if a.o.shape != b.o.shape:
        raise ValueError("states a and b belong to other queries")
    m = torch.stack([a.m, b.m]).amax(0).float()
    pivot = torch.nan_to_num(m, neginf=0.0, posinf=float("inf"))
    if a.m.dtype == torch.float64:
        m = torch.stack([a.m, b.m]).amax(0)
        pivot = m.masked_fill(m.isneginf(), 0)
    wa = (a.m.to(m.dtype) - pivot).exp()
    wb = (b.m.to(m.dtype) - pivot).exp()
    l = wa * a.l + wb * b.l
    o = wa.unsqueeze(-1) * a.o + wb.unsqueeze(-1) * b.o
    return SoftmaxState(m.to(a.m.dtype), l.to(a.l.dtype), o.to(a.o.dtype))


def blockwise_attention(q, k, v, block_size, causal=False):
    _fit(q, k, v)
    if block_size < 1:
        raise ValueError("block_size < 1")
    kind = torch.float64 if q.dtype == torch.float64 else torch.float32
    n_q, n_k, width = q.size(-2), k.size(-2), q.size(-1)
    state = SoftmaxState(
        torch.full_like(q[..., 0], -math.inf, dtype=kind), torch.zeros_like(q[..., 0], dtype=kind), torch.zeros_like(q, dtype=kind)
    )
    first = 0
    for keys, values in zip(k.split(block_size, dim=-2), v.split(block_size, dim=-2), strict=True):
        n = keys.size(-2)
        s = torch.matmul(q.to(kind), keys.to(kind).transpose(-1, -2)) / math.sqrt(width)
        if causal:
            s = s + torch.full((n_q, n), -math.inf, device=q.device, dtype=kind).triu(n_k - n_q - first + 1)
        top = s.amax(-1)
        w = (s - top.masked_fill(top.isneginf(), 0).unsqueeze(-1)).exp()
        state = merge_states(state, SoftmaxState(top, w.sum(-1), w @ values.to(kind)))
        first += n
    safe = torch.where(state.l > 0, state.l, torch.ones_like(state.l))
    return (state.o / safe.unsqueeze(-1)).to(q.dtype), (state.m + safe.log()).to(torch.float32)


def _fit(q, k, v):
    if (q.dim(), k.dim(), v.dim()) != (4, 4, 4):
        raise ValueError("q, k, v: rank 4")
    if k.shape != v.shape:
        raise ValueError("k, v: same shape")
    if (q.size(0), q.size(1), q.size(3)) != (k.size(0), k.size(1), k.size(3)):
        raise ValueError("q, k: same B, H and Dh")


@triton.jit
def _attend(
    q, k, v, out, lse, qb, qh, qt, kb, kh, kt, vb, vh, vt, ob, oh, ot, H, n_q, n_k, scale,
    CAUSAL: tl.constexpr, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    tile, h, b = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    q_block = tl.make_block_ptr(q + b * qb + h * qh, (n_q, D), (qt, 1), (tile * M, 0), (M, D), (1, 0))
    k_block = tl.make_block_ptr(k + b * kb + h * kh, (D, n_k), (1, kt), (0, 0), (D, N), (0, 1))
    v_block = tl.make_block_ptr(v + b * vb + h * vh, (n_k, D), (vt, 1), (0, 0), (N, D), (1, 0))
    o_block = tl.make_block_ptr(out + b * ob + h * oh, (n_q, D), (ot, 1), (tile * M, 0), (M, D), (1, 0))
    l_block = tl.make_block_ptr(lse + (b * H + h) * n_q, (n_q,), (1,), (tile * M,), (M,), (0,))
    rows = tile * M + tl.arange(0, M)
    queries = tl.load(q_block, boundary_check=(0,), padding_option="zero")
    top = tl.zeros([M], tl.float32) - float("inf")
    total = tl.zeros([M], tl.float32)
    acc = tl.zeros([M, D], tl.float32)
    end = n_k
    if CAUSAL:
        end = tl.minimum(n_k, tl.maximum(0, (tile + 1) * M + n_k - n_q))
    for first in range(0, end, N):
        keys = tl.load(k_block, boundary_check=(1,), padding_option="zero")
        values = tl.load(v_block, boundary_check=(0,), padding_option="zero")
        s = tl.dot(queries, keys, input_precision="ieee") * (scale * 1.44269504089)
        cols = first + tl.arange(0, N)
        if CAUSAL:
            s += tl.where(cols[None, :] - rows[:, None] <= n_k - n_q, 0.0, float("-inf"))
        new_top = tl.maximum(top, tl.max(s, 1))
        pivot = tl.where(new_top > float("-inf"), new_top, 0.0)
        w = tl.math.exp2(s - pivot[:, None])
        old = tl.math.exp2(top - pivot)
        total = total * old + tl.sum(w, 1)
        acc = acc * old[:, None]
        acc += tl.dot(w.to(values.dtype), values, input_precision="ieee")
        top = new_top
        k_block = tl.advance(k_block, (0, N))
        v_block = tl.advance(v_block, (N, 0))
    safe = tl.where(total == 0.0, 1.0, total)
    tl.store(o_block, (acc / safe[:, None]).to(out.dtype.element_ty), boundary_check=(0,))
    tl.store(l_block, (top + tl.math.log2(safe)) * 0.69314718056, boundary_check=(0,))


def flash_attention(q, k, v, causal=False, tile=(32, 64)):
    _fit(q, k, v)
    if len({q.dtype, k.dtype, v.dtype}) != 1:
        raise ValueError("q, k, v: one dtype")
    if q.dtype not in {torch.float16, torch.bfloat16, torch.float32}:
        raise ValueError("q: float16, bfloat16 or float32")
    if q.size(3) not in (16, 32, 64, 128):
        raise ValueError("q: Dh must be 16, 32, 64 or 128")
    if any(x.stride(3) != 1 for x in (q, k, v)):
        raise ValueError("q, k, v: unit stride on the last axis")
    n_batch, n_heads, n_q, width = q.shape
    out = q.new_empty(q.shape)
    lse = q.new_empty(q.shape[:3], dtype=torch.float32)
    _attend[(triton.cdiv(n_q, tile[0]), n_heads, n_batch)](
        q, k, v, out, lse, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *out.stride()[:3], n_heads, n_q, k.size(2), width**-0.5,
        CAUSAL=bool(causal), D=width, M=tile[0], N=tile[1],
    )  # fmt: skip
    return out, lse
