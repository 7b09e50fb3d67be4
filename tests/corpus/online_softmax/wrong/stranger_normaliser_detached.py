# mistake: blockwise_attention detaches each block's contribution to the running sum l, so the gradient of out and lse through l is lost.
# names: blocks-sum-detached
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
    """Two walks over the keys: the first finds the maximum, the second sums. Nothing is ever rescaled."""
    _refuse(q, k, v)
    if block_size <= 0:
        raise ValueError(f"block_size has to be positive, it is {block_size}")
    n_q, n_k, width = q.shape[2], k.shape[2], q.shape[3]
    wide = torch.promote_types(q.dtype, torch.float32)
    scaled = q.to(wide).mul(1 / math.sqrt(width))
    last_visible = torch.arange(n_k - n_q, n_k, device=q.device)

    def scores(start):
        s = torch.matmul(scaled, k[:, :, start : start + block_size].to(wide).mT)
        if not causal:
            return s
        keys = torch.arange(start, start + s.shape[-1], device=q.device)
        return s.masked_fill(keys[None, :] > last_visible[:, None], -math.inf)

    starts = range(0, n_k, block_size)
    top = scaled.new_full(q.shape[:3], -math.inf)
    with torch.no_grad():
        for start in starts:
            top = torch.maximum(top, scores(start).amax(-1))
    base = torch.where(top.isneginf(), torch.zeros_like(top), top).unsqueeze(-1)
    total = torch.zeros_like(base)
    mixed = torch.zeros_like(scaled)
    for start in starts:
        p = torch.exp(scores(start) - base)
        total = total + p.detach().sum(-1, keepdim=True)
        mixed = mixed + torch.matmul(p, v[:, :, start : start + block_size].to(wide))
    seen = total > 0
    total = torch.where(seen, total, torch.ones_like(total))
    lse = torch.where(seen, base + total.log(), torch.full_like(total, -math.inf)).squeeze(-1)
    return mixed.div(total).to(q.dtype), lse.to(torch.float32)


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
def _scores(q, k_at, skt, j, i_last, T_k, scale, D: tl.constexpr):
    """Scaled scores of a tile, -inf beyond the last visible key of each row; k is read as (D, N)."""
    kt = tl.load(k_at + tl.arange(0, D)[:, None] + j.to(tl.int64)[None, :] * skt, mask=j[None, :] < T_k, other=0.0)
    s = tl.dot(q, kt, input_precision="ieee") * scale
    return tl.where(j[None, :] <= i_last[:, None], s, float("-inf"))


@triton.jit
def _two_walks(
    q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, sq0, sq1, sq2, sk0, sk1, sk2, sv0, sv1, sv2, so0, so1, so2, sl0, sl1,
    H, T_q, T_k, scale, CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):
    tile = tl.program_id(0)
    bh = tl.program_id(1).to(tl.int64)
    b = bh // H
    h = bh - b * H
    i = tile * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    ok = i < T_q
    q_at = q_ptr + b * sq0 + h * sq1
    k_at = k_ptr + b * sk0 + h * sk1
    v_at = v_ptr + b * sv0 + h * sv1
    q = tl.load(q_at + i.to(tl.int64)[:, None] * sq2 + d[None, :], mask=ok[:, None], other=0.0)
    i_last = tl.zeros([BM], tl.int32) + (T_k - 1)
    if CAUSAL:
        i_last = tl.minimum(i_last, i + (T_k - T_q))
    stop = tl.max(i_last, 0) + 1
    top = tl.full([BM], float("-inf"), tl.float32)
    for j0 in range(0, stop, BN):
        s = _scores(q, k_at, sk2, j0 + tl.arange(0, BN), i_last, T_k, scale, D)
        top = tl.maximum(top, tl.max(s, 1))
    base = tl.where(top == float("-inf"), 0.0, top)
    total = tl.zeros([BM], tl.float32)
    mixed = tl.zeros([BM, D], tl.float32)
    for j0 in range(0, stop, BN):
        j = j0 + tl.arange(0, BN)
        s = _scores(q, k_at, sk2, j, i_last, T_k, scale, D)
        p = tl.exp(s - base[:, None])
        total += tl.sum(p, 1)
        v = tl.load(v_at + j.to(tl.int64)[:, None] * sv2 + d[None, :], mask=(j < T_k)[:, None], other=0.0)
        mixed += tl.dot(p.to(v.dtype), v, input_precision="ieee")
    nothing = total == 0
    divisor = tl.where(nothing, 1.0, total)
    lse = tl.where(nothing, float("-inf"), base + tl.log(divisor))
    tl.store(o_ptr + b * so0 + h * so1 + i.to(tl.int64)[:, None] * so2 + d[None, :], (mixed / divisor[:, None]).to(o_ptr.dtype.element_ty), mask=ok[:, None])
    tl.store(lse_ptr + b * sl0 + h * sl1 + i, lse, mask=ok)


def flash_attention(q, k, v, causal=False):
    """One launch, two walks over the keys inside it: no rescaling anywhere."""
    _refuse_flash(q, k, v)
    B, H, T_q, D = q.shape
    out, lse = q.new_empty(q.shape), q.new_empty(q.shape[:3], dtype=torch.float32)
    BM = 16 if T_q <= 16 else 64
    strides = [s for t in (q, k, v, out) for s in t.stride()[:3]] + list(lse.stride()[:2])
    _two_walks[(triton.cdiv(T_q, BM), B * H)](
        q, k, v, out, lse, *strides, H, T_q, k.shape[2], 1.0 / D**0.5, bool(causal), D, BM, 32, num_stages=2
    )
    return out, lse
