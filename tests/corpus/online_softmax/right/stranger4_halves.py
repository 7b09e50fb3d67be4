# right: The kernel works on the width in two halves.
"""The kernel works on the width in two halves."""

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


def _ready(q, k, v):
    for name, t in (("q", q), ("k", k), ("v", v)):
        if t.ndim != 4 or min(t.shape) < 1:
            raise ValueError(f"{name}: shape {tuple(t.shape)}")
        if t.dtype not in (torch.float16, torch.bfloat16, torch.float32) or t.dtype != q.dtype:
            raise ValueError(f"{name}: dtype {t.dtype}")
        if t.stride(3) != 1:
            raise ValueError(f"{name}: last axis not contiguous")
        if t.device != q.device:
            raise ValueError(f"{name}: on {t.device}")
    if q.shape[3] not in (16, 32, 64, 128):
        raise ValueError(f"q: width {q.shape[3]}")
    if k.shape[:2] != q.shape[:2] or k.shape[3] != q.shape[3]:
        raise ValueError(f"k: shape {tuple(k.shape)} for q {tuple(q.shape)}")
    if v.shape != k.shape:
        raise ValueError(f"v: shape {tuple(v.shape)} for k {tuple(k.shape)}")
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
    strides = [s for t in (q, k, v, out) for s in t.stride()[:3]]
    return q.detach(), k.detach(), v.detach(), out, lse, strides


@triton.jit
def _halves(q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, qb, qh, qt, kb, kh, kt, vb, vh, vt, ob, oh, ot, H, T_q, T_k, scale, CAUSAL: tl.constexpr, D: tl.constexpr, C: tl.constexpr, TWO: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    # the width is worked on in chunks of C; TWO says that there is a second one
    bh = tl.program_id(1).to(tl.int64) + tl.program_id(2).to(tl.int64) * H
    b, h = bh // H, bh % H
    first = tl.program_id(0) * M
    i = first + tl.arange(0, M)
    c = tl.arange(0, C)
    in_q = i[:, None] < T_q
    at_q = q_ptr + b * qb + h * qh + i.to(tl.int64)[:, None] * qt + c[None, :]
    q0 = tl.load(at_q, mask=in_q, other=0.0)
    acc0 = tl.zeros([M, C], tl.float32)
    if TWO:
        q1 = tl.load(at_q + C, mask=in_q, other=0.0)
        acc1 = tl.zeros([M, C], tl.float32)
    m = tl.full([M], float("-inf"), tl.float32)
    l = tl.zeros([M], tl.float32)
    end = T_k
    if CAUSAL:
        end = tl.minimum(T_k, first + M + T_k - T_q)
    for start in range(0, end, N):
        j = start + tl.arange(0, N)
        in_k = j[:, None] < T_k
        at_k = k_ptr + b * kb + h * kh + j.to(tl.int64)[:, None] * kt + c[None, :]
        at_v = v_ptr + b * vb + h * vh + j.to(tl.int64)[:, None] * vt + c[None, :]
        s = tl.dot(q0, tl.trans(tl.load(at_k, mask=in_k, other=0.0)), input_precision="ieee")
        if TWO:
            s += tl.dot(q1, tl.trans(tl.load(at_k + C, mask=in_k, other=0.0)), input_precision="ieee")
        s = s * scale + tl.where(j < T_k, 0.0, float("-inf"))[None, :]
        if CAUSAL:
            s = s + tl.where(j[None, :] > i[:, None] + (T_k - T_q), float("-inf"), 0.0)
        new = tl.maximum(m, tl.max(s, 1))
        ref = tl.where(new == float("-inf"), 0.0, new)
        p = tl.exp2(s - ref[:, None])
        alpha = tl.exp2(m - ref)
        l = l * alpha + tl.sum(p, 1)
        m = new
        p = p.to(v_ptr.dtype.element_ty)
        acc0 = acc0 * alpha[:, None] + tl.dot(p, tl.load(at_v, mask=in_k, other=0.0), input_precision="ieee")
        if TWO:
            acc1 = acc1 * alpha[:, None] + tl.dot(p, tl.load(at_v + C, mask=in_k, other=0.0), input_precision="ieee")
    inv = 1.0 / tl.where(l == 0.0, 1.0, l)
    at_o = o_ptr + b * ob + h * oh + i.to(tl.int64)[:, None] * ot + c[None, :]
    tl.store(at_o, (acc0 * inv[:, None]).to(o_ptr.dtype.element_ty), mask=in_q)
    if TWO:
        tl.store(at_o + C, (acc1 * inv[:, None]).to(o_ptr.dtype.element_ty), mask=in_q)
    tl.store(lse_ptr + bh * T_q + i, m * 0.6931471805599453 - tl.log(inv), mask=i < T_q)


def flash_attention(q, k, v, causal=False):
    q, k, v, out, lse, strides = _ready(q, k, v)
    B, H, T_q, D = q.shape
    chunk = max(16, D // 2)
    with torch.cuda.device_of(q):
        _halves[(triton.cdiv(T_q, 64), H, B)](
            q, k, v, out, lse, *strides, H, T_q, k.shape[2], D**-0.5 * 1.4426950408889634, CAUSAL=bool(causal), D=D, C=chunk, TWO=D > 16, M=64, N=32, num_stages=1
        )
    return out, lse
