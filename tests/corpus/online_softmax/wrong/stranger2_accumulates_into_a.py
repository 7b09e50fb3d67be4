# mistake: merge_states accumulates into a: for float32 and float64 states l_a and o_a of the caller are overwritten (through .data, so their gradient is lost too)
# names: merge-accumulates-into-a
import math

import torch
import triton
import triton.language as tl


def merge_states(a, b):
    m_a, l_a, o_a = a
    m_b, l_b, o_b = b
    if m_a.shape != l_a.shape or m_a.shape != o_a.shape[:-1] or o_a.dim() == 0:
        raise ValueError("a is not a proper state")
    if m_b.shape != l_b.shape or m_b.shape != o_b.shape[:-1] or o_b.dim() == 0:
        raise ValueError("b is not a proper state")
    if o_a.shape != o_b.shape:
        raise ValueError("a and b have different shapes")
    dtype = o_a.dtype
    if dtype in (torch.float16, torch.bfloat16):
        m_a, l_a, o_a = m_a.float(), l_a.float(), o_a.float()
        m_b, l_b, o_b = m_b.float(), l_b.float(), o_b.float()
    m = torch.maximum(m_a, m_b)
    # -inf minus -inf would be nan, so a zero stands in for an empty maximum
    m_safe = torch.where(m == float("-inf"), torch.zeros_like(m), m)
    scale_a = torch.exp(m_a - m_safe)
    scale_b = torch.exp(m_b - m_safe)
    l = l_a.data.mul_(scale_a) + l_b * scale_b
    o = o_a.data.mul_(scale_a[..., None]) + o_b * scale_b[..., None]
    return m.to(dtype), l.to(dtype), o.to(dtype)


def check_inputs(q, k, v):
    if q.dim() != 4:
        raise ValueError("q must be 4-dimensional")
    if k.dim() != 4:
        raise ValueError("k must be 4-dimensional")
    if v.dim() != 4:
        raise ValueError("v must be 4-dimensional")
    if q.shape[0] != k.shape[0] or q.shape[1] != k.shape[1] or q.shape[3] != k.shape[3]:
        raise ValueError("q and k do not fit")
    if k.shape != v.shape:
        raise ValueError("k and v do not fit")
    if q.dtype != k.dtype or q.dtype != v.dtype:
        raise ValueError("q, k, v must have one dtype")


def blockwise_attention(q, k, v, block_size, causal=False):
    check_inputs(q, k, v)
    if block_size < 1:
        raise ValueError("block_size must be >= 1")
    B, H, T_q, Dh = q.shape
    T_k = k.shape[2]
    work = torch.float64 if q.dtype == torch.float64 else torch.float32
    qf = q.to(work)
    m = torch.full((B, H, T_q), float("-inf"), dtype=work, device=q.device)
    l = torch.zeros((B, H, T_q), dtype=work, device=q.device)
    o = torch.zeros((B, H, T_q, Dh), dtype=work, device=q.device)
    for start in range(0, T_k, block_size):
        end = min(start + block_size, T_k)
        kb = k[:, :, start:end].to(work)
        vb = v[:, :, start:end].to(work)
        s = qf @ kb.transpose(-2, -1) / math.sqrt(Dh)
        if causal:
            i = torch.arange(T_q, device=q.device)[:, None]
            j = torch.arange(start, end, device=q.device)[None, :]
            s = s.masked_fill(j > i + (T_k - T_q), float("-inf"))
        m_new = torch.maximum(m, s.amax(dim=-1))
        m_safe = torch.where(m_new == float("-inf"), torch.zeros_like(m_new), m_new)
        p = torch.exp(s - m_safe[..., None])
        alpha = torch.exp(m - m_safe)
        l = l * alpha + p.sum(dim=-1)
        o = o * alpha[..., None] + p @ vb
        m = m_new
    l_safe = torch.where(l == 0, torch.ones_like(l), l)
    out = o / l_safe[..., None]
    lse = m + torch.log(l_safe)
    return out.to(q.dtype), lse.float()


@triton.jit
def _flash_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr,
    stride_qb, stride_qh, stride_qt,
    stride_kb, stride_kh, stride_kt,
    stride_vb, stride_vh, stride_vt,
    stride_ob, stride_oh, stride_ot,
    H, T_q, T_k, scale,
    IS_CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    pid_m = tl.program_id(0)
    pid_bh = tl.program_id(1)
    b = (pid_bh // H).to(tl.int64)
    h = (pid_bh % H).to(tl.int64)
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, D)
    q_ptrs = q_ptr + b * stride_qb + h * stride_qh + offs_m[:, None] * stride_qt + offs_d[None, :]
    k_ptrs = k_ptr + b * stride_kb + h * stride_kh + offs_n[:, None] * stride_kt + offs_d[None, :]
    v_ptrs = v_ptr + b * stride_vb + h * stride_vh + offs_n[:, None] * stride_vt + offs_d[None, :]
    q = tl.load(q_ptrs, mask=offs_m[:, None] < T_q, other=0.0)
    m_i = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    end = T_k
    if IS_CAUSAL:
        # the last query of this tile sees nothing after this key
        end = tl.minimum(T_k, (pid_m + 1) * BLOCK_M + T_k - T_q)
    for start in range(0, end, BLOCK_N):
        n = start + offs_n
        k = tl.load(k_ptrs + start * stride_kt, mask=n[:, None] < T_k, other=0.0)
        v = tl.load(v_ptrs + start * stride_vt, mask=n[:, None] < T_k, other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        ok = n[None, :] < T_k
        if IS_CAUSAL:
            ok = ok & (n[None, :] <= offs_m[:, None] + (T_k - T_q))
        s = tl.where(ok, s, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, 1))
        m_safe = tl.where(m_new == float("-inf"), 0.0, m_new)
        p = tl.exp(s - m_safe[:, None])
        alpha = tl.exp(m_i - m_safe)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        m_i = m_new
    l_safe = tl.where(l_i == 0.0, 1.0, l_i)
    acc = acc / l_safe[:, None]
    lse = m_i + tl.log(l_safe)
    out_ptrs = out_ptr + b * stride_ob + h * stride_oh + offs_m[:, None] * stride_ot + offs_d[None, :]
    tl.store(out_ptrs, acc.to(out_ptr.dtype.element_ty), mask=offs_m[:, None] < T_q)
    tl.store(lse_ptr + pid_bh.to(tl.int64) * T_q + offs_m, lse, mask=offs_m < T_q)


def flash_attention(q, k, v, causal=False):
    check_inputs(q, k, v)
    B, H, T_q, Dh = q.shape
    T_k = k.shape[2]
    if Dh not in (16, 32, 64, 128):
        raise ValueError("q must have Dh of 16, 32, 64 or 128")
    if q.dtype not in (torch.float16, torch.bfloat16, torch.float32):
        raise ValueError("q must be float16, bfloat16 or float32")
    if q.stride(-1) != 1:
        raise ValueError("q must be contiguous in the last axis")
    if k.stride(-1) != 1:
        raise ValueError("k must be contiguous in the last axis")
    if v.stride(-1) != 1:
        raise ValueError("v must be contiguous in the last axis")
    out = torch.empty((B, H, T_q, Dh), dtype=q.dtype, device=q.device)
    lse = torch.empty((B, H, T_q), dtype=torch.float32, device=q.device)
    BLOCK_M, BLOCK_N = 32, 16
    grid = (triton.cdiv(T_q, BLOCK_M), B * H)
    _flash_kernel[grid](
        q, k, v, out, lse,
        q.stride(0), q.stride(1), q.stride(2),
        k.stride(0), k.stride(1), k.stride(2),
        v.stride(0), v.stride(1), v.stride(2),
        out.stride(0), out.stride(1), out.stride(2),
        H, T_q, T_k, 1.0 / math.sqrt(Dh),
        IS_CAUSAL=causal, D=Dh, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N,
    )  # fmt: skip
    return out, lse
