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
    q_ = q.to(work) / Dh**0.5
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


LOG2E = math.log2(math.e)


@triton.jit
def _tile(base, index, stride, limit, D: tl.constexpr):
    """Rows `index` of a (T, D) matrix, zeros beyond its end."""
    where = base + index.to(tl.int64)[:, None] * stride + tl.arange(0, D)[None, :]
    return tl.load(where, mask=(index < limit)[:, None], other=0.0)


@triton.jit
def _step(q, k, v, m, l, acc, hidden_from, j, scale2, D: tl.constexpr):
    """One tile of keys enters the state; row i sees the keys below hidden_from[i]. Base 2 throughout."""
    s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale2
    s = tl.where(j[None, :] < hidden_from[:, None], s, float("-inf"))
    m_new = tl.maximum(m, tl.max(s, axis=1))
    anchor = tl.where(m_new == float("-inf"), 0.0, m_new)
    shrink = tl.exp2(m - anchor)
    p = tl.exp2(s - anchor[:, None])
    l = l * shrink + tl.sum(p, axis=1)
    acc = acc * shrink[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
    return m_new, l, acc


@triton.jit
def _attend(
    Q, K, V, O, LSE, q_b, q_h, q_t, k_b, k_h, k_t, v_b, v_h, v_t, n_heads, n_q, n_k, scale2,
    causal: tl.constexpr, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
):
    head = tl.program_id(1).to(tl.int64)
    batch = head // n_heads
    inner = head % n_heads
    i = tl.program_id(0) * M + tl.arange(0, M)
    q = _tile(Q + batch * q_b + inner * q_h, i, q_t, n_q, D)
    m = tl.full((M,), float("-inf"), dtype=tl.float32)
    l = tl.zeros((M,), dtype=tl.float32)
    acc = tl.zeros((M, D), dtype=tl.float32)
    if causal:
        hidden_from = tl.minimum(i + (n_k - n_q) + 1, n_k)
    else:
        hidden_from = tl.zeros((M,), dtype=tl.int32) + n_k
    last = tl.max(hidden_from, axis=0)
    for first in range(0, last, N):
        j = first + tl.arange(0, N)
        k = _tile(K + batch * k_b + inner * k_h, j, k_t, n_k, D)
        v = _tile(V + batch * v_b + inner * v_h, j, v_t, n_k, D)
        m, l, acc = _step(q, k, v, m, l, acc, hidden_from, j, scale2, D)
    empty = l == 0.0
    divisor = tl.where(empty, 1.0, l)
    lse = tl.where(empty, float("-inf"), (m + tl.log2(divisor)) * 0.6931471805599453)
    rows = head * n_q + i
    tl.store(O + rows[:, None] * D + tl.arange(0, D)[None, :], (acc / divisor[:, None]).to(O.dtype.element_ty), mask=(i < n_q)[:, None])
    tl.store(LSE + rows, lse, mask=i < n_q)


def flash_attention(q, k, v, causal=False):
    _refuse_flash(q, k, v)
    batch, heads, n_q, width = q.shape
    out = torch.empty((batch, heads, n_q, width), dtype=q.dtype, device=q.device)
    lse = torch.empty((batch, heads, n_q), dtype=torch.float32, device=q.device)
    M, N = (32, 32) if q.dtype == torch.float32 else (64, 32)
    _attend[(triton.cdiv(n_q, M), batch * heads)](
        q, k, v, out, lse,
        q.stride(0), q.stride(1), q.stride(2), k.stride(0), k.stride(1), k.stride(2), v.stride(0), v.stride(1), v.stride(2),
        heads, n_q, k.shape[2], LOG2E / math.sqrt(width), causal=bool(causal), D=width, M=M, N=N,
    )
    return out, lse
