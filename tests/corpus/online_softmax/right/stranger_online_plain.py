import math

import torch
import triton
import triton.language as tl


def merge_states(a, b):
    m_a, l_a, o_a = a
    m_b, l_b, o_b = b
    for name, (m, l, o) in (("a", a), ("b", b)):
        if m.shape != l.shape or o.dim() != m.dim() + 1 or o.shape[:-1] != m.shape:
            raise ValueError(f"{name}: m {tuple(m.shape)}, l {tuple(l.shape)}, o {tuple(o.shape)} don't belong together")
    if o_a.shape != o_b.shape:
        raise ValueError(f"a and b have different shapes: {tuple(o_a.shape)}, {tuple(o_b.shape)}")
    dtype = o_a.dtype
    wide = torch.promote_types(dtype, torch.float32)
    m_a, l_a, o_a, m_b, l_b, o_b = (t.to(wide) for t in (m_a, l_a, o_a, m_b, l_b, o_b))
    m = torch.maximum(m_a, m_b)
    safe = torch.where(m == -math.inf, torch.zeros_like(m), m)
    w_a, w_b = torch.exp(m_a - safe), torch.exp(m_b - safe)
    l = l_a * w_a + l_b * w_b
    o = o_a * w_a.unsqueeze(-1) + o_b * w_b.unsqueeze(-1)
    return m.to(dtype), l.to(dtype), o.to(dtype)


def _refuse(q, k, v):
    for name, t in (("q", q), ("k", k), ("v", v)):
        if t.dim() != 4:
            raise ValueError(f"{name} must have rank 4, got shape {tuple(t.shape)}")
        if 0 in t.shape:
            raise ValueError(f"{name} has a size of 0: {tuple(t.shape)}")
        if t.dtype != q.dtype:
            raise ValueError(f"{name} is {t.dtype}, q is {q.dtype}")
    if k.shape != v.shape:
        raise ValueError(f"k {tuple(k.shape)} and v {tuple(v.shape)} must have one shape")
    if q.shape[:2] != k.shape[:2] or q.shape[3] != k.shape[3]:
        raise ValueError(f"q {tuple(q.shape)} doesn't fit k {tuple(k.shape)}")


def blockwise_attention(q, k, v, block_size, causal=False):
    _refuse(q, k, v)
    if block_size < 1:
        raise ValueError(f"block_size must be at least 1, got {block_size}")
    t_q, t_k, dh = q.shape[2], k.shape[2], q.shape[3]
    wide = torch.promote_types(q.dtype, torch.float32)
    qs = q.to(wide) * dh**-0.5
    m = torch.full(q.shape[:3], -math.inf, dtype=wide, device=q.device)
    l = torch.zeros_like(m)
    o = torch.zeros_like(qs)
    rows = torch.arange(t_q, device=q.device)[:, None] + (t_k - t_q)
    for start in range(0, t_k, block_size):
        stop = min(start + block_size, t_k)
        kb, vb = k[:, :, start:stop].to(wide), v[:, :, start:stop].to(wide)
        s = qs @ kb.transpose(-1, -2)
        if causal:
            s = s.masked_fill(torch.arange(start, stop, device=q.device) > rows, -math.inf)
        m_new = torch.maximum(m, s.detach().amax(-1))
        safe = torch.where(m_new == -math.inf, torch.zeros_like(m_new), m_new)
        p = torch.exp(s - safe[..., None])
        alpha = torch.exp(m - safe)
        l = l * alpha + p.sum(-1)
        o = o * alpha[..., None] + p @ vb
        m = m_new
    some = l > 0
    l_safe = torch.where(some, l, torch.ones_like(l))
    lse = torch.where(some, m + torch.log(l_safe), torch.full_like(l, -math.inf))
    return (o / l_safe[..., None]).to(q.dtype), lse.to(torch.float32)


def _refuse_flash(q, k, v):
    _refuse(q, k, v)
    if q.shape[3] not in (16, 32, 64, 128):
        raise ValueError(f"q: Dh = {q.shape[3]} is none of 16, 32, 64, 128")
    if q.dtype not in (torch.float16, torch.bfloat16, torch.float32):
        raise ValueError(f"q: dtype {q.dtype} isn't supported")
    for name, t in (("q", q), ("k", k), ("v", v)):
        if t.stride(3) != 1:
            raise ValueError(f"{name}: the last axis must be contiguous")
        if t.device != q.device:
            raise ValueError(f"{name} is on {t.device}, q on {q.device}")


@triton.jit
def _flash_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr,
    sqb, sqh, sqt, skb, skh, skt, svb, svh, svt, sob, soh, sot,
    H, T_q, T_k, scale,
    CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    tiles = tl.cdiv(T_q, BLOCK_M)
    pid = tl.program_id(0)
    bh = (pid // tiles).to(tl.int64)
    b, h = bh // H, bh % H
    rows = (pid % tiles) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    row_ok = rows < T_q
    q = tl.load(q_ptr + b * sqb + h * sqh + rows.to(tl.int64)[:, None] * sqt + d[None, :], mask=row_ok[:, None], other=0.0)
    k_base = k_ptr + b * skb + h * skh
    v_base = v_ptr + b * svb + h * svh
    m = tl.full([BLOCK_M], float("-inf"), tl.float32)
    l = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    end = T_k
    if CAUSAL:
        end = tl.minimum(T_k, (pid % tiles + 1) * BLOCK_M + T_k - T_q)
    for start in range(0, end, BLOCK_N):
        j = start + cols
        j_ok = j < T_k
        k = tl.load(k_base + j.to(tl.int64)[:, None] * skt + d[None, :], mask=j_ok[:, None], other=0.0)
        v = tl.load(v_base + j.to(tl.int64)[:, None] * svt + d[None, :], mask=j_ok[:, None], other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        visible = j_ok[None, :]
        if CAUSAL:
            visible = visible & (j[None, :] <= rows[:, None] + (T_k - T_q))
        s = tl.where(visible, s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, 1))
        safe = tl.where(m_new == float("-inf"), 0.0, m_new)
        alpha = tl.exp(m - safe)
        p = tl.exp(s - safe[:, None])
        l = l * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        m = m_new
    some = l > 0
    l_safe = tl.where(some, l, 1.0)
    lse = tl.where(some, m + tl.log(l_safe), float("-inf"))
    out = acc / l_safe[:, None]
    tl.store(out_ptr + b * sob + h * soh + rows.to(tl.int64)[:, None] * sot + d[None, :], out.to(out_ptr.dtype.element_ty), mask=row_ok[:, None])
    tl.store(lse_ptr + bh * T_q + rows, lse, mask=row_ok)


def flash_attention(q, k, v, causal=False):
    _refuse_flash(q, k, v)
    B, H, T_q, D = q.shape
    T_k = k.shape[2]
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty((B, H, T_q), dtype=torch.float32, device=q.device)
    block_m, block_n = 64, 32 if q.dtype == torch.float32 else 64
    _flash_kernel[(triton.cdiv(T_q, block_m) * B * H,)](
        q, k, v, out, lse,
        *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *out.stride()[:3],
        H, T_q, T_k, D**-0.5,
        CAUSAL=bool(causal), D=D, BLOCK_M=block_m, BLOCK_N=block_n, num_warps=4, num_stages=2,
    )
    return out, lse
