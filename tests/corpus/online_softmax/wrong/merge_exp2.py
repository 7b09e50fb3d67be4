# mistake: exp2 of natural exponents
# names: powers-of-two
from collections import namedtuple

import numpy as np
import torch
import triton
import triton.language as tl

Triple = namedtuple("Triple", ["maximum", "total", "weighted"])
PROGRAMS = 5


def merge_states(a, b, eps=0.0):
    a, b = Triple(*a), Triple(*b)
    fitting = a.maximum.shape == a.total.shape == b.maximum.shape == b.total.shape
    fitting &= a.weighted.shape == b.weighted.shape and a.weighted.dim() == a.maximum.dim() + 1
    if not fitting or a.weighted.shape[:-1] != a.maximum.shape:
        raise ValueError("merge_states: shapes of a and b")
    dtype = a.maximum.dtype
    calc = torch.float64 if dtype is torch.float64 else torch.float32
    stacked_m = torch.stack((a.maximum, b.maximum)).to(calc)
    m, _ = stacked_m.max(dim=0)
    shifted = stacked_m - torch.where(m == -np.inf, torch.zeros_like(m), m)
    factor = torch.exp2(shifted)
    total = (torch.stack((a.total, b.total)) * factor).sum(0)
    weighted = (torch.stack((a.weighted, b.weighted)) * factor[..., None]).sum(0)
    return Triple(m.to(dtype), total.to(dtype), weighted.to(dtype))


def blockwise_attention(q, k, v, block_size, causal=False):
    inspect_arguments(q, k, v)
    block_size = int(block_size)
    if block_size <= 0:
        raise ValueError(f"block_size must be 1 or more, not {block_size}")
    if q.dtype in (torch.float16, torch.bfloat16):
        out, lse = blockwise_attention(q.float(), _Widened(k), _Widened(v), block_size, causal)
        return out.to(q.dtype), lse
    t_q, t_k = q.shape[2], k.shape[2]
    state = None
    for lo, hi in zip(range(0, t_k, block_size), [*range(block_size, t_k, block_size), t_k], strict=True):
        s = (q / q.shape[3] ** 0.5).matmul(k[:, :, lo:hi].transpose(2, 3))
        if causal:
            hidden = torch.ones(t_q, hi - lo, dtype=torch.bool, device=q.device).tril(t_k - t_q - lo).logical_not()
            s = s.masked_fill(hidden, float("-inf"))
        top = s.max(3).values
        w = (s - top.clamp(min=torch.finfo(s.dtype).min)[..., None]).exp()
        block = Triple(top, w.sum(3), w.matmul(v[:, :, lo:hi]))
        state = block if state is None else merge_states(state, block)
    seen = state.total != 0
    total = torch.where(seen, state.total, 1)
    return state.weighted / total[..., None], (state.maximum + total.log()).float()


class _Widened:
    """Half-precision keys or values that become float32 block by block."""

    def __init__(self, x):
        self.x, self.shape, self.dtype = x, x.shape, torch.float32

    def dim(self):
        return self.x.dim()

    def __getitem__(self, index):
        return self.x[index].float()


def inspect_arguments(q, k, v):
    names = ("q", "k", "v")
    for name, x in zip(names, (q, k, v), strict=True):
        if x.dim() != 4:
            raise ValueError(f"{name} must have 4 dimensions")
    shapes = np.array([tuple(x.shape) for x in (q, k, v)])
    for axis, columns in enumerate(shapes.T):
        if len(set(columns[1:] if axis == 2 else columns)) > 1:
            raise ValueError(f"q, k, v disagree on axis {axis}")


@triton.autotune(configs=[triton.Config({"BLOCK_Q": 64, "BLOCK_K": 32}, num_warps=4, num_stages=2)], key=["D"])
@triton.jit
def persistent(
    q, k, v, out, lse, q_b, q_h, q_t, k_b, k_h, k_t, v_b, v_h, v_t, B, H, n_q, n_k, scale,
    D: tl.constexpr, CAUSAL: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    tiles = tl.cdiv(n_q, BLOCK_Q)
    for job in range(tl.program_id(0), tiles * B * H, tl.num_programs(0)):
        bh = job // tiles
        b = bh // H
        h = bh % H
        i = (job % tiles) * BLOCK_Q + tl.arange(0, BLOCK_Q)
        d = tl.arange(0, D)
        queries = tl.load(q + b * q_b + h * q_h + i[:, None] * q_t + d[None, :], mask=i[:, None] < n_q, other=0.0)
        m = tl.zeros((BLOCK_Q,), dtype=tl.float32) - float("inf")
        l = tl.zeros((BLOCK_Q,), dtype=tl.float32)
        o = tl.zeros((BLOCK_Q, D), dtype=tl.float32)
        end = n_k
        if CAUSAL:
            end = tl.minimum(n_k, (job % tiles + 1) * BLOCK_Q + n_k - n_q)
        for start in range(0, end, BLOCK_K):
            j = start + tl.arange(0, BLOCK_K)
            keys = tl.load(k + b * k_b + h * k_h + j[None, :] * k_t + d[:, None], mask=j[None, :] < n_k, other=0.0)
            s = tl.dot(queries, keys, input_precision="ieee") * scale * 1.4426950408889634
            hidden = j[None, :] >= n_k
            if CAUSAL:
                hidden = hidden | (j[None, :] > i[:, None] + n_k - n_q)
            s = tl.where(hidden, float("-inf"), s)
            top = tl.maximum(m, tl.max(s, 1))
            p = tl.where(hidden, 0.0, tl.exp2(s - top[:, None]))
            fade = tl.where(m == float("-inf"), 0.0, tl.exp2(m - top))
            values = tl.load(v + b * v_b + h * v_h + j[:, None] * v_t + d[None, :], mask=j[:, None] < n_k, other=0.0)
            o = tl.dot(p.to(values.dtype), values, o * fade[:, None], input_precision="ieee")
            l = l * fade + tl.sum(p, 1)
            m = top
        empty = l == 0.0
        l = tl.where(empty, 1.0, l)
        base2 = tl.where(empty, float("-inf"), m + tl.log2(l))
        tl.store(lse + bh * n_q + i, base2 / 1.4426950408889634, mask=i < n_q)
        tl.store(out + (bh * n_q + i)[:, None] * D + d[None, :], (o / l[:, None]).to(out.dtype.element_ty), mask=(i < n_q)[:, None])


def flash_attention(q, k, v, causal=False):
    inspect_arguments(q, k, v)
    for name, x in {"q": q, "k": k, "v": v}.items():
        if x.dtype not in (torch.float16, torch.bfloat16, torch.float32):
            raise ValueError(f"{name} has an unsupported dtype")
        if x.dtype != q.dtype:
            raise ValueError(f"{name} has another dtype than q")
        if x.shape[3] not in (16, 32, 64, 128):
            raise ValueError(f"{name} has an unsupported width")
        if x.stride(3) != 1:
            raise ValueError(f"{name} must be contiguous along its last axis")
    (B, H, n_q, D), n_k = q.shape, k.shape[2]
    out, lse = q.new_zeros(B, H, n_q, D), q.new_zeros((B, H, n_q), dtype=torch.float32)
    programs = PROGRAMS if q.device.type == "cpu" else torch.cuda.get_device_properties(q.device).multi_processor_count
    persistent[(programs,)](
        q, k, v, out, lse, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], B, H, n_q, n_k, D**-0.5, D=D, CAUSAL=causal
    )
    return out, lse
