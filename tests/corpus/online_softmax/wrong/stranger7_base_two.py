# mistake: the causal loop ends with the tile's first row
# names: kernel-loop-ends-with-the-first-row-tile-32
"""Everything hangs on log-normalisers: states are kept as (lse, mean) inside, the kernel is the base-2 classic."""

import math
from typing import NamedTuple

import torch
import triton
import triton.language as tl

NEG = float("-inf")


class SoftmaxState(NamedTuple):
    m: torch.Tensor
    l: torch.Tensor  # noqa: E741
    o: torch.Tensor


def _wide(t):
    return t.float() if t.dtype in (torch.float16, torch.bfloat16) else t


def _check_state(s, who):
    if len(s) != 3:
        raise ValueError(f"{who}: a state has three parts (m, l, o)")
    m, l, o = s
    if m.shape != l.shape or o.ndim != m.ndim + 1 or o.shape[:-1] != m.shape:
        raise ValueError(f"{who}: m {tuple(m.shape)}, l {tuple(l.shape)}, o {tuple(o.shape)} are no state")
    return m, l, o


def merge_states(a, b):
    (ma, la, oa), (mb, lb, ob) = _check_state(a, "a"), _check_state(b, "b")
    if oa.shape != ob.shape:
        raise ValueError("a and b: states of different shapes")
    wa, wb = _wide(ma), _wide(mb)
    top = torch.maximum(wa, wb)
    pivot = top.masked_fill(top == NEG, 0.0)
    fa, fb = torch.exp(wa - pivot), torch.exp(wb - pivot)
    return SoftmaxState(
        top.to(ma.dtype),
        (_wide(la) * fa + _wide(lb) * fb).to(la.dtype),
        (_wide(oa) * fa[..., None] + _wide(ob) * fb[..., None]).to(oa.dtype),
    )


def _fit(q, k, v):
    for name, t in zip("qkv", (q, k, v)):
        if t.dim() != 4:
            raise ValueError(f"{name} wants four axes (B, H, T, Dh), got {t.dim()}")
    if k.shape != v.shape:
        raise ValueError(f"v {tuple(v.shape)} doesn't fit k {tuple(k.shape)}")
    if (q.shape[0], q.shape[1], q.shape[3]) != (k.shape[0], k.shape[1], k.shape[3]):
        raise ValueError(f"k {tuple(k.shape)} doesn't fit q {tuple(q.shape)}")


def blockwise_attention(q, k, v, block_size, causal=False):
    _fit(q, k, v)
    if block_size < 1:
        raise ValueError(f"block_size is {block_size}, and there's no such block")
    (b, h, tq, dh), tk = q.shape, k.shape[2]
    acc = torch.float64 if q.dtype == torch.float64 else torch.float32
    qs = q.to(acc) * dh**-0.5
    lse = torch.full((b, h, tq), NEG, dtype=acc, device=q.device)
    out = torch.zeros(b, h, tq, dh, dtype=acc, device=q.device)
    row = torch.arange(tq, device=q.device)[:, None] + (tk - tq)
    start = 0
    while (stop := min(start + block_size, tk)) > start:
        s = qs @ k[:, :, start:stop].to(acc).transpose(2, 3)
        if causal:
            hidden = torch.arange(start, stop, device=q.device) > row
            dead = hidden.all(-1)
            # rows without a key in this block work on zeros, and their lse is put right afterwards
            s = s.masked_fill(hidden & ~dead[:, None], NEG).masked_fill(dead[:, None], 0.0)
            here = s.logsumexp(-1).masked_fill(dead, NEG)
        else:
            here = s.logsumexp(-1)
        both = here == NEG
        old_dead = lse == NEG
        lo, ln = lse.masked_fill(old_dead, 0.0), here.masked_fill(both, 0.0)
        new = torch.where(both, lse, torch.where(old_dead, here, torch.logaddexp(lo, ln)))
        safe = new.masked_fill(new == NEG, 0.0)
        keep = (lo - safe).exp().masked_fill(old_dead, 0.0)
        p = (s - safe[..., None]).masked_fill(both[..., None], 0.0).exp().masked_fill(both[..., None], 0.0)
        out = out * keep[..., None] + p @ v[:, :, start:stop].to(acc)
        lse, start = new, stop
    return out.to(q.dtype), lse.float()


def flash_attention(q, k, v, causal=False):
    _fit(q, k, v)
    if q.dtype not in (torch.float16, torch.bfloat16, torch.float32):
        raise ValueError(f"q of {q.dtype}: float16, bfloat16 or float32 only")
    for name, t in (("k", k), ("v", v)):
        if t.dtype != q.dtype:
            raise ValueError(f"{name} is {t.dtype} beside a q of {q.dtype}")
    for name, t in (("q", q), ("k", k), ("v", v)):
        if t.stride(3) != 1:
            raise ValueError(f"{name}: last axis must be contiguous")
    B, H, Tq, D = q.shape
    if D not in {16, 32, 64, 128}:
        raise ValueError(f"q: a head width of {D} isn't served")
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
    if out.numel():
        M = 32
        tiles = triton.cdiv(Tq, M)
        _fwd[(tiles * B * H,)](
            q, k, v, out, lse, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *out.stride()[:3], H, Tq, k.shape[2], tiles,
            D**-0.5 * math.log2(math.e), CAUSAL=bool(causal), D=D, M=M, N=32,
        )
    return out, lse


@triton.jit
def _fwd(Q, K, V, O, L, qb, qh, qt, kb, kh, kt, vb, vh, vt, ob, oh, ot, H, Tq, Tk, tiles, scale2,
         CAUSAL: tl.constexpr, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    pid = tl.program_id(0)
    tile = pid % tiles
    bh = (pid // tiles).to(tl.int64)
    b, h = bh // H, bh % H
    rm = tile * M + tl.arange(0, M)
    rd = tl.arange(0, D)
    rn = tl.arange(0, N)
    q = tl.load(Q + b * qb + h * qh + rm.to(tl.int64)[:, None] * qt + rd[None, :], mask=rm[:, None] < Tq, other=0.0)
    m = tl.full([M], float("-inf"), tl.float32)
    l = tl.zeros([M], tl.float32)
    acc = tl.zeros([M, D], tl.float32)
    end = Tk
    if CAUSAL:
        end = tl.minimum(Tk, tile * M + 1 + Tk - Tq)
    for n0 in range(0, end, N):
        n = n0 + rn
        kk = tl.load(K + b * kb + h * kh + n.to(tl.int64)[None, :] * kt + rd[:, None], mask=n[None, :] < Tk, other=0.0)
        s = tl.dot(q, kk, input_precision="ieee") * scale2
        ok = n[None, :] < Tk
        if CAUSAL:
            ok = ok & (n[None, :] <= rm[:, None] + (Tk - Tq))
        s = tl.where(ok, s, float("-inf"))
        mn = tl.maximum(m, tl.max(s, 1))
        safe = tl.where(mn == float("-inf"), 0.0, mn)
        a = tl.exp2(m - safe)
        p = tl.exp2(s - safe[:, None])
        l = l * a + tl.sum(p, 1)
        vv = tl.load(V + b * vb + h * vh + n.to(tl.int64)[:, None] * vt + rd[None, :], mask=n[:, None] < Tk, other=0.0)
        acc = acc * a[:, None] + tl.dot(p.to(vv.dtype), vv, input_precision="ieee")
        m = mn
    none = l == 0.0
    acc = acc / tl.where(none, 1.0, l)[:, None]
    lse = tl.where(none, float("-inf"), (m + tl.log2(tl.where(none, 1.0, l))) * 0.6931471805599453)
    tl.store(O + b * ob + h * oh + rm.to(tl.int64)[:, None] * ot + rd[None, :], acc.to(O.dtype.element_ty), mask=rm[:, None] < Tq)
    tl.store(L + bh * Tq + rm, lse, mask=rm < Tq)
