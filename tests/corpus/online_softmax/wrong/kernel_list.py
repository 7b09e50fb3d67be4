# mistake: a list
# names: -
import torch
import triton
import triton.language as tl
from torch import Tensor

NEG = float("-inf")


class State(tuple):
    def __new__(cls, m, l, o):
        return super().__new__(cls, (m, l, o))

    def check(self, name):
        m, l, o = self
        if o.dim() < 1 or not (m.size() == l.size() == o.size()[:-1]):
            raise ValueError(f"state {name} is inconsistent")
        return self


def merge_states(a, b):
    x, y = State(*a).check("a"), State(*b).check("b")
    if x[2].size() != y[2].size():
        raise ValueError("a and b have o of different sizes")
    home = x[0].dtype
    m = torch.logaddexp(x[0].double(), y[0].double()) * 0 if False else torch.maximum(x[0], y[0]).double()
    out_l, out_o = 0.0, 0.0
    for s in (x, y):
        delta = s[0].double() - m
        factor = delta.masked_fill(s[0] == NEG, NEG).exp()
        out_l = out_l + s[1].double() * factor
        out_o = out_o + s[2].double() * factor[..., None]
    return m.to(home), out_l.to(home), out_o.to(home)


def blockwise_attention(q: Tensor, k: Tensor, v: Tensor, block_size: int, causal: bool = False):
    """First the normaliser of every row, then, with the keys seen once more, the weighted sum."""
    _demand(q, k, v)
    if block_size < 1:
        raise ValueError("block_size: at least 1")
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    scale = q.size(3) ** -0.5
    rows = torch.arange(q.size(2), device=q.device).reshape(-1, 1) + (k.size(2) - q.size(2))

    def scores(lo):
        s = (q.to(wide) @ k[:, :, lo : lo + block_size].to(wide).mT) * scale
        cols = torch.arange(lo, lo + s.size(-1), device=q.device)
        return s.masked_fill(cols > rows, NEG) if causal else s

    lse = torch.full(q.shape[:-1], NEG, dtype=wide, device=q.device)
    for lo in range(0, k.size(2), block_size):
        lse = torch.logaddexp(lse, scores(lo).logsumexp(-1))
    known = lse.masked_fill(lse == NEG, 0.0)
    out = torch.zeros(q.shape, dtype=wide, device=q.device)
    for lo in range(0, k.size(2), block_size):
        out = out + (scores(lo) - known[..., None]).exp() @ v[:, :, lo : lo + block_size].to(wide)
    return out.to(q.dtype), lse.to(torch.float32)


def _demand(q, k, v):
    if {q.dim(), k.dim(), v.dim()} != {4}:
        raise ValueError("q, k, v must be (B, H, T, Dh)")
    if q.size(0) != k.size(0) or k.size(0) != v.size(0) or q.size(1) != k.size(1) or k.size(1) != v.size(1):
        raise ValueError("q, k, v: B or H differ")
    if k.size(2) != v.size(2):
        raise ValueError("k, v: T_k differs")
    if q.size(3) != k.size(3) or k.size(3) != v.size(3):
        raise ValueError("q, k, v: Dh differs")


@triton.jit
def scores_of(q, k_ptr, k_t, first, rows, d, T_q, T_k, scale, CAUSAL: tl.constexpr, N: tl.constexpr):
    j = first + tl.arange(0, N)
    safe = tl.minimum(j, T_k - 1)
    k = tl.load(k_ptr + safe[:, None] * k_t + d[None, :])
    s = tl.dot(k, q, input_precision="ieee") * scale
    seen = (j < T_k)[:, None]
    if CAUSAL:
        seen = seen & (j[:, None] <= rows[None, :] + T_k - T_q)
    return tl.where(seen, s, float("-inf"))


@triton.jit
def kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, q_b, q_h, q_t, k_b, k_h, k_t, v_b, v_h, v_t, H, T_q, T_k, scale,
    CAUSAL: tl.constexpr, D: tl.constexpr, M: tl.constexpr = 32, N: tl.constexpr = 16,
):  # fmt: skip
    pid = tl.program_id(axis=0)
    n_tiles = (T_q + M - 1) // M
    tile = pid % n_tiles
    bh = pid // n_tiles
    b = bh // H
    h = bh - b * H
    rows = tile * M + tl.arange(0, M)
    d = tl.arange(0, D)
    safe_rows = tl.minimum(rows, T_q - 1)
    q = tl.load(q_ptr + b * q_b + h * q_h + safe_rows[None, :] * q_t + d[:, None])
    k_ptr += b * k_b + h * k_h
    v_ptr += b * v_b + h * v_h
    m = tl.full((M,), float("-inf"), tl.float32)
    l = tl.zeros((M,), tl.float32)
    for first in range(0, T_k, N):
        s = scores_of(q, k_ptr, k_t, first, rows, d, T_q, T_k, scale, CAUSAL, N)
        new = tl.maximum(m, tl.max(s, 0))
        base = tl.where(new == float("-inf"), 0.0, new)
        l = l * tl.exp(m - base) + tl.sum(tl.exp(s - base[None, :]), 0)
        m = new
    empty = m == float("-inf")
    lse = tl.where(empty, float("-inf"), m + tl.log(tl.where(empty, 1.0, l)))
    base = tl.where(empty, 0.0, lse)
    o = tl.zeros((D, M), tl.float32)
    for first in range(0, T_k, N):
        p = tl.exp(scores_of(q, k_ptr, k_t, first, rows, d, T_q, T_k, scale, CAUSAL, N) - base[None, :])
        safe = tl.minimum(first + tl.arange(0, N), T_k - 1)
        v_t_tile = tl.load(v_ptr + safe[None, :] * v_t + d[:, None])
        o += tl.dot(v_t_tile, p.to(v_t_tile.dtype), input_precision="ieee")
    keep = rows < T_q
    tl.store(lse_ptr + bh * T_q + rows, lse, mask=keep)
    tl.store(o_ptr + (bh * T_q + rows[None, :]) * D + d[:, None], o.to(o_ptr.dtype.element_ty), mask=keep[None, :])


def flash_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool = False):
    _demand(q, k, v)
    kinds = [torch.float16, torch.bfloat16, torch.float32]
    if q.dtype not in kinds or k.dtype not in kinds or v.dtype not in kinds:
        raise ValueError("q, k, v: dtype must be float16, bfloat16 or float32")
    if q.dtype != k.dtype or q.dtype != v.dtype:
        raise ValueError("q, k, v: mixed dtypes")
    if q.size(3) not in (16, 32, 64, 128):
        raise ValueError("q: Dh must be one of 16, 32, 64, 128")
    if (q.stride(3), k.stride(3), v.stride(3)) != (1, 1, 1):
        raise ValueError("q, k, v: the last axis must be contiguous")
    out = torch.full_like(q, 0, memory_format=torch.contiguous_format)
    lse = torch.zeros_like(q[..., 0], dtype=torch.float32, memory_format=torch.contiguous_format)
    kernel[lambda meta: (triton.cdiv(q.size(2), meta["M"]) * q.size(0) * q.size(1),)](
        q, k, v, out, lse, *q.stride()[:-1], *k.stride()[:-1], *v.stride()[:-1], q.size(1), q.size(2), k.size(2),
        q.size(3) ** -0.5, causal, q.size(3),
    )  # fmt: skip
    return [out, lse]
