# mistake: the loop without a mask runs to the last query's key
# says: Only rows 0, 1
"""Kernel in two loops over a shared helper: whole tiles without any mask, then the tiles on the diagonal or the tail."""

import math
from functools import reduce

import torch
import triton
import triton.language as tl


class Fit:
    def __init__(self, q, k, v):
        for name, t in (("q", q), ("k", k), ("v", v)):
            if t.ndim != 4:
                raise ValueError(f"{name} isn't of rank 4")
            if not all(t.shape):
                raise ValueError(f"{name} has an axis of size 0")
        self.b, self.h, self.t_q, self.d = q.shape
        self.t_k = k.shape[2]
        for name, t in (("k", k), ("v", v)):
            if tuple(t.shape) != (self.b, self.h, self.t_k, self.d):
                raise ValueError(f"{name} is {tuple(t.shape)} and should be {(self.b, self.h, self.t_k, self.d)}")

    def kernel_ready(self, **tensors):
        if self.d not in (16, 32, 64, 128):
            raise ValueError(f"q: a head width of {self.d} isn't supported")
        dtypes = {t.dtype for t in tensors.values()}
        if len(dtypes) > 1:
            raise ValueError("q, k, v: mixed dtypes")
        if dtypes.isdisjoint((torch.float16, torch.bfloat16, torch.float32)):
            raise ValueError(f"q, k, v: {dtypes} isn't supported")
        if len({t.device for t in tensors.values()}) > 1:
            raise ValueError("q, k, v: mixed devices")
        for name, t in tensors.items():
            if t.stride()[-1] != 1:
                raise ValueError(f"{name}: last axis must be contiguous")
        return self


def merge_states(a, b):
    for name, (m, l, o) in (("a", a), ("b", b)):
        if not (m.shape == l.shape and o.ndim == m.ndim + 1 and o.shape[: m.ndim] == m.shape):
            raise ValueError(f"{name} isn't a state")
    if a[2].shape != b[2].shape:
        raise ValueError("a and b are states of different shapes")
    dtypes = [x.dtype for x in a]
    (m1, l1, o1), (m2, l2, o2) = ([x.to(torch.promote_types(x.dtype, torch.float32)) for x in s] for s in (a, b))
    m = torch.where(m1 > m2, m1, m2)
    floor = torch.finfo(m.dtype).min
    pivot = m.clamp(min=floor)  # exp(-inf - floor) is 0
    f1, f2 = (m1 - pivot).exp(), (m2 - pivot).exp()
    return (m.to(dtypes[0]), (l1 * f1 + l2 * f2).to(dtypes[1]), (o1 * f1.unsqueeze(-1) + o2 * f2.unsqueeze(-1)).to(dtypes[2]))


def blockwise_attention(q, k, v, block_size, causal=False):
    fit = Fit(q, k, v)
    if block_size < 1:
        raise ValueError("block_size isn't positive")
    wide = torch.promote_types(q.dtype, torch.float32)
    x = q.to(wide)

    def state(start):
        part = slice(start, start + block_size)
        s = x @ k[:, :, part].to(wide).transpose(2, 3) * fit.d**-0.5
        if causal:
            visible = torch.ones(s.shape[2:], dtype=torch.bool, device=q.device).tril(fit.t_k - fit.t_q - start)
            s = s.masked_fill(~visible, -math.inf)
        m = s.amax(-1)
        e = torch.exp(s - m.clamp(min=torch.finfo(wide).min)[..., None])
        return m, e.sum(-1), e @ v[:, :, part].to(wide)

    m, l, o = reduce(lambda left, start: merge_states(left, state(start)), range(block_size, fit.t_k, block_size), state(0))
    nothing = l == 0
    l = l + nothing
    return (o / l.unsqueeze(-1)).to(q.dtype), torch.where(nothing, -math.inf, m + l.log()).float()


@triton.jit
def _step(q, k_base, v_base, kt, vt, start, acc, m, l, i, T_k, shift, scale,
          MASKED: tl.constexpr, CAUSAL: tl.constexpr, D: tl.constexpr, N: tl.constexpr):
    j = start + tl.arange(0, N)
    d = tl.arange(0, D)
    at_k = k_base + j[None, :].to(tl.int64) * kt + d[:, None]
    at_v = v_base + j[:, None].to(tl.int64) * vt + d[None, :]
    if MASKED:
        k = tl.load(at_k, mask=j[None, :] < T_k, other=0.0)
        v = tl.load(at_v, mask=j[:, None] < T_k, other=0.0)
    else:
        k = tl.load(at_k)
        v = tl.load(at_v)
    s = tl.dot(q, k, input_precision="ieee") * scale
    if MASKED:
        ok = j[None, :] < T_k
        if CAUSAL:
            ok = ok & (j[None, :] <= i[:, None] + shift)
        s = tl.where(ok, s, float("-inf"))
    m_new = tl.maximum(m, tl.max(s, 1))
    m_ref = tl.where(m_new == float("-inf"), 0.0, m_new)
    p = tl.math.exp2(s - m_ref[:, None])
    alpha = tl.math.exp2(m - m_ref)
    l = l * alpha + tl.sum(p, 1)
    acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
    return acc, m_new, l


@triton.jit
def _split(q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, qb, qh, qt, kb, kh, kt, vb, vh, vt, ob, oh, ot, H, T_q, T_k, scale,
           CAUSAL: tl.constexpr, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    bh = tl.program_id(0)
    b = (bh // H).to(tl.int64)
    h = (bh % H).to(tl.int64)
    first = tl.program_id(1) * M
    i = first + tl.arange(0, M)
    d = tl.arange(0, D)
    shift = T_k - T_q
    q = tl.load(q_ptr + b * qb + h * qh + i[:, None].to(tl.int64) * qt + d[None, :], mask=i[:, None] < T_q, other=0.0)
    m = tl.zeros([M], tl.float32) - float("inf")
    l = tl.zeros([M], tl.float32)
    acc = tl.zeros([M, D], tl.float32)
    if CAUSAL:
        end = tl.maximum(tl.minimum(T_k, first + M + shift), 0)
        whole = tl.maximum(tl.minimum(T_k, first + M + shift), 0) // N * N
    else:
        end = T_k
        whole = T_k // N * N
    k_base = k_ptr + b * kb + h * kh
    v_base = v_ptr + b * vb + h * vh
    for start in range(0, whole, N):
        acc, m, l = _step(q, k_base, v_base, kt, vt, start, acc, m, l, i, T_k, shift, scale, False, CAUSAL, D, N)
    for start in range(whole, end, N):
        acc, m, l = _step(q, k_base, v_base, kt, vt, start, acc, m, l, i, T_k, shift, scale, True, CAUSAL, D, N)
    alive = l > 0.0
    l = tl.where(alive, l, 1.0)
    acc = acc * (1.0 / l)[:, None]
    tl.store(o_ptr + b * ob + h * oh + i[:, None].to(tl.int64) * ot + d[None, :], acc.to(o_ptr.dtype.element_ty), mask=i[:, None] < T_q)
    tl.store(lse_ptr + bh.to(tl.int64) * T_q + i, tl.where(alive, (m + tl.math.log2(l)) * 0.6931471805599453, float("-inf")), mask=i < T_q)


def flash_attention(q, k, v, causal=False):
    fit = Fit(q, k, v).kernel_ready(q=q, k=k, v=v)
    q, k, v = q.detach(), k.detach(), v.detach()
    out, lse = torch.empty(fit.b, fit.h, fit.t_q, fit.d, dtype=q.dtype, device=q.device), torch.empty(fit.b, fit.h, fit.t_q, device=q.device, dtype=torch.float32)
    m, n = (64, 32) if fit.d < 128 else (32, 32)
    with torch.cuda.device_of(q):
        _split[fit.b * fit.h, triton.cdiv(fit.t_q, m)](
            q, k, v, out, lse, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *out.stride()[:3],
            fit.h, fit.t_q, fit.t_k, 1.4426950408889634 / fit.d**0.5, bool(causal), fit.d, m, n, num_stages=2,
        )
    return out, lse
