import math
from typing import NamedTuple

import torch
import triton
import triton.language as tl


class State(NamedTuple):
    m: torch.Tensor
    l: torch.Tensor
    o: torch.Tensor

    def checked(self, name):
        if tuple(self.m.shape) != tuple(self.l.shape):
            raise ValueError(f"state {name}: m and l differ in shape")
        if tuple(self.o.shape[:-1]) != tuple(self.m.shape) or self.o.ndim == 0:
            raise ValueError(f"state {name}: o must have one axis more than m")
        return self

    def moved_to(self, m):
        """The same state, told from another maximum."""
        factor = torch.exp(self.m - m)
        return State(m, self.l * factor, self.o * factor[..., None])


def merge_states(a, b):
    a, b = State(*a).checked("a"), State(*b).checked("b")
    if a.o.shape != b.o.shape:
        raise ValueError(f"states a and b: {tuple(a.o.shape)} and {tuple(b.o.shape)} can't be merged")
    dtype = a.o.dtype
    if dtype in (torch.float16, torch.bfloat16):
        a, b = State(*(t.float() for t in a)), State(*(t.float() for t in b))
    m = torch.maximum(a.m, b.m)
    common = m.masked_fill(torch.isneginf(m), 0.0)
    x, y = a.moved_to(common), b.moved_to(common)
    return State(*(t.to(dtype) for t in (m, x.l + y.l, x.o + y.o)))


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
        total = total + p.sum(-1, keepdim=True)
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
    n_tiles = tl.cdiv(tl.maximum(end, 0), BLOCK_N)
    for t in range(0, n_tiles):  # from the last tile back to the first
        j = (n_tiles - 1 - t) * BLOCK_N + cols
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
    block_m, block_n = 32, 16
    _flash_kernel[(triton.cdiv(T_q, block_m) * B * H,)](
        q, k, v, out, lse,
        *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *out.stride()[:3],
        H, T_q, T_k, D**-0.5,
        CAUSAL=bool(causal), D=D, BLOCK_M=block_m, BLOCK_N=block_n, num_warps=4, num_stages=2,
    )
    return out, lse
