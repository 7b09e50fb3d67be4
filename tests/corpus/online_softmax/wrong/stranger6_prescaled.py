# mistake: q is scaled and rounded to float16 before the product
# says: two keys of one score each
"""Batch, head and (query tile x half of the value columns) on three grid axes; the mask is an additive bias."""
from functools import partial, reduce

import torch
import triton
import triton.language as tl

_neg = float("-inf")


def _f(x):
    return x if x.dtype in (torch.float32, torch.float64) else x.float()


def _triple(x, letter):
    m, l, o = x
    if m.shape != l.shape or m.shape != o.shape[:-1]:
        raise ValueError(f"{letter}: (...), (...), (..., Dh) expected, not {list(m.shape)}, {list(l.shape)}, {list(o.shape)}")
    return m, l, o


def merge_states(a, b):
    a, b = _triple(a, "a"), _triple(b, "b")
    if a[2].shape != b[2].shape:
        raise ValueError("b: another shape than a")
    out = a[2].dtype
    m = torch.stack([_f(a[0]), _f(b[0])])
    l = torch.stack([_f(a[1]), _f(b[1])])
    o = torch.stack([_f(a[2]), _f(b[2])])
    top = m.amax(0)
    w = (m - top.masked_fill(top == _neg, 0)).exp()
    return tuple(t.to(out) for t in (top, (w * l).sum(0), (w.unsqueeze(-1) * o).sum(0)))


def _conform(q, k, v):
    bad = [n for n, t in zip("qkv", (q, k, v)) if t.ndim != 4 or t.numel() == 0]
    if bad:
        raise ValueError(", ".join(bad) + ": four axes of at least one element each, please")
    if (*q.shape[:2], q.shape[3]) != (*k.shape[:2], k.shape[3]):
        raise ValueError("q and k don't agree")
    if k.shape != v.shape:
        raise ValueError("k and v don't agree")


def blockwise_attention(q, k, v, block_size, causal=False):
    if block_size < 1:
        raise ValueError("block_size: one key at least")
    _conform(q, k, v)
    kind = torch.float64 if q.dtype is torch.float64 else torch.float32
    (B, H, N, D), M = q.shape, k.shape[2]
    qq = q.to(kind).mul(D**-0.5)

    def state(j, kb, vb):
        n = kb.shape[2]
        bias = torch.zeros(N, n, dtype=kind, device=q.device)
        if causal:
            ij = torch.arange(N, device=q.device).view(-1, 1) + (M - N) - torch.arange(j, j + n, device=q.device)
            bias = bias.masked_fill(ij < 0, _neg)
        s = torch.einsum("...id,...jd->...ij", qq, kb.to(kind)) + bias
        m = s.amax(-1)
        e = torch.exp(s - m.masked_fill(m == _neg, 0).unsqueeze(-1))
        return m, e.sum(-1), torch.einsum("...ij,...jd->...id", e, vb.to(kind))

    blocks = (state(j, k[:, :, j : j + block_size], v[:, :, j : j + block_size]) for j in range(0, M, block_size))
    m, l, o = reduce(merge_states, blocks)
    lse = torch.where(l > 0, m + torch.where(l > 0, l, 1).log(), _neg)
    return (o / torch.where(l > 0, l, 1).unsqueeze(-1)).to(q.dtype), lse.float()


@triton.jit
def _half(q_ptr, k_ptr, v_ptr, o_ptr, l_ptr, sq0, sq1, sq2, sk0, sk1, sk2, sv0, sv1, sv2, so0, so1, so2, sl0, sl1,
          N, M, scale, D: tl.constexpr, HALF: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    b = tl.program_id(2).to(tl.int64)
    h = tl.program_id(1).to(tl.int64)
    part = tl.program_id(0) % 2
    tile = tl.program_id(0) // 2
    i = tile * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    e = part * HALF + tl.arange(0, HALF)
    r = i.to(tl.int64)
    q = tl.load(q_ptr + b * sq0 + h * sq1 + r[:, None] * sq2 + d[None, :], mask=i[:, None] < N, other=0.0)
    q = (q * scale).to(q_ptr.dtype.element_ty)
    m = tl.full((BM,), float("-inf"), dtype=tl.float32)
    l = tl.zeros((BM,), dtype=tl.float32)
    acc = tl.zeros((BM, HALF), dtype=tl.float32)
    stop = M
    if CAUSAL:
        stop = tl.minimum(M, tl.maximum(tile * BM + BM + M - N, 0))
    for j0 in tl.range(0, stop, BN):
        j = j0 + tl.arange(0, BN)
        c = j.to(tl.int64)
        kT = tl.load(k_ptr + b * sk0 + h * sk1 + c[None, :] * sk2 + d[:, None], mask=j[None, :] < M, other=0.0)
        bias = tl.where(j < M, 0.0, float("-inf"))[None, :] + tl.zeros((BM, BN), dtype=tl.float32)
        if CAUSAL:
            bias += tl.where(j[None, :] > i[:, None] + (M - N), float("-inf"), 0.0)
        s = tl.dot(q, kT, input_precision="ieee") + bias
        n = tl.maximum(m, tl.max(s, 1))
        z = tl.where(n > float("-inf"), n, 0.0)
        p = tl.exp2((s - z[:, None]) * 1.4426950408889634)
        a = tl.exp2((m - z) * 1.4426950408889634)
        v = tl.load(v_ptr + b * sv0 + h * sv1 + c[:, None] * sv2 + e[None, :], mask=j[:, None] < M, other=0.0)
        l = l * a + tl.sum(p, 1)
        acc = acc * a[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        m = n
    good = l > 0.0
    div = tl.where(good, l, 1.0)
    tl.store(o_ptr + b * so0 + h * so1 + r[:, None] * so2 + e[None, :], (acc / div[:, None]).to(o_ptr.dtype.element_ty), mask=i[:, None] < N)
    if part == 0:
        tl.store(l_ptr + b * sl0 + h * sl1 + r, tl.where(good, m + tl.log(div), float("-inf")), mask=i < N)


def flash_attention(q, k, v, causal=False):
    _conform(q, k, v)
    D = q.shape[-1]
    if D not in (16, 32, 64, 128):
        raise ValueError("q, k, v: width (Dh)")
    if q.dtype not in (torch.float32, torch.float16, torch.bfloat16) or len({q.dtype, k.dtype, v.dtype}) > 1:
        raise ValueError(f"q, k, v: dtypes {q.dtype}, {k.dtype}, {v.dtype}")
    for n, t in zip("qkv", (q, k, v)):
        if t.stride(-1) != 1:
            raise ValueError(f"{n}: last axis is strided")
    B, H, N, _ = q.shape
    o = torch.empty((B, H, N, D), dtype=q.dtype, device=q.device)
    l = torch.empty((B, H, N), dtype=torch.float32, device=q.device)
    if D == 16:  # half of 16 columns is too narrow for the matrix unit
        return _narrow(q, k, v, o, l, causal)
    run = partial(_half[(triton.cdiv(N, 64) * 2, H, B)], D=D, HALF=D // 2, BM=64, BN=32, CAUSAL=bool(causal))
    run(q, k, v, o, l, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *o.stride()[:3], *l.stride()[:2], N, k.shape[2], D**-0.5)
    return o, l


@triton.jit
def _whole(q_ptr, k_ptr, v_ptr, o_ptr, l_ptr, sq0, sq1, sq2, sk0, sk1, sk2, sv0, sv1, sv2, so0, so1, so2, sl0, sl1,
           N, M, scale, CAUSAL: tl.constexpr):
    b = tl.program_id(2).to(tl.int64)
    h = tl.program_id(1).to(tl.int64)
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    d = tl.arange(0, 16)
    r = i.to(tl.int64)
    q = tl.load(q_ptr + b * sq0 + h * sq1 + r[:, None] * sq2 + d[None, :], mask=i[:, None] < N, other=0.0)
    m = tl.full((16,), float("-inf"), dtype=tl.float32)
    l = tl.zeros((16,), dtype=tl.float32)
    acc = tl.zeros((16, 16), dtype=tl.float32)
    for j0 in range(0, M, 16):
        j = j0 + tl.arange(0, 16)
        c = j.to(tl.int64)
        k = tl.load(k_ptr + b * sk0 + h * sk1 + c[:, None] * sk2 + d[None, :], mask=j[:, None] < M, other=0.0)
        v = tl.load(v_ptr + b * sv0 + h * sv1 + c[:, None] * sv2 + d[None, :], mask=j[:, None] < M, other=0.0)
        see = j[None, :] < M
        if CAUSAL:
            see = see & (j[None, :] <= i[:, None] + (M - N))
        s = tl.where(see, tl.dot(q, tl.trans(k), input_precision="ieee") * scale, float("-inf"))
        n = tl.maximum(m, tl.max(s, 1))
        z = tl.where(n > float("-inf"), n, 0.0)
        p = tl.exp(s - z[:, None])
        a = tl.exp(m - z)
        l = l * a + tl.sum(p, 1)
        acc = acc * a[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        m = n
    good = l > 0.0
    div = tl.where(good, l, 1.0)
    tl.store(o_ptr + b * so0 + h * so1 + r[:, None] * so2 + d[None, :], (acc / div[:, None]).to(o_ptr.dtype.element_ty), mask=i[:, None] < N)
    tl.store(l_ptr + b * sl0 + h * sl1 + r, tl.where(good, m + tl.log(div), float("-inf")), mask=i < N)


def _narrow(q, k, v, o, l, causal):
    B, H, N, D = q.shape
    _whole[(triton.cdiv(N, 16), H, B)](q, k, v, o, l, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *o.stride()[:3],
                                       *l.stride()[:2], N, k.shape[2], D**-0.5, CAUSAL=bool(causal))
    return o, l
