# mistake: blockwise_attention leaves out the scale 1/sqrt(Dh), and flash_attention's kernel hides the diagonal too (keys strictly before the query's position).
# names: blocks-unscaled, kernel-mask-hides-the-present
import math

import torch
import triton
import triton.language as tl


def _state(name, state):
    m, l, o = state
    if not (m.shape == l.shape == o.shape[:-1]) or o.dim() < 1:
        raise ValueError(f"{name} is no state: shapes {tuple(m.shape)}, {tuple(l.shape)}, {tuple(o.shape)}")
    wide = torch.promote_types(o.dtype, torch.float32)
    return m.to(wide), l.to(wide), o.to(wide)


def merge_states(a, b):
    (ma, la, oa), (mb, lb, ob) = _state("a", a), _state("b", b)
    if oa.shape != ob.shape:
        raise ValueError("a and b are states of different shapes")
    # the side with the larger maximum keeps its numbers; only the other one is brought to it
    both_empty = torch.isinf(ma) & torch.isinf(mb)
    gap = ma.masked_fill(both_empty, 0.0) - mb.masked_fill(both_empty, 0.0)
    zero = torch.zeros_like(gap)
    f_a = torch.exp(torch.minimum(gap, zero))
    f_b = torch.exp(torch.minimum(-gap, zero))
    dtype = a[2].dtype
    out = torch.maximum(ma, mb), la * f_a + lb * f_b, oa * f_a[..., None] + ob * f_b[..., None]
    return tuple(t.to(dtype) for t in out)


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


def _block_state(q, k, v, hide):
    s = torch.einsum("bhid,bhjd->bhij", q, k)
    if hide is not None:
        s = torch.where(hide, float("-inf"), s)
    m = s.detach().amax(dim=-1)
    base = m.masked_fill(torch.isneginf(m), 0.0)
    p = (s - base.unsqueeze(-1)).exp()
    return m, p.sum(dim=-1), torch.einsum("bhij,bhjd->bhid", p, v)


def blockwise_attention(q, k, v, block_size, causal=False):
    if block_size < 1:
        raise ValueError(f"block_size = {block_size}, at least 1 is needed")
    _refuse(q, k, v)
    B, H, T_q, Dh = q.shape
    T_k = k.shape[2]
    work = torch.float64 if q.dtype == torch.float64 else torch.float32
    q_ = q.to(work)
    state = (q_.new_full((B, H, T_q), float("-inf")), q_.new_zeros((B, H, T_q)), q_.new_zeros((B, H, T_q, Dh)))
    position = torch.arange(T_q, device=q.device).view(-1, 1) + T_k - T_q
    first = 0
    for k_, v_ in zip(k.split(block_size, dim=2), v.split(block_size, dim=2)):
        keys = torch.arange(first, first + k_.shape[2], device=q.device)
        hide = keys > position if causal else None
        state = merge_states(state, _block_state(q_, k_.to(work), v_.to(work), hide))
        first += k_.shape[2]
    m, l, o = state
    empty = l == 0
    divisor = l.masked_fill(empty, 1.0)
    lse = (m.masked_fill(empty, 0.0) + divisor.log()).masked_fill(empty, float("-inf"))
    return (o / divisor.unsqueeze(-1)).to(q.dtype), lse.float()


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
        partial = start + BLOCK_N > T_k
        if CAUSAL:
            partial = partial | (start + BLOCK_N > (pid % tiles) * BLOCK_M + T_k - T_q)
        k = tl.load(k_base + j.to(tl.int64)[:, None] * skt + d[None, :], mask=j_ok[:, None], other=0.0)
        v = tl.load(v_base + j.to(tl.int64)[:, None] * svt + d[None, :], mask=j_ok[:, None], other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        if partial:
            i_last = tl.zeros([BLOCK_M], tl.int32) + (T_k - 1)
            if CAUSAL:
                i_last = tl.minimum(i_last, rows + (T_k - T_q) - 1)
            s = tl.where(j[None, :] <= i_last[:, None], s, float("-inf"))
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
