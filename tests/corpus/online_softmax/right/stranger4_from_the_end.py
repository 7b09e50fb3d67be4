# right: Last tile of keys first, a finite fill with weights zeroed by hand, tile sizes from @triton.heuristics; two sweeps in PyTorch.
"""Last tile of keys first, a finite fill with weights zeroed by hand, tile sizes from @triton.heuristics; two sweeps in PyTorch."""

import math

import torch
import triton
import triton.language as tl


def merge_states(a, b):
    (m, l, o), (n, r, p) = a, b
    for name, (x, y, z) in {"a": a, "b": b}.items():
        if x.shape != y.shape or not z.dim() or z.shape[:-1] != x.shape:
            raise ValueError(f"{name} isn't a softmax state")
    if o.shape != p.shape:
        raise ValueError("a and b aren't states of the same queries")
    types = m.dtype, l.dtype, o.dtype
    m, l, o, n, r, p = (t.to(torch.promote_types(t.dtype, torch.float32)) for t in (m, l, o, n, r, p))
    none_a, none_b = m == -math.inf, n == -math.inf
    # an absent maximum is replaced by the present one, so that no infinity is ever subtracted
    m_, n_ = torch.where(none_a, n, m), torch.where(none_b, m, n)
    m_, n_ = (torch.where(none_a & none_b, 0.0, t) for t in (m_, n_))
    gap = m_ - n_
    up = torch.exp(gap.clamp(max=0))
    down = torch.exp(-gap.clamp(min=0))
    left = torch.where(none_a, 0.0, up)
    right = torch.where(none_b, 0.0, down)
    top = torch.where(none_a & none_b, -math.inf, torch.maximum(m_, n_))
    return top.to(types[0]), (l * left + r * right).to(types[1]), (o * left[..., None] + p * right[..., None]).to(types[2])


def blockwise_attention(q, k, v, block_size, causal=False):
    if q.dim() != 4 or not q.numel():
        raise ValueError("q isn't (B, H, T_q, Dh)")
    if k.dim() != 4 or not k.numel() or q.shape[:2] != k.shape[:2] or q.shape[3] != k.shape[3]:
        raise ValueError("k isn't (B, H, T_k, Dh)")
    if v.shape != k.shape:
        raise ValueError("v isn't (B, H, T_k, Dh)")
    if block_size < 1:
        raise ValueError("block_size is below 1")
    n_q, n_k, d = q.shape[2], k.shape[2], q.shape[3]
    skip = max(n_q - n_k, 0) if causal else 0
    wide = torch.promote_types(q.dtype, torch.float32)
    x = q[:, :, skip:].to(wide) / math.sqrt(d)
    position = torch.arange(skip, n_q, device=q.device) + n_k - n_q

    def scores(j):
        s = torch.matmul(x, k[:, :, j : j + block_size].to(wide).transpose(2, 3))
        if causal:
            keys = torch.arange(j, min(j + block_size, n_k), device=q.device)
            s = s.masked_fill(keys[None, :] > position[:, None], -1e300 if wide == torch.float64 else -1e38)
        return s

    lse = None
    for j in range(0, n_k, block_size):
        part = scores(j).logsumexp(-1)
        lse = part if lse is None else torch.logaddexp(lse, part)
    out = total = 0
    for j in range(0, n_k, block_size):
        e = torch.exp(scores(j) - lse.detach()[..., None])
        out, total = out + e @ v[:, :, j : j + block_size].to(wide), total + e.sum(-1, keepdim=True)
    out = out / total
    if skip:
        out = torch.cat([out.new_zeros(*q.shape[:2], skip, d), out], 2)
        lse = torch.cat([lse.new_full((*q.shape[:2], skip), -math.inf), lse], 2)
    return out.to(q.dtype), lse.to(torch.float32)


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


@triton.heuristics({
    "M": lambda a: 16 if a["T_q"] <= 16 else 64,
    "N": lambda a: 16 if a["D"] == 128 else 32,
})
@triton.jit
def _from_the_end(q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, qb, qh, qt, kb, kh, kt, vb, vh, vt, ob, oh, ot, H, T_q, T_k, scale, CAUSAL: tl.constexpr, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    bh = tl.program_id(0).to(tl.int64)
    b, h = bh // H, bh % H
    i = tl.program_id(1) * M + tl.arange(0, M)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + b * qb + h * qh + i.to(tl.int64)[:, None] * qt + d[None, :], mask=i[:, None] < T_q, other=0.0)
    end = T_k
    if CAUSAL:
        end = tl.minimum(T_k, tl.program_id(1) * M + M + T_k - T_q)
    tiles = tl.cdiv(tl.maximum(end, 0), N)
    m = tl.full([M], -1.0e30, tl.float32)
    l = tl.zeros([M], tl.float32)
    acc = tl.zeros([M, D], tl.float32)
    for step in range(0, tiles):
        j = (tiles - 1 - step) * N + tl.arange(0, N)
        k = tl.load(k_ptr + b * kb + h * kh + j.to(tl.int64)[:, None] * kt + d[None, :], mask=j[:, None] < T_k, other=0.0)
        v = tl.load(v_ptr + b * vb + h * vh + j.to(tl.int64)[:, None] * vt + d[None, :], mask=j[:, None] < T_k, other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        ok = (j[None, :] < T_k) & (i[:, None] < T_q)
        if CAUSAL:
            ok = ok & (j[None, :] <= i[:, None] + (T_k - T_q))
        m_new = tl.maximum(m, tl.max(tl.where(ok, s, -1.0e30), 1))
        p = tl.where(ok, tl.exp(tl.minimum(s - m_new[:, None], 0.0)), 0.0)
        alpha = tl.exp(m - m_new)
        l = l * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        acc += tl.dot(p.to(v.dtype), v, input_precision="ieee")
        m = m_new
    seen = l > 0.0
    l = tl.where(seen, l, 1.0)
    acc = tl.where(seen[:, None], acc / l[:, None], 0.0)
    tl.store(o_ptr + b * ob + h * oh + i.to(tl.int64)[:, None] * ot + d[None, :], acc.to(o_ptr.dtype.element_ty), mask=i[:, None] < T_q)
    tl.store(lse_ptr + bh * T_q + i, tl.where(seen, m + tl.log(l), float("-inf")), mask=i < T_q)


def flash_attention(q, k, v, causal=False):
    q, k, v, out, lse, strides = _ready(q, k, v)
    with torch.cuda.device_of(q):
        _from_the_end[lambda meta: (q.shape[0] * q.shape[1], triton.cdiv(q.shape[2], meta["M"]))](
            q, k, v, out, lse, *strides, q.shape[1], q.shape[2], k.shape[2], q.shape[3] ** -0.5, CAUSAL=bool(causal), D=q.shape[3]
        )
    return out, lse
