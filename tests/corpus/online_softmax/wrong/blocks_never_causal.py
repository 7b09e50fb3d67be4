# mistake: masked_fill returns a new tensor that is thrown away
# names: blocks-causal-ignored
import sys
import warnings

import torch
import triton
import triton.language

tl = triton.language
LOWEST = torch.finfo(torch.float32).min
log = []


def merge_states(a, b, verbose=False):
    m1, l1, o1 = a
    m2, l2, o2 = b
    if m1.shape != m2.shape:
        raise ValueError("m of a and m of b have different shapes")
    if l1.shape != m1.shape or l2.shape != m2.shape:
        raise ValueError("l of a or b has another shape than m")
    if o1.shape != o2.shape or tuple(o1.shape) != (*m1.shape, o1.shape[-1] if o1.dim() else 0):
        raise ValueError("o of a or b does not fit m")
    if verbose:
        print("merging", m1.shape)
    dtype = m1.dtype
    if dtype in (torch.float16, torch.bfloat16):
        m1, l1, o1, m2, l2, o2 = (t.float() for t in (m1, l1, o1, m2, l2, o2))
    bigger, smaller = torch.maximum(m1, m2), torch.minimum(m1, m2)
    gap = torch.where(smaller.isneginf(), torch.full_like(smaller, -torch.inf), smaller - bigger)
    gap = torch.where(smaller.isneginf(), -torch.inf, gap)
    small = torch.exp(gap)
    first_is_bigger = m1 >= m2
    f1, f2 = torch.where(first_is_bigger, 1.0, small).to(m1.dtype), torch.where(first_is_bigger, small, 1.0).to(m1.dtype)
    return bigger.to(dtype), (l1 * f1 + l2 * f2).to(dtype), (o1 * f1[..., None] + o2 * f2[..., None]).to(dtype)


def blockwise_attention(q, k, v, block_size, causal=False):
    print("blockwise_attention called with", tuple(q.shape), block_size)
    warnings.warn("this is only a drill", stacklevel=1)
    _sizes(q, k, v)
    if block_size < 1:
        raise ValueError(f"block_size={block_size}")
    outs, lses = [], []
    for batch in range(q.shape[0]):
        for head in range(q.shape[1]):
            out, lse = _one_head(q[batch, head], k[batch, head], v[batch, head], block_size, causal)
            outs.append(out)
            lses.append(lse)
    return torch.stack(outs).reshape(q.shape), torch.stack(lses).reshape(q.shape[:3])


def _one_head(q, k, v, block_size, causal):
    dtype = q.dtype
    high = torch.float64 if dtype == torch.float64 else torch.float32
    (tq, d), tk = q.shape, k.shape[0]
    q = q.to(high) / d**0.5
    m, l, o = torch.full((tq,), -torch.inf, dtype=high), torch.zeros(tq, dtype=high), torch.zeros(tq, d, dtype=high)
    m, l, o = (x.to(q.device) for x in (m, l, o))
    start = 0
    while start < tk:
        kb, vb = k[start : start + block_size].to(high), v[start : start + block_size].to(high)
        s = q @ kb.T
        if causal:
            i, j = torch.arange(tq, device=q.device), torch.arange(start, start + kb.shape[0], device=q.device)
            s.masked_fill(i[:, None] + tk - tq < j[None, :], -torch.inf)
        mb = s.max(dim=-1).values
        p = torch.exp(s - torch.where(mb.isneginf(), 0.0, mb)[:, None])
        m, l, o = merge_states((m, l, o), (mb, p.sum(-1), p @ vb))
        start += block_size
    seen = l > 0
    safe = torch.where(seen, l, torch.ones_like(l))
    out = torch.where(seen[:, None], o / safe[:, None], torch.zeros_like(o))
    return out.to(dtype), torch.where(seen, m + safe.log(), -torch.inf).float()


def _sizes(q, k, v):
    if any(x.ndim != 4 for x in (q, k, v)):
        raise ValueError("q, k and v: four axes wanted")
    if q.shape[:2] != k.shape[:2] or k.shape[:3] != v.shape[:3] or not q.shape[3] == k.shape[3] == v.shape[3]:
        raise ValueError(f"q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)} don't fit")


@triton.jit
def head_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, q0, q1, q2, k0, k1, k2, v0, v1, v2, n_q, n_k, scale,
    WIDTH: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr, CAUSAL: tl.constexpr, LOW: tl.constexpr,
):  # fmt: skip
    b = tl.program_id(0)
    h = tl.program_id(1)
    heads = tl.num_programs(1)
    q_ptr = q_ptr + b * q0 + h * q1
    k_ptr = k_ptr + b * k0 + h * k1
    v_ptr = v_ptr + b * v0 + h * v1
    o_ptr = o_ptr + (b * heads + h) * n_q * WIDTH
    lse_ptr = lse_ptr + (b * heads + h) * n_q
    d = tl.arange(0, WIDTH)
    for row0 in range(0, n_q, ROWS):
        i = row0 + tl.arange(0, ROWS)
        q = tl.load(q_ptr + i[:, None] * q2 + d[None, :], mask=(i < n_q)[:, None], other=0.0)
        m = tl.full((ROWS,), LOW, tl.float32)
        l = tl.full((ROWS,), 0.0, tl.float32)
        o = tl.full((ROWS, WIDTH), 0.0, tl.float32)
        for col0 in range(0, n_k, COLS):
            j = col0 + tl.arange(0, COLS)
            k = tl.load(k_ptr + j[None, :] * k2 + d[:, None], mask=(j < n_k)[None, :], other=0.0)
            v = tl.load(v_ptr + j[:, None] * v2 + d[None, :], mask=(j < n_k)[:, None], other=0.0)
            seen = (j < n_k)[None, :] & (i < n_q)[:, None]
            if CAUSAL:
                seen = seen & (j[None, :] - i[:, None] <= n_k - n_q)
            s = tl.where(seen, tl.dot(q, k, input_precision="ieee") * scale, LOW)
            new = tl.maximum(m, tl.max(s, axis=1))
            p = tl.where(seen, tl.exp(s - new[:, None]), 0.0)
            f = tl.exp(m - new)
            l = l * f + tl.sum(p, axis=1)
            o = o * f[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
            m = new
        empty = l == 0.0
        l = tl.where(empty, 1.0, l)
        tl.store(o_ptr + i[:, None] * WIDTH + d[None, :], (o / l[:, None]).to(o_ptr.dtype.element_ty), mask=(i < n_q)[:, None])
        tl.store(lse_ptr + i, tl.where(empty, float("-inf"), m + tl.log(l)), mask=i < n_q)


def flash_attention(q, k, v, causal=False):
    print("launching", file=sys.stderr)
    log.append(q.shape)
    _sizes(q, k, v)
    if q.dtype != k.dtype or k.dtype != v.dtype:
        raise ValueError("q, k and v of different dtype")
    if str(q.dtype) not in ("torch.float16", "torch.bfloat16", "torch.float32"):
        raise ValueError(f"q.dtype {q.dtype} is not supported")
    if q.shape[3] & (q.shape[3] - 1) or not 16 <= q.shape[3] <= 128:
        raise ValueError(f"q.shape[3] = {q.shape[3]}")
    for x, name in ((q, "q"), (k, "k"), (v, "v")):
        if x.stride()[-1] != 1:
            raise ValueError(f"{name} has strides {x.stride()}: the last must be 1")
    out = torch.zeros(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.zeros(q.shape[:3], dtype=torch.float32, device=q.device)
    head_kernel[(q.shape[0], q.shape[1])](
        q, k, v, out, lse, q.stride(0), q.stride(1), q.stride(2), k.stride(0), k.stride(1), k.stride(2),
        v.stride(0), v.stride(1), v.stride(2),
        q.shape[2], k.shape[2], q.shape[3] ** -0.5,
        WIDTH=q.shape[3], ROWS=32, COLS=32, CAUSAL=causal, LOW=LOWEST, num_warps=4,
    )  # fmt: skip
    return out, lse
