# right: Everything transposed in the kernel: scores are (keys, queries), reductions run down the columns, the output is (D, queries).
"""Everything transposed in the kernel: scores are (keys, queries), reductions run down the columns, the output is (D, queries)."""

import torch
import triton
import triton.language as tl


def _refuse(reason):
    raise ValueError(reason)


def merge_states(a, b):
    (ma, la, oa), (mb, lb, ob) = a, b
    if not (ma.shape == la.shape == oa.shape[:-1] and oa.dim()):
        _refuse("a: shapes of m, l, o")
    if not (mb.shape == lb.shape == ob.shape[:-1] and ob.dim()):
        _refuse("b: shapes of m, l, o")
    if oa.shape != ob.shape:
        _refuse("a, b: different shapes")
    wide = torch.promote_types(torch.float32, torch.promote_types(ma.dtype, oa.dtype))
    kinds = ma.dtype, la.dtype, oa.dtype
    ma, la, oa, mb, lb, ob = (t.to(wide) for t in (ma, la, oa, mb, lb, ob))
    # an empty side takes the other side's maximum; weights are exponentials of what is then never positive
    ea, eb = torch.isneginf(ma), torch.isneginf(mb)
    zero = torch.zeros_like(ma)
    fa = torch.where(ea, torch.where(eb, zero, mb), ma)
    fb = torch.where(eb, torch.where(ea, zero, ma), mb)
    top = torch.maximum(fa, fb)
    wa = torch.where(ea, zero, torch.exp(fa - top))
    wb = torch.where(eb, zero, torch.exp(fb - top))
    l = la * wa + lb * wb
    o = oa * wa.unsqueeze(-1) + ob * wb.unsqueeze(-1)
    m = torch.where(ea & eb, torch.full_like(top, float("-inf")), top)
    return m.to(kinds[0]), l.to(kinds[1]), o.to(kinds[2])


def _arguments(q, k, v):
    for name, t in zip("qkv", (q, k, v)):
        t.dim() == 4 or _refuse(f"{name}: rank {t.dim()}")
        t.numel() or _refuse(f"{name}: empty")
    q.shape[:2] == k.shape[:2] and q.shape[-1] == k.shape[-1] or _refuse("k: batch, heads or width other than q's")
    k.shape == v.shape or _refuse("v: shape other than k's")


def blockwise_attention(q, k, v, block_size, causal=False):
    _arguments(q, k, v)
    block_size >= 1 or _refuse(f"block_size: {block_size}")
    wide = torch.promote_types(q.dtype, torch.float32)
    n_q, n_k, d = q.shape[2], k.shape[2], q.shape[3]
    x = (q.to(wide) * d**-0.5).mT
    i = torch.arange(n_q, device=q.device) + n_k - n_q
    inf = float("inf")

    def states():
        for k_part, v_part, j in zip(k.split(block_size, 2), v.split(block_size, 2), torch.arange(n_k, device=q.device).split(block_size)):
            s = k_part.to(wide) @ x  # (keys, queries)
            if causal:
                s = torch.where(j[:, None] <= i, s, -inf)
            m = s.amax(2)
            e = (s - torch.where(m == -inf, 0.0, m).unsqueeze(2)).exp()
            yield m, e.sum(2), e.mT @ v_part.to(wide)

    parts = states()
    state = next(parts)
    for other in parts:
        state = merge_states(state, other)
    m, l, o = state
    l = torch.where(l == 0, 1.0, l)
    return (o / l[..., None]).to(q.dtype), (m + l.log()).to(torch.float32)


@triton.jit
def _columns(q, k, v, out, lse, q0, q1, q2, k0, k1, k2, v0, v1, v2, o0, o1, o2, heads, n_q, n_k, scale,
             causal: tl.constexpr, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    z = tl.program_id(0).to(tl.int64)
    batch, head = z // heads, z % heads
    row = tl.program_id(1) * M + tl.arange(0, M)
    row64 = row.to(tl.int64)
    dim = tl.arange(0, D)
    qt = tl.load(q + batch * q0 + head * q1 + row64[None, :] * q2 + dim[:, None], mask=row[None, :] < n_q, other=0)
    top = tl.full([M], float("-inf"), tl.float32)
    total = tl.zeros([M], tl.float32)
    acc = tl.zeros([D, M], tl.float32)
    stop = n_k
    if causal:
        stop = tl.minimum(n_k, tl.program_id(1) * M + M + (n_k - n_q))
    for first in range(0, stop, N):
        key = first + tl.arange(0, N)
        key64 = key.to(tl.int64)
        kk = tl.load(k + batch * k0 + head * k1 + key64[:, None] * k2 + dim[None, :], mask=key[:, None] < n_k, other=0)
        st = tl.dot(kk, qt, input_precision="ieee") * scale
        seen = (key < n_k)[:, None]
        if causal:
            seen = seen & (key[:, None] <= row[None, :] + (n_k - n_q))
        st = tl.where(seen, st, float("-inf"))
        new = tl.maximum(top, tl.max(st, 0))
        ref = tl.where(new == float("-inf"), 0.0, new)
        pt = tl.exp(st - ref[None, :])
        fade = tl.exp(top - ref)
        total = total * fade + tl.sum(pt, 0)
        vt = tl.load(v + batch * v0 + head * v1 + key64[None, :] * v2 + dim[:, None], mask=key[None, :] < n_k, other=0)
        acc = acc * fade[None, :] + tl.dot(vt, pt.to(vt.dtype), input_precision="ieee")
        top = new
    total1 = tl.where(total == 0.0, 1.0, total)
    result = acc / total1[None, :]
    tl.store(out + batch * o0 + head * o1 + row64[None, :] * o2 + dim[:, None], result.to(out.dtype.element_ty), mask=row[None, :] < n_q)
    tl.store(lse + z * n_q + row, top + tl.log(total1), mask=row < n_q)


def flash_attention(q, k, v, causal=False):
    _arguments(q, k, v)
    d = q.shape[3]
    d in (16, 32, 64, 128) or _refuse(f"q: width {d}")
    for name, t in zip("qkv", (q, k, v)):
        t.dtype in (torch.float16, torch.bfloat16, torch.float32) or _refuse(f"{name}: {t.dtype}")
        t.dtype == q.dtype or _refuse(f"{name}: {t.dtype} beside {q.dtype}")
        t.stride(3) == 1 or _refuse(f"{name}: last axis not contiguous")
        t.device == q.device or _refuse(f"{name}: another device")
    q, k, v = (t.detach() for t in (q, k, v))
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
    tile_q, tile_k = 32, 64
    grid = (q.shape[0] * q.shape[1], triton.cdiv(q.shape[2], tile_q))
    strides = [s for t in (q, k, v, out) for s in t.stride()[:3]]
    with torch.cuda.device_of(q):
        _columns[grid](q, k, v, out, lse, *strides, q.shape[1], q.shape[2], k.shape[2], d**-0.5, causal=bool(causal), D=d, M=tile_q, N=tile_k)
    return out, lse
