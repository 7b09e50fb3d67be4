import math

import torch
import triton
import triton.language as tl


def merge_states(a, b):
    """Stack the two sides and reduce: works for any number of states."""
    shapes = [tuple(t.shape) for t in (*a, *b)]
    if shapes[:3] != shapes[3:]:
        raise ValueError(f"a and b don't fit: {shapes[:3]} against {shapes[3:]}")
    if shapes[0] != shapes[1] or len(shapes[2]) != len(shapes[0]) + 1 or shapes[2][:-1] != shapes[0]:
        raise ValueError(f"a: m, l and o don't fit: {shapes[:3]}")
    dtype = a[2].dtype
    work = torch.float64 if dtype == torch.float64 else torch.float32
    m, l, o = (torch.stack([x.to(work), y.to(work)]) for x, y in zip(a, b))
    top = m.amax(0)
    empty = torch.isinf(top)
    factor = torch.exp(m - torch.where(empty, 0.0, top))
    return (
        top.to(dtype),
        torch.einsum("s...,s...->...", factor, l).to(dtype),
        torch.einsum("s...,s...d->...d", factor, o).to(dtype),
    )


def _refuse(q, k, v):
    shapes = f"q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}"
    problem = None
    if {q.ndim, k.ndim, v.ndim} != {4}:
        problem = "rank 4 is needed"
    elif min(q.shape + k.shape + v.shape) < 1:
        problem = "no size may be 0"
    elif not (q.shape[0] == k.shape[0] == v.shape[0]):
        problem = "the batches differ"
    elif not (q.shape[1] == k.shape[1] == v.shape[1]):
        problem = "the heads differ"
    elif k.shape[2] != v.shape[2]:
        problem = "the key lengths differ"
    elif not (q.shape[3] == k.shape[3] == v.shape[3]):
        problem = "the widths differ"
    elif not (q.dtype == k.dtype == v.dtype):
        problem = f"the dtypes differ, {q.dtype}, {k.dtype}, {v.dtype}"
    if problem:
        raise ValueError(f"{problem}: {shapes}")


class _Accumulator:
    """Running maximum, sum and output of some queries, updated in place on tensors of its own."""

    def __init__(self, q, dtype):
        self.q = q.to(dtype) * (1.0 / math.sqrt(q.shape[-1]))
        self.top = torch.full(q.shape[:-1] + (1,), float("-inf"), dtype=dtype, device=q.device)
        self.total = torch.zeros_like(self.top)
        self.mixed = torch.zeros(q.shape, dtype=dtype, device=q.device)

    def add(self, k, v, hidden=None):
        s = torch.matmul(self.q, k.transpose(-1, -2))
        if hidden is not None:
            s = s.masked_fill(hidden, float("-inf"))
        top = torch.maximum(self.top, s.detach().amax(dim=-1, keepdim=True))
        anchor = torch.nan_to_num(top, neginf=0.0)
        shrink = torch.exp(self.top - anchor)
        p = torch.exp(s - anchor)
        self.total.mul_(shrink).add_(p.sum(dim=-1, keepdim=True))
        self.mixed.mul_(shrink).add_(torch.matmul(p, v))
        self.top = top

    def result(self):
        empty = self.total == 0
        total = self.total.masked_fill(empty, 1.0)
        lse = torch.nan_to_num(self.top, neginf=0.0) + torch.log(total)
        return self.mixed / total, lse.masked_fill(empty, float("-inf")).squeeze(-1)


def blockwise_attention(q, k, v, block_size, causal=False):
    _refuse(q, k, v)
    if block_size < 1:
        raise ValueError("block_size must be a positive number of keys")
    dtype = torch.promote_types(q.dtype, torch.float32)
    acc = _Accumulator(q, dtype)
    shift = k.shape[2] - q.shape[2]
    i = torch.arange(q.shape[2], device=q.device).reshape(-1, 1)
    start = 0
    while start < k.shape[2]:
        block = slice(start, start + block_size)
        k_b, v_b = k[:, :, block].to(dtype), v[:, :, block].to(dtype)
        j = torch.arange(start, start + k_b.shape[2], device=q.device)
        acc.add(k_b, v_b, j - shift > i if causal else None)
        start += block_size
    out, lse = acc.result()
    return out.to(q.dtype), lse.to(torch.float32)


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
