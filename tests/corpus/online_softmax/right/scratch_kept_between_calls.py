# right: a scratch buffer for lse is kept between calls, and a clone of it handed out
import functools
import math

import torch
import triton
import triton.language as tl

LOG2E = math.log2(math.e)
INF = math.inf


def merge_states(a, b):
    (m_a, l_a, o_a), (m_b, l_b, o_b) = a, b
    if not (m_a.shape == l_a.shape == o_a.shape[:-1] and o_a.ndim == m_a.ndim + 1):
        raise ValueError("a: m, l (...) and o (..., Dh) don't fit")
    if not (m_b.shape == l_b.shape == o_b.shape[:-1] and o_b.ndim == m_b.ndim + 1):
        raise ValueError("b: m, l (...) and o (..., Dh) don't fit")
    if o_a.shape != o_b.shape:
        raise ValueError("a and b: different shapes")
    dtypes = m_a.dtype, l_a.dtype, o_a.dtype
    f = functools.partial(torch.promote_types, torch.float32)
    # both states side by side on a new first axis, one reduction for the two
    m2 = torch.stack([m_a, m_b]).to(f(dtypes[0]))
    l2 = torch.stack([l_a, l_b]).to(f(dtypes[1]))
    o2 = torch.stack([o_a, o_b]).to(f(dtypes[2]))
    m = m2.amax(0)
    factor = torch.exp(m2 - m.nan_to_num(neginf=0.0))
    return m.to(dtypes[0]), (l2 * factor).sum(0).to(dtypes[1]), (o2 * factor[..., None]).sum(0).to(dtypes[2])


def _refuse_misfits(q, k, v):
    shapes = [tuple(t.shape) for t in (q, k, v)]
    match shapes:
        case [(b, h, _, d), (b2, h2, n, d2), (b3, h3, n3, d3)] if (b, h, d) == (b2, h2, d2) == (b3, h3, d3) and n == n3:
            pass
        case _:
            raise ValueError("q, k, v: shapes {}, {}, {} don't fit".format(*shapes))
    if len({q.dtype, k.dtype, v.dtype}) > 1:
        raise ValueError("q, k, v: mixed dtypes")


def _state_of_block(q, k, v, hidden):
    s = torch.einsum("bhqd,bhkd->bhqk", q, k)
    if hidden is not None:
        s = s.masked_fill(hidden, -INF)
    m = s.max(dim=-1).values
    p = (s - m.nan_to_num(neginf=0.0)[..., None]).exp()
    return m, p.sum(-1), torch.einsum("bhqk,bhkd->bhqd", p, v)


def blockwise_attention(q, k, v, block_size, causal=False):
    _refuse_misfits(q, k, v)
    if block_size < 1:
        raise ValueError("block_size: at least 1")
    t_q, t_k, d = q.shape[2], k.shape[2], q.shape[3]
    f = torch.promote_types(q.dtype, torch.float32)
    qs = q.to(f) / math.sqrt(d)
    position = torch.arange(t_k - t_q, t_k, device=q.device)[:, None]

    def block(start):
        stop = min(start + block_size, t_k)
        hidden = torch.arange(start, stop, device=q.device) > position if causal else None
        return _state_of_block(qs, k[:, :, start:stop].to(f), v[:, :, start:stop].to(f), hidden)

    m, l, o = functools.reduce(merge_states, map(block, range(0, t_k, block_size)))
    l = torch.where(l == 0, 1.0, l)
    return (o / l[..., None]).to(q.dtype), (m + torch.log(l)).to(torch.float32)


_scratch = {}


@triton.jit
def _kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr,
    sq_b, sq_h, sq_t, sk_b, sk_h, sk_t, sv_b, sv_h, sv_t, so_b, so_h, so_t, sl_b, sl_h,
    H, T_q, T_k, scale_log2,
    CAUSAL: tl.constexpr, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    """Transposed: scores (keys, queries), output (Dh, queries), so that every reduction runs over axis 0."""
    bh = tl.program_id(1)
    b = (bh // H).to(tl.int64)
    h = (bh % H).to(tl.int64)
    i = tl.program_id(0) * M + tl.arange(0, M)
    e = tl.arange(0, D)
    qt = tl.load(q_ptr + b * sq_b + h * sq_h + e[:, None] + i[None, :] * sq_t, mask=i[None, :] < T_q, other=0.0)  # (D, M)
    m = tl.full([M], float("-inf"), dtype=tl.float32)
    l = tl.zeros([M], dtype=tl.float32)
    acc = tl.zeros([D, M], dtype=tl.float32)
    stop = T_k
    if CAUSAL:
        stop = tl.minimum(T_k, tl.maximum((tl.program_id(0) + 1) * M + T_k - T_q, 0))
    for start in range(0, stop, N):
        j = start + tl.arange(0, N)
        inside = j < T_k
        k = tl.load(k_ptr + b * sk_b + h * sk_h + j[:, None] * sk_t + e[None, :], mask=inside[:, None], other=0.0)  # (N, D)
        vt = tl.load(v_ptr + b * sv_b + h * sv_h + j[None, :] * sv_t + e[:, None], mask=inside[None, :], other=0.0)  # (D, N)
        s = tl.dot(k, qt, input_precision="ieee") * scale_log2  # (N, M), base two
        visible = inside[:, None]
        if CAUSAL:
            visible = visible & (j[:, None] - i[None, :] <= T_k - T_q)
        s = tl.where(visible, s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, 0))
        base = tl.where(m_new == float("-inf"), 0.0, m_new)
        p = tl.exp2(s - base[None, :])
        shrink = tl.exp2(m - base)
        l = l * shrink + tl.sum(p, 0)
        acc = acc * shrink[None, :] + tl.dot(vt, p.to(vt.dtype), input_precision="ieee")
        m = m_new
    some = tl.where(l == 0.0, 1.0, l)
    result = acc / some[None, :]
    tl.store(out_ptr + b * so_b + h * so_h + e[:, None] + i[None, :] * so_t, result.to(out_ptr.dtype.element_ty), mask=i[None, :] < T_q)
    tl.store(lse_ptr + b * sl_b + h * sl_h + i, m * 0.6931471805599453 + tl.log(some), mask=i < T_q)


def flash_attention(q, k, v, causal=False):
    _refuse_misfits(q, k, v)
    if q.shape[-1] not in {16, 32, 64, 128}:
        raise ValueError(f"q: Dh = {q.shape[-1]} is not supported")
    if q.dtype not in {torch.float16, torch.bfloat16, torch.float32}:
        raise ValueError(f"q: {q.dtype} is not supported")
    for name, t in zip("qkv", (q, k, v)):
        if t.stride(-1) != 1:
            raise ValueError(f"{name}: last axis not contiguous")
    B, H, T_q, D = q.shape
    out = q.new_empty(B, H, T_q, D)
    key = (B, H, T_q, q.device)
    if key not in _scratch:
        _scratch[key] = q.new_empty((B, H, T_q), dtype=torch.float32)
    lse = _scratch[key]
    M, N = (64, 32) if q.is_cuda else (16, 32)
    strides = [s for t in (q, k, v, out) for s in t.stride()[:3]] + list(lse.stride()[:2])
    _kernel[(triton.cdiv(T_q, M), B * H)](
        q, k, v, out, lse, *strides, H, T_q, k.shape[2], D**-0.5 * LOG2E, CAUSAL=causal, D=D, M=M, N=N
    )
    return out, lse.clone()
