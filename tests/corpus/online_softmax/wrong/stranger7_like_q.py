# mistake: the output keeps the order of q's axes
# names: kernel-output-lies-like-q
"""Online softmax, production edition.

>>> import torch
>>> x = merge_states((torch.tensor(0.), torch.tensor(1.), torch.ones(2)), (torch.tensor(0.), torch.tensor(1.), torch.ones(2)))
>>> float(x[1])
2.0
"""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
import triton
import triton.language as tl

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["merge_states", "blockwise_attention", "flash_attention"]
SUPPORTED_WIDTHS: frozenset[int] = frozenset(1 << e for e in range(4, 8))
SUPPORTED_TYPES: tuple[torch.dtype, ...] = (torch.float16, torch.bfloat16, torch.float32)


@dataclass(frozen=True, slots=True)
class Problem:
    batch: int
    heads: int
    queries: int
    keys: int
    width: int

    @classmethod
    def of(cls, q: Tensor, k: Tensor, v: Tensor) -> Problem:
        for name, tensor in {"q": q, "k": k, "v": v}.items():
            if tensor.ndim != 4:
                raise ValueError(f"expected argument '{name}' to be 4-dimensional but received {tensor.ndim} dimension(s)")
        b, h, tq, d = q.shape
        match tuple(k.shape):
            case (kb, kh, tk, kd) if (kb, kh, kd) == (b, h, d):
                pass
            case other:
                raise ValueError(f"argument 'k' has the incompatible shape {other}")
        if tuple(v.shape) != (b, h, tk, d):
            raise ValueError(f"argument 'v' has the incompatible shape {tuple(v.shape)}")
        return cls(b, h, tq, tk, d)


def validated(function: Callable) -> Callable:
    """Bind the call's arguments, build the problem, then go on."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        Problem.of(*(bound.arguments[n] for n in ("q", "k", "v")))
        return function(*args, **kwargs)

    return wrapper


def merge_states(a, b):
    """Union of two softmax states; the arguments stay as they are."""
    if not (a[0].shape == a[1].shape == a[2].shape[:-1] and a[2].dim() > 0):
        raise ValueError("the shapes inside state `a` contradict each other")
    if not (b[0].shape == b[1].shape == b[2].shape[:-1] and b[2].dim() > 0):
        raise ValueError("the shapes inside state `b` contradict each other")
    if a[2].shape != b[2].shape:
        raise ValueError("`a` and `b` describe different queries or widths")
    dtypes = tuple(t.dtype for t in a)
    a, b = ([t.to(torch.promote_types(t.dtype, torch.float32)) for t in s] for s in (a, b))
    m = torch.stack([a[0], b[0]]).amax(0)
    shift = torch.where(torch.isneginf(m), torch.zeros_like(m), m)
    w = torch.exp(torch.stack([a[0], b[0]]) - shift)
    l = (w * torch.stack([a[1], b[1]])).sum(0)
    o = (w.unsqueeze(-1) * torch.stack([a[2], b[2]])).sum(0)
    return tuple(t.to(d) for t, d in zip((m, l, o), dtypes))


def _spans(total: int, size: int) -> Iterator[slice]:
    yield from (slice(s, min(total, s + size)) for s in range(0, total, size))


@validated
def blockwise_attention(q, k, v, block_size, causal=False):
    if isinstance(block_size, int) and block_size <= 0:
        raise ValueError("block_size must be a positive integer")
    shape = Problem.of(q, k, v)
    dtype = torch.promote_types(q.dtype, torch.float32)
    query = q.to(dtype)
    offset = shape.keys - shape.queries

    def states():
        yield (
            query.new_full(q.shape[:3], -torch.inf),
            query.new_zeros(q.shape[:3]),
            query.new_zeros(q.shape),
        )
        for span in _spans(shape.keys, block_size):
            scores = torch.einsum("bhqd,bhkd->bhqk", query, k[:, :, span].to(dtype)).mul(shape.width ** -0.5)
            if causal:
                j = torch.arange(span.start, span.stop, device=q.device)
                i = torch.arange(shape.queries, device=q.device)
                scores = torch.where(j[None, :] <= i[:, None] + offset, scores, -torch.inf)
            m = scores.detach().amax(-1)
            e = torch.exp(scores - torch.where(m == -torch.inf, 0.0, m).unsqueeze(-1))
            yield m, e.sum(-1), torch.einsum("bhqk,bhkd->bhqd", e, v[:, :, span].to(dtype))

    m, l, o = functools.reduce(merge_states, states())
    empty = l == 0
    denominator = torch.where(empty, 1.0, l)
    lse = torch.where(empty, -torch.inf, m + denominator.log())
    return (o / denominator.unsqueeze(-1)).to(q.dtype), lse.to(torch.float32)


@validated
def flash_attention(q, k, v, causal=False):
    shape = Problem.of(q, k, v)
    if shape.width not in SUPPORTED_WIDTHS:
        raise ValueError(f"argument 'q' has head width {shape.width}, supported: {sorted(SUPPORTED_WIDTHS)}")
    if q.dtype not in SUPPORTED_TYPES:
        raise ValueError(f"argument 'q' has dtype {q.dtype}")
    if not (q.dtype == k.dtype == v.dtype):
        raise ValueError("arguments q, k and v must share a dtype")
    for name, tensor in {"q": q, "k": k, "v": v}.items():
        if tensor.stride(-1) != 1:
            raise ValueError(f"argument '{name}' must be contiguous along its last axis")
    out, lse = torch.empty_like(q), q.new_empty(q.shape[:3], dtype=torch.float32)
    if 0 in (*q.shape, shape.keys):
        return out.zero_(), lse.fill_(-torch.inf)
    grid = lambda meta: (shape.batch * shape.heads * triton.cdiv(shape.queries, meta["BLOCK_M"]),)  # noqa: E731
    _two_pass_kernel[grid](
        q, k, v, out, lse,
        q.stride(0), q.stride(1), q.stride(2), k.stride(0), k.stride(1), k.stride(2), v.stride(0), v.stride(1), v.stride(2),
        shape.heads, shape.queries, shape.keys, shape.width ** -0.5,
        IS_CAUSAL=bool(causal), HEAD_DIM=shape.width, BLOCK_M=16, BLOCK_N=32,
    )
    return out, lse


@triton.jit
def _scores(q, K, rows, cols, stride, T_q, T_k, scale, IS_CAUSAL: tl.constexpr, HEAD_DIM: tl.constexpr):
    d = tl.arange(0, HEAD_DIM)
    k = tl.load(K + cols.to(tl.int64)[:, None] * stride + d[None, :], mask=(cols < T_k)[:, None], other=0.0)
    s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
    seen = (cols < T_k)[None, :] & (rows < T_q)[:, None]
    if IS_CAUSAL:
        seen &= cols[None, :] - rows[:, None] <= T_k - T_q
    return tl.where(seen, s, float("-inf"))


@triton.jit
def _two_pass_kernel(Q, K, V, Out, Lse, sqb, sqh, sqt, skb, skh, skt, svb, svh, svt, H, T_q, T_k, scale,
                     IS_CAUSAL: tl.constexpr, HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    tiles = tl.cdiv(T_q, BLOCK_M)
    head = (tl.program_id(0) // tiles).to(tl.int64)
    first = tl.program_id(0) % tiles * BLOCK_M
    rows = first + tl.arange(0, BLOCK_M)
    d = tl.arange(0, HEAD_DIM)
    Q += (head // H) * sqb + (head % H) * sqh
    K += (head // H) * skb + (head % H) * skh
    V += (head // H) * svb + (head % H) * svh
    q = tl.load(Q + rows.to(tl.int64)[:, None] * sqt + d[None, :], mask=(rows < T_q)[:, None], other=0.0)
    last = T_k
    if IS_CAUSAL:
        last = tl.minimum(T_k, first + BLOCK_M + (T_k - T_q))
    # pass one: the normaliser alone
    m = tl.full((BLOCK_M,), float("-inf"), dtype=tl.float32)
    z = tl.zeros((BLOCK_M,), dtype=tl.float32)
    for start in range(0, last, BLOCK_N):
        s = _scores(q, K, rows, start + tl.arange(0, BLOCK_N), skt, T_q, T_k, scale, IS_CAUSAL, HEAD_DIM)
        new = tl.maximum(m, tl.max(s, axis=1))
        pivot = tl.where(new > float("-inf"), new, 0.0)
        z = z * tl.exp(m - pivot) + tl.sum(tl.exp(s - pivot[:, None]), axis=1)
        m = new
    alive = z > 0.0
    lse = tl.where(alive, m + tl.log(tl.where(alive, z, 1.0)), float("-inf"))
    tl.store(Lse + head * T_q + rows, lse, mask=rows < T_q)
    # pass two: weights that are already normalised
    pivot = tl.where(alive, lse, 0.0)
    acc = tl.zeros((BLOCK_M, HEAD_DIM), dtype=tl.float32)
    for start in range(0, last, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        s = _scores(q, K, rows, cols, skt, T_q, T_k, scale, IS_CAUSAL, HEAD_DIM)
        v = tl.load(V + cols.to(tl.int64)[:, None] * svt + d[None, :], mask=(cols < T_k)[:, None], other=0.0)
        p = tl.exp(s - pivot[:, None])
        acc += tl.dot(p.to(v.dtype), v, input_precision="ieee")
    where = Out + (head * T_q + rows)[:, None] * HEAD_DIM + d[None, :]
    tl.store(where, acc.to(Out.dtype.element_ty), mask=(rows < T_q)[:, None])


def main() -> None:
    print("two passes, one launch")


if __name__ == "__main__":
    main()
