# mistake: computed under no_grad
# names: blocks-detached
import math
from functools import reduce

import torch
from triton import cdiv, jit
from triton import language as tl


def _widen(x):
    return x if x.dtype == torch.float64 else x.float()


def merge_states(a, b):
    shapes = [tuple(x.shape) for x in (a[0], a[1], b[0], b[1])]
    if shapes.count(shapes[0]) != 4:
        raise ValueError(f"m and l of a and b have shapes {shapes}")
    for name, o in (("a", a[2]), ("b", b[2])):
        if tuple(o.shape[:-1]) != shapes[0] or not o.dim():
            raise ValueError(f"o of {name} has shape {tuple(o.shape)}, m has {shapes[0]}")
    if a[2].size(-1) != b[2].size(-1):
        raise ValueError("o of a and o of b have different widths")
    ma, mb = _widen(a[0]), _widen(b[0])
    m = torch.where(ma >= mb, ma, mb)
    ea = (ma - torch.where(m == -math.inf, 0.0, m)).exp()
    eb = (mb - torch.where(m == -math.inf, 0.0, m)).exp()
    l = _widen(a[1]) * ea + _widen(b[1]) * eb
    o = torch.addcmul(_widen(a[2]) * ea[..., None], _widen(b[2]), eb[..., None])
    return m.to(a[0].dtype), l.to(a[1].dtype), o.to(a[2].dtype)


@torch.no_grad()
def blockwise_attention(q, k, v, block_size, causal=False, query_chunk=256):
    misfit(q, k, v)
    if not block_size >= 1:
        raise ValueError(f"block_size is {block_size}")
    shift = k.shape[2] - q.shape[2]
    pieces = [_chunk(q[:, :, i : i + query_chunk], k, v, block_size, causal, i + shift) for i in range(0, q.shape[2], query_chunk)]
    return torch.cat([p[0] for p in pieces], 2), torch.cat([p[1] for p in pieces], 2)


def _chunk(q, k, v, block_size, causal, offset):
    n, t_k = q.shape[2], k.shape[2]
    visible = max(0, min(t_k, n + offset)) if causal else t_k
    queries = _widen(q) * math.pow(q.shape[3], -0.5)
    nothing = queries[..., 0] * 0
    states = ((nothing - math.inf, nothing, queries * 0),)
    for start in range(0, visible, block_size):
        stop = min(visible, start + block_size)
        s = queries @ _widen(k[..., start:stop, :]).transpose(-2, -1)
        if causal:
            row, col = torch.arange(n, device=q.device)[:, None], torch.arange(start, stop, device=q.device)[None]
            s = torch.where(col <= row + offset, s, s.new_tensor(-math.inf))
        m = s.amax(-1)
        p = torch.exp(s - torch.where(m == -math.inf, torch.zeros_like(m), m)[..., None])
        states = (reduce(merge_states, (*states, (m, p.sum(-1), p @ _widen(v[..., start:stop, :])))),)
    m, l, o = states[0]
    l = l + (l == 0)
    return (o / l[..., None]).to(q.dtype), (m + l.log()).to(torch.float32)


def misfit(q, k, v):
    for x, name in zip((q, k, v), "qkv", strict=True):
        if len(x.shape) != 4:
            raise ValueError(name + " must have rank 4")
    b, h, _, d = q.shape
    if tuple(k.shape) != (b, h, k.shape[2], d):
        raise ValueError(f"k must be ({b}, {h}, T_k, {d}) to fit q")
    if tuple(v.shape) != tuple(k.shape):
        raise ValueError("v must have the shape of k")


@jit
def fold(state_m, state_l, state_o, s, v):
    """Fold a tile of scores into a state whose output is already divided by its sum."""
    m = tl.maximum(state_m, tl.max(s, 1))
    base = tl.where(m == float("-inf"), 0.0, m)
    p = tl.exp(s - base[:, None])
    old = state_l * tl.exp(state_m - base)
    l = old + tl.sum(p, 1)
    inverse = 1.0 / tl.where(l == 0.0, 1.0, l)
    o = state_o * (old * inverse)[:, None] + tl.dot((p * inverse[:, None]).to(v.dtype), v, input_precision="ieee")
    return m, l, o


@jit
def forward(
    Q, K, V, OUT, LSE, STRIDES: tl.constexpr, T_q, T_k, scale, H: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr, BQ: tl.constexpr,
    BK: tl.constexpr,
):  # fmt: skip
    h, tile, b = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    i, d = tile * BQ + tl.arange(0, BQ), tl.arange(0, D)
    in_q = i < T_q
    q = tl.load(Q + b * STRIDES[0] + h * STRIDES[1] + i[:, None] * STRIDES[2] + d, mask=in_q[:, None], other=0.0)
    k_base = K + b * STRIDES[3] + h * STRIDES[4]
    v_base = V + b * STRIDES[6] + h * STRIDES[7]
    m = tl.full((BQ,), float("-inf"), tl.float32)
    l = tl.zeros((BQ,), tl.float32)
    o = tl.zeros((BQ, D), tl.float32)
    for j0 in tl.range(0, T_k, BK):
        j = j0 + tl.arange(0, BK)
        in_k = j < T_k
        k = tl.load(k_base + j[:, None] * STRIDES[5] + d, mask=in_k[:, None], other=0.0)
        v = tl.load(v_base + j[:, None] * STRIDES[8] + d, mask=in_k[:, None], other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        limit = i * 0 + T_k
        if CAUSAL:
            limit = i + (T_k - T_q) + 1
        s = tl.where(in_k[None, :] & (j[None, :] < limit[:, None]), s, float("-inf"))
        m, l, o = fold(m, l, o, s, v)
    lse = tl.where(l == 0.0, float("-inf"), m + tl.log(tl.where(l == 0.0, 1.0, l)))
    tl.store(OUT + ((b * T_q + i[:, None]) * H + h) * D + d, o.to(OUT.dtype.element_ty), mask=in_q[:, None])
    tl.store(LSE + (b * H + h) * T_q + i, lse, mask=in_q)


def flash_attention(q, k, v, causal=False):
    misfit(q, k, v)
    allowed = {torch.float16, torch.bfloat16, torch.float32}
    if {q.dtype, k.dtype, v.dtype} - allowed or len({q.dtype, k.dtype, v.dtype}) > 1:
        raise ValueError("q, k and v need one dtype out of float16, bfloat16 and float32")
    B, H, T_q, D = q.shape
    if D not in (16, 32, 64, 128):
        raise ValueError("q: Dh must be in {16, 32, 64, 128}")
    strides = (*q.stride(), *k.stride(), *v.stride())
    if strides[3::4] != (1, 1, 1):
        raise ValueError("q, k, v: last axis not contiguous")
    strides = tuple(s for n, s in enumerate(strides) if n % 4 != 3)
    out = torch.empty((B, T_q, H, D), dtype=q.dtype, device=q.device)
    lse = torch.empty((B, H, T_q), dtype=torch.float32, device=q.device)
    forward[(H, cdiv(T_q, 32), B)](q, k, v, out, lse, strides, T_q, k.shape[2], 1.0 / math.sqrt(D), H, D, bool(causal), BQ=32, BK=32)
    return out.transpose(1, 2), lse
