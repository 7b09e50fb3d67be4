# right: Block pointers and powers of two in the kernel; a NamedTuple for the state; only living rows are walked in PyTorch.
"""Block pointers and powers of two in the kernel; a NamedTuple for the state; only living rows are walked in PyTorch."""

import math
from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor


class State(NamedTuple):
    m: Tensor
    l: Tensor
    o: Tensor

    def checked(self, name):
        if self.m.shape != self.l.shape or self.o.shape[:-1] != self.m.shape or self.o.ndim == 0:
            raise ValueError(f"state {name}: {tuple(self.m.shape)}, {tuple(self.l.shape)}, {tuple(self.o.shape)}")
        return self


def merge_states(a, b):
    a, b = State(*a).checked("a"), State(*b).checked("b")
    if a.o.shape != b.o.shape:
        raise ValueError(f"states a and b: {tuple(a.o.shape)} and {tuple(b.o.shape)}")
    kinds = [x.dtype for x in a]
    up = lambda t: t.to(torch.promote_types(t.dtype, torch.float32))
    both_m = torch.stack((up(a.m), up(b.m)))
    m = both_m.amax(0)
    w = (both_m - torch.where(torch.isneginf(m), torch.zeros_like(m), m)).exp()
    l = (w * torch.stack((up(a.l), up(b.l)))).sum(0)
    o = torch.einsum("s...,s...d->...d", w.to(up(a.o).dtype), torch.stack((up(a.o), up(b.o))))
    return State(*(t.to(kind) for t, kind in zip((m, l, o), kinds)))


def _same(q, k, v):
    for name, t in dict(q=q, k=k, v=v).items():
        if t.ndim != 4:
            raise ValueError(f"{name} has {t.ndim} axes, not 4")
        if 0 in t.shape:
            raise ValueError(f"{name} is empty")
    if q.shape[:2] != k.shape[:2] or q.shape[3] != k.shape[3]:
        raise ValueError(f"q {tuple(q.shape)} and k {tuple(k.shape)} don't go together")
    if k.shape != v.shape:
        raise ValueError(f"k {tuple(k.shape)} and v {tuple(v.shape)} don't go together")


def blockwise_attention(q, k, v, block_size, causal=False):
    _same(q, k, v)
    if block_size < 1:
        raise ValueError(f"block_size={block_size}")
    t_q, t_k, dh = q.shape[2], k.shape[2], q.shape[3]
    dead = max(0, t_q - t_k) if causal else 0  # queries before the first key
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    x = q[:, :, dead:].to(wide)
    m = l = o = None
    for start in range(0, t_k, block_size):
        stop = min(start + block_size, t_k)
        s = torch.einsum("bhid,bhjd->bhij", x, k[:, :, start:stop].to(wide)) / math.sqrt(dh)
        if causal:
            s = s + torch.full(s.shape[2:], -math.inf, dtype=wide, device=q.device).triu(1 + max(t_k - t_q, 0) - start)
        top = s.detach().amax(-1, keepdim=True)
        new = top if m is None else torch.maximum(m, top)  # finite: key 0 is visible to every living row
        p = torch.exp(s - new)
        value = p @ v[:, :, start:stop].to(wide)
        if m is None:
            l, o = p.sum(-1, keepdim=True), value
        else:
            w = torch.exp(m - new)
            l, o = l * w + p.sum(-1, keepdim=True), o * w + value
        m = new
    out, lse = o / l, (m + l.log()).squeeze(-1)
    if dead:
        out = torch.nn.functional.pad(out, (0, 0, dead, 0))
        lse = torch.nn.functional.pad(lse, (dead, 0), value=-math.inf)
    return out.to(q.dtype), lse.to(torch.float32)


@triton.jit
def _fwd(q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, sqb, sqh, sqt, skb, skh, skt, svb, svh, svt, sob, soh, sot, n_heads, T_q, T_k, scale_log2,
         CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    tile = tl.program_id(0)
    tiles = tl.cdiv(T_q, BLOCK_M)
    first = (tile % tiles) * BLOCK_M
    bh = (tile // tiles).to(tl.int64)
    b, h = bh // n_heads, bh % n_heads
    q_block = tl.make_block_ptr(q_ptr + b * sqb + h * sqh, (T_q, D), (sqt, 1), (first, 0), (BLOCK_M, D), (1, 0))
    k_block = tl.make_block_ptr(k_ptr + b * skb + h * skh, (D, T_k), (1, skt), (0, 0), (D, BLOCK_N), (0, 1))
    v_block = tl.make_block_ptr(v_ptr + b * svb + h * svh, (T_k, D), (svt, 1), (0, 0), (BLOCK_N, D), (1, 0))
    o_block = tl.make_block_ptr(o_ptr + b * sob + h * soh, (T_q, D), (sot, 1), (first, 0), (BLOCK_M, D), (1, 0))
    q = tl.load(q_block, boundary_check=(0,), padding_option="zero")
    i = first + tl.arange(0, BLOCK_M)
    m = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    l = tl.full((BLOCK_M,), 0.0, tl.float32)
    acc = tl.full((BLOCK_M, D), 0.0, tl.float32)
    shift = T_k - T_q
    hi = T_k
    if CAUSAL:
        hi = tl.minimum(hi, first + BLOCK_M + shift)
    for start in range(0, hi, BLOCK_N):
        j = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_block, boundary_check=(1,), padding_option="zero")
        s = tl.dot(q, k, input_precision="ieee") * scale_log2
        if CAUSAL:
            s = tl.where((j[None, :] <= i[:, None] + shift) & (j[None, :] < T_k), s, float("-inf"))
        else:
            s = tl.where(j[None, :] < T_k, s, float("-inf"))
        m_next = tl.maximum(m, tl.max(s, axis=1))
        m_safe = tl.where(m_next > float("-inf"), m_next, 0.0)
        p = tl.exp2(s - m_safe[:, None])
        alpha = tl.exp2(m - m_safe)
        l = l * alpha + tl.sum(p, axis=1)
        v = tl.load(v_block, boundary_check=(0,), padding_option="zero")
        acc = tl.dot(p.to(v.dtype), v, acc=acc * alpha[:, None], input_precision="ieee")
        m = m_next
        k_block = tl.advance(k_block, (0, BLOCK_N))
        v_block = tl.advance(v_block, (BLOCK_N, 0))
    some = l > 0
    l_safe = tl.where(some, l, 1.0)
    tl.store(o_block, (acc / l_safe[:, None]).to(o_ptr.dtype.element_ty), boundary_check=(0,))
    lse = tl.where(some, (m + tl.log2(l_safe)) * 0.6931471805599453, float("-inf"))
    tl.store(lse_ptr + bh * T_q + i, lse, mask=i < T_q)


def flash_attention(q, k, v, causal=False):
    _same(q, k, v)
    if q.shape[3] not in {16, 32, 64, 128}:
        raise ValueError(f"q has the head width {q.shape[3]}")
    for name, t in dict(q=q, k=k, v=v).items():
        if t.dtype not in {torch.float16, torch.bfloat16, torch.float32} or t.dtype != q.dtype:
            raise ValueError(f"{name} has the dtype {t.dtype}")
        if t.stride(-1) != 1:
            raise ValueError(f"{name} has a last axis that isn't contiguous")
        if t.device != q.device:
            raise ValueError(f"{name} is elsewhere")
    q, k, v = q.detach(), k.detach(), v.detach()
    b, h, t_q, d = q.shape
    out = q.new_empty(b, h, t_q, d)
    lse = q.new_empty(b, h, t_q, dtype=torch.float32)
    bm = 32 if q.dtype == torch.float32 else 64
    with torch.cuda.device_of(q):
        _fwd[(triton.cdiv(t_q, bm) * b * h,)](
            q, k, v, out, lse, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *out.stride()[:3], h, t_q, k.shape[2],
            math.log2(math.e) / math.sqrt(d), CAUSAL=bool(causal), D=d, BLOCK_M=bm, BLOCK_N=32, num_warps=4, num_stages=2,
        )
    return out, lse
