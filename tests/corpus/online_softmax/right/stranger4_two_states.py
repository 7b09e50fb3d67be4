# right: Two states in one program, merged at the end.
"""Two states in one program, merged at the end."""

import torch
import triton
import triton.language as tl

INF = float("inf")


def _ok(condition, message):
    if not condition:
        raise ValueError(message)


def merge_states(a, b):
    m_a, l_a, o_a = a
    m_b, l_b, o_b = b
    _ok(l_a.shape == m_a.shape and o_a.shape[:-1] == m_a.shape and o_a.dim() > 0, "a: l and o must fit m")
    _ok(l_b.shape == m_b.shape and o_b.shape[:-1] == m_b.shape and o_b.dim() > 0, "b: l and o must fit m")
    _ok(o_a.shape == o_b.shape, "a and b must have the same shape")
    acc = torch.promote_types(o_a.dtype, torch.float32)
    # one table: l as a further column of o
    t_a = torch.cat([o_a.to(acc), l_a.to(acc)[..., None]], -1)
    t_b = torch.cat([o_b.to(acc), l_b.to(acc)[..., None]], -1)
    m = torch.maximum(m_a.to(acc), m_b.to(acc))
    z = torch.where(m > -INF, m, torch.zeros((), dtype=acc, device=m.device))
    t = t_a * (m_a.to(acc) - z).exp()[..., None] + t_b * (m_b.to(acc) - z).exp()[..., None]
    return m.to(m_a.dtype), t[..., -1].clone().to(l_a.dtype), t[..., :-1].clone().to(o_a.dtype)


def _inputs(q, k, v):
    _ok(q.dim() == 4, "q must have rank 4")
    _ok(k.dim() == 4, "k must have rank 4")
    _ok(v.dim() == 4, "v must have rank 4")
    _ok(q.numel() > 0, "q must not be empty")
    _ok(k.numel() > 0, "k must not be empty")
    _ok(q.shape[0] == k.shape[0], "k must have the batch of q")
    _ok(q.shape[1] == k.shape[1], "k must have the heads of q")
    _ok(q.shape[3] == k.shape[3], "k must have the width of q")
    _ok(v.shape == k.shape, "v must have the shape of k")


def blockwise_attention(q, k, v, block_size, causal=False):
    _inputs(q, k, v)
    _ok(block_size >= 1, "block_size must be 1 or more")
    B, H, Tq, D = q.shape
    Tk = k.shape[2]
    acc = torch.promote_types(q.dtype, torch.float32)
    outs, lses = [], []
    # heads one at a time, to hold even less at once
    for b in range(B):
        for h in range(H):
            x = q[b, h].to(acc)
            m = x.new_full((Tq,), -INF)
            l = x.new_zeros(Tq)
            o = x.new_zeros(Tq, D)
            for j0 in range(0, Tk, block_size):
                j1 = min(Tk, j0 + block_size)
                s = (x @ k[b, h, j0:j1].to(acc).t()) / D**0.5
                if causal:
                    visible = torch.arange(j0, j1, device=q.device)[None] <= torch.arange(Tq, device=q.device)[:, None] + Tk - Tq
                    s = torch.where(visible, s, torch.full_like(s, -INF))
                new = torch.maximum(m, s.detach().amax(1))
                z = torch.where(new > -INF, new, torch.zeros_like(new))
                e = torch.exp(s - z[:, None])
                fade = torch.exp(m - z)
                l = l * fade + e.sum(1)
                o = o * fade[:, None] + e @ v[b, h, j0:j1].to(acc)
                m = new
            l1 = torch.where(l > 0, l, torch.ones_like(l))
            outs.append((o / l1[:, None]).to(q.dtype))
            lses.append((m + torch.log(l1)).float())
    return torch.stack(outs).reshape(B, H, Tq, D), torch.stack(lses).reshape(B, H, Tq)


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
def _tile(k_ptr, v_ptr, kt, vt, q, i, start, stop, T_k, shift, scale, CAUSAL: tl.constexpr, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    """The state (m, l, o) of the keys start .. stop - 1."""
    d = tl.arange(0, D)
    m = tl.full([M], float("-inf"), tl.float32)
    l = tl.zeros([M], tl.float32)
    o = tl.zeros([M, D], tl.float32)
    for first in range(start, stop, N):
        j = first + tl.arange(0, N)
        inside = (j < T_k) & (j < stop)
        k = tl.load(k_ptr + j.to(tl.int64)[:, None] * kt + d[None, :], mask=inside[:, None], other=0.0)
        v = tl.load(v_ptr + j.to(tl.int64)[:, None] * vt + d[None, :], mask=inside[:, None], other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        ok = inside[None, :]
        if CAUSAL:
            ok = ok & (j[None, :] <= i[:, None] + shift)
        s = tl.where(ok, s, float("-inf"))
        new = tl.maximum(m, tl.max(s, 1))
        ref = tl.where(new == float("-inf"), 0.0, new)
        p = tl.exp(s - ref[:, None])
        w = tl.exp(m - ref)
        l = l * w + tl.sum(p, 1)
        o = o * w[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        m = new
    return m, l, o


@triton.jit
def _two_states(q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, qb, qh, qt, kb, kh, kt, vb, vh, vt, ob, oh, ot, H, T_q, T_k, scale, CAUSAL: tl.constexpr, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    bh = tl.program_id(0).to(tl.int64)
    b, h = bh // H, bh % H
    i = tl.program_id(1) * M + tl.arange(0, M)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + b * qb + h * qh + i.to(tl.int64)[:, None] * qt + d[None, :], mask=i[:, None] < T_q, other=0.0)
    end = T_k
    if CAUSAL:
        end = tl.minimum(T_k, tl.program_id(1) * M + M + T_k - T_q)
    end = tl.maximum(end, 0)
    half = end // 2
    k0 = k_ptr + b * kb + h * kh
    v0 = v_ptr + b * vb + h * vh
    m1, l1, o1 = _tile(k0, v0, kt, vt, q, i, 0, half, T_k, T_k - T_q, scale, CAUSAL, D, M, N)
    m2, l2, o2 = _tile(k0, v0, kt, vt, q, i, half, end, T_k, T_k - T_q, scale, CAUSAL, D, M, N)
    m = tl.maximum(m1, m2)
    ref = tl.where(m == float("-inf"), 0.0, m)
    w1 = tl.exp(m1 - ref)
    w2 = tl.exp(m2 - ref)
    l = l1 * w1 + l2 * w2
    acc = o1 * w1[:, None] + o2 * w2[:, None]
    safe = tl.where(l == 0.0, 1.0, l)
    acc = acc / safe[:, None]
    tl.store(o_ptr + b * ob + h * oh + i.to(tl.int64)[:, None] * ot + d[None, :], acc.to(o_ptr.dtype.element_ty), mask=i[:, None] < T_q)
    tl.store(lse_ptr + bh * T_q + i, m + tl.log(safe), mask=i < T_q)


def flash_attention(q, k, v, causal=False):
    q, k, v, out, lse, strides = _ready(q, k, v)
    with torch.cuda.device_of(q):
        _two_states[(q.shape[0] * q.shape[1], triton.cdiv(q.shape[2], 16))](
            q, k, v, out, lse, *strides, q.shape[1], q.shape[2], k.shape[2], q.shape[3] ** -0.5, CAUSAL=bool(causal), D=q.shape[3], M=16, N=64, num_warps=2, num_stages=2
        )
    return out, lse
