# mistake: merge_states (State.__or__) treats o as normalised: it averages the two outputs with weights l, in place of adding unnormalised outputs
# names: outputs-averaged
from typing import NamedTuple

import torch
import triton
import triton.language as tl


class State(NamedTuple):
    m: torch.Tensor
    l: torch.Tensor
    o: torch.Tensor

    @classmethod
    def of(cls, name, parts):
        if len(parts) != 3:
            raise ValueError(f"{name} is not a state (m, l, o)")
        state = cls(*parts)
        if state.m.shape != state.l.shape or state.o.shape[:-1] != state.m.shape or state.o.dim() != state.m.dim() + 1:
            raise ValueError(f"{name}: shapes of m, l and o don't fit each other")
        return state

    def moved_to(self, m):
        """The same state, measured from another maximum."""
        factor = torch.exp(self.m - torch.where(torch.isneginf(m), torch.zeros_like(m), m))
        return State(m, self.l * factor, self.o * factor.unsqueeze(-1))

    def __or__(self, other):
        m = torch.maximum(self.m, other.m)
        left, right = self.moved_to(m), other.moved_to(m)
        l = left.l + right.l
        share = (left.l / l.masked_fill(l == 0, 1.0)).unsqueeze(-1)
        return State(m, l, share * self.o + (1 - share) * other.o)


def merge_states(a, b):
    a, b = State.of("a", a), State.of("b", b)
    if a.o.shape != b.o.shape:
        raise ValueError(f"a and b are states of different shapes: {tuple(a.o.shape)}, {tuple(b.o.shape)}")
    home = a.o.dtype
    if home in (torch.float16, torch.bfloat16):
        wide = State(*(t.float() for t in a)) | State(*(t.float() for t in b))
        return State(*(t.to(home) for t in wide))
    return a | b


def _same(q, k, v):
    for name, t in (("q", q), ("k", k), ("v", v)):
        if t.dim() != 4:
            raise ValueError(f"{name} must be of rank 4")
        if t.dtype != q.dtype:
            raise ValueError(f"{name} must have the dtype of q")
    if k.shape != v.shape:
        raise ValueError("k and v must have the same shape")
    if (q.shape[0], q.shape[1], q.shape[3]) != (k.shape[0], k.shape[1], k.shape[3]):
        raise ValueError("q and k must agree in batch, heads and width")


def blockwise_attention(q, k, v, block_size, causal=False):
    _same(q, k, v)
    if block_size < 1:
        raise ValueError(f"block_size must be at least 1, not {block_size}")
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    b, h, t_q, d = q.shape
    t_k = k.shape[2]
    queries = q.to(wide) * d**-0.5
    rows = torch.arange(t_q, device=q.device).unsqueeze(1) + (t_k - t_q)
    seen = State(queries.new_full((b, h, t_q), -torch.inf), queries.new_zeros(b, h, t_q), queries.new_zeros(b, h, t_q, d))
    for lo in range(0, t_k, block_size):
        hi = min(lo + block_size, t_k)
        s = queries @ k[:, :, lo:hi].to(wide).mT
        if causal:
            s = s.masked_fill(torch.arange(lo, hi, device=q.device) > rows, -torch.inf)
        m = s.amax(-1)
        p = torch.exp(s - torch.where(torch.isneginf(m), torch.zeros_like(m), m).unsqueeze(-1))
        later = State(m, p.sum(-1), p @ v[:, :, lo:hi].to(wide))
        top = torch.maximum(seen.m, later.m)
        before, after = seen.moved_to(top), later.moved_to(top)
        seen = State(top, before.l + after.l, before.o + after.o)
    nobody = seen.l == 0
    l = seen.l.masked_fill(nobody, 1.0)
    return (seen.o / l.unsqueeze(-1)).to(q.dtype), (seen.m + l.log()).float()


@triton.jit
def _two_sweeps(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr,
    q_b, q_h, q_t, k_b, k_h, k_t, v_b, v_h, v_t, o_b, o_h, o_t, l_b, l_h,
    n_heads, t_q, t_k, scale,
    CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """First sweep over the keys: the log-normaliser. Second sweep: weights that are already right, so nothing is rescaled."""
    tile = tl.program_id(0)
    batch = (tl.program_id(1) // n_heads).to(tl.int64)
    head = (tl.program_id(1) % n_heads).to(tl.int64)
    rows = tile * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.arange(0, D)
    row_ok = rows < t_q
    q = tl.load(q_ptr + batch * q_b + head * q_h + rows[:, None] * q_t + cols[None, :], mask=row_ok[:, None], other=0.0)
    k_base = k_ptr + batch * k_b + head * k_h
    v_base = v_ptr + batch * v_b + head * v_h

    m = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    l = tl.zeros((BLOCK_M,), tl.float32)
    for start in range(0, t_k, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_base + keys[None, :] * k_t + cols[:, None], mask=keys[None, :] < t_k, other=0.0)
        s = tl.dot(q, k, input_precision="ieee") * scale
        visible = keys[None, :] < t_k
        if CAUSAL:
            visible = visible & (keys[None, :] <= rows[:, None] + (t_k - t_q))
        s = tl.where(visible, s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, 1))
        m_use = tl.where(m_new == float("-inf"), 0.0, m_new)
        l = l * tl.exp(m - m_use) + tl.sum(tl.exp(s - m_use[:, None]), 1)
        m = m_new
    lse = m + tl.log(tl.where(l == 0.0, 1.0, l))
    m_use = tl.where(m == float("-inf"), 0.0, m)
    l_use = tl.where(l == 0.0, 1.0, l)

    o = tl.zeros((BLOCK_M, D), tl.float32)
    for start in range(0, t_k, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_base + keys[None, :] * k_t + cols[:, None], mask=keys[None, :] < t_k, other=0.0)
        v = tl.load(v_base + keys[:, None] * v_t + cols[None, :], mask=keys[:, None] < t_k, other=0.0)
        s = tl.dot(q, k, input_precision="ieee") * scale
        visible = keys[None, :] < t_k
        if CAUSAL:
            visible = visible & (keys[None, :] <= rows[:, None] + (t_k - t_q))
        p = tl.exp(tl.where(visible, s, float("-inf")) - m_use[:, None]) / l_use[:, None]
        o += tl.dot(p.to(v.dtype), v, input_precision="ieee")
    tl.store(out_ptr + batch * o_b + head * o_h + rows[:, None] * o_t + cols[None, :], o.to(out_ptr.dtype.element_ty), mask=row_ok[:, None])
    tl.store(lse_ptr + batch * l_b + head * l_h + rows, lse, mask=row_ok)


def flash_attention(q, k, v, causal=False):
    _same(q, k, v)
    if q.dtype not in (torch.float16, torch.bfloat16, torch.float32):
        raise ValueError(f"q has the dtype {q.dtype}; float16, bfloat16 and float32 are possible")
    if q.shape[3] not in (16, 32, 64, 128):
        raise ValueError(f"q has a width of {q.shape[3]}; 16, 32, 64 and 128 are possible")
    for name, t in (("q", q), ("k", k), ("v", v)):
        if t.stride(3) != 1:
            raise ValueError(f"{name} has a last axis that isn't contiguous")
    b, h, t_q, d = q.shape
    t_k = k.shape[2]
    out = torch.empty((b, h, t_q, d), dtype=q.dtype, device=q.device)
    lse = torch.empty((b, h, t_q), dtype=torch.float32, device=q.device)
    block = 32
    _two_sweeps[(triton.cdiv(t_q, block), b * h)](
        q, k, v, out, lse,
        *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *out.stride()[:3], *lse.stride()[:2],
        h, t_q, t_k, d**-0.5,
        CAUSAL=bool(causal), D=d, BLOCK_M=block, BLOCK_N=block,
    )  # fmt: skip
    return out, lse
