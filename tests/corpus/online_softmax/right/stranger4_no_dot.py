# right: A kernel without tl.dot: products are written as a broadcast and a sum.
"""A kernel without tl.dot: products are written as a broadcast and a sum."""

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


@triton.jit
def _plain(Q, K, V, O, L, qb, qh, qt, kb, kh, kt, vb, vh, vt, ob, oh, ot, H, T_q, T_k, scale,
           CAUSAL: tl.constexpr, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    bh = tl.program_id(0).to(tl.int64)
    b = bh // H
    h = bh - b * H
    i = tl.program_id(1) * M + tl.arange(0, M)
    d = tl.arange(0, D)
    q = tl.load(Q + b * qb + h * qh + i.to(tl.int64)[:, None] * qt + d[None, :], mask=(i < T_q)[:, None], other=0.0).to(tl.float32) * scale
    m = tl.full((M,), float("-inf"), tl.float32)
    l = tl.zeros((M,), tl.float32)
    o = tl.zeros((M, D), tl.float32)
    end = T_k
    if CAUSAL:
        end = tl.minimum(T_k, tl.program_id(1) * M + M + T_k - T_q)
    for j0 in range(0, end, N):
        j = j0 + tl.arange(0, N)
        k = tl.load(K + b * kb + h * kh + j.to(tl.int64)[:, None] * kt + d[None, :], mask=(j < T_k)[:, None], other=0.0).to(tl.float32)
        v = tl.load(V + b * vb + h * vh + j.to(tl.int64)[:, None] * vt + d[None, :], mask=(j < T_k)[:, None], other=0.0).to(tl.float32)
        s = tl.sum(q[:, None, :] * k[None, :, :], 2)
        see = (j < T_k)[None, :]
        if CAUSAL:
            see = see & (j[None, :] - i[:, None] <= T_k - T_q)
        s = tl.where(see, s, float("-inf"))
        new = tl.maximum(m, tl.max(s, 1))
        z = tl.where(new == float("-inf"), 0.0, new)
        e = tl.exp(s - z[:, None])
        fade = tl.exp(m - z)
        l = l * fade + tl.sum(e, 1)
        o = o * fade[:, None] + tl.sum(e[:, :, None] * v[None, :, :], 1)
        m = new
    one = tl.where(l > 0.0, l, 1.0)
    tl.store(O + b * ob + h * oh + i.to(tl.int64)[:, None] * ot + d[None, :], (o / one[:, None]).to(O.dtype.element_ty), mask=(i < T_q)[:, None])
    tl.store(L + bh * T_q + i, m + tl.log(one), mask=i < T_q)


def flash_attention(q, k, v, causal=False):
    _inputs(q, k, v)
    _ok(q.shape[3] in (16, 32, 64, 128), "q must be 16, 32, 64 or 128 wide")
    _ok(q.dtype in (torch.float16, torch.bfloat16, torch.float32), "q has a dtype that isn't supported")
    _ok(k.dtype == q.dtype and v.dtype == q.dtype, "k and v must have the dtype of q")
    _ok(k.device == q.device and v.device == q.device, "k and v must be where q is")
    for name, t in {"q": q, "k": k, "v": v}.items():
        _ok(t.stride(3) == 1, f"{name} must have a contiguous last axis")
    q, k, v = q.detach(), k.detach(), v.detach()
    B, H, Tq, D = q.shape
    out = torch.empty((B, H, Tq, D), dtype=q.dtype, device=q.device)
    lse = torch.empty((B, H, Tq), dtype=torch.float32, device=q.device)
    with torch.cuda.device_of(q):
        _plain[(B * H, triton.cdiv(Tq, 16))](
            q, k, v, out, lse, q.stride(0), q.stride(1), q.stride(2), k.stride(0), k.stride(1), k.stride(2),
            v.stride(0), v.stride(1), v.stride(2), out.stride(0), out.stride(1), out.stride(2),
            H, Tq, k.shape[2], D**-0.5, CAUSAL=bool(causal), D=D, M=16, N=16, num_warps=8,
        )
    return out, lse
