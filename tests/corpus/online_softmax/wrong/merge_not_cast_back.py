# mistake: half precision comes back as float32
# names: merge-returns-float32-for-halves
import math

import torch
import triton
import triton.language as tl


def merge_states(a, b):
    if len(a) != 3 or len(b) != 3:
        raise ValueError("a and b are (m, l, o)")
    leading = a[0].shape
    for side, (m, l, o) in zip("ab", (a, b), strict=True):
        if m.shape != leading or l.shape != leading or o.shape[:-1] != leading or o.ndim != len(leading) + 1:
            raise ValueError(f"{side}: shapes {tuple(m.shape)}, {tuple(l.shape)}, {tuple(o.shape)} don't fit {tuple(leading)}")
    if a[2].shape[-1] != b[2].shape[-1]:
        raise ValueError("a and b: widths of o differ")
    a, b = ([x if x.dtype == torch.float64 else x.float() for x in s] for s in (a, b))
    lo = torch.maximum(a[0], b[0])
    parts = []
    for m, l, o in (a, b):
        weight = torch.where(torch.isinf(m), torch.zeros_like(m), torch.exp(torch.where(torch.isinf(m), torch.zeros_like(m), m - lo)))
        parts.append((l * weight, o * weight[..., None]))
    total = (lo, parts[0][0] + parts[1][0], parts[0][1] + parts[1][1])
    return total


def blockwise_attention(q, k, v, block_size, causal=False):
    _fits(q, k, v)
    if block_size < 1:
        raise ValueError("block_size must be >= 1")
    work = torch.float32 if q.dtype in (torch.float16, torch.bfloat16) else q.dtype
    tq, tk = q.shape[2], k.shape[2]
    offset = tk - tq
    out = torch.zeros(q.shape, dtype=work, device=q.device)
    lse = torch.full(q.shape[:3], -math.inf, dtype=work, device=q.device)
    qs = q.to(work).mul(1.0 / math.sqrt(q.shape[3]))
    for begin in range(0, tk, block_size):
        size = min(block_size, tk - begin)
        first = max(0, begin - offset) if causal else 0  # queries before `first` see nothing of this block
        if first >= tq:
            break
        scores = qs[:, :, first:] @ k.narrow(2, begin, size).to(work).transpose(2, 3)
        if causal:
            i = torch.arange(first, tq, device=q.device).unsqueeze(1)
            j = torch.arange(begin, begin + size, device=q.device).unsqueeze(0)
            scores = scores.masked_fill(~(j <= i + offset), -math.inf)
        block_lse = torch.logsumexp(scores, -1)
        block_out = torch.exp(scores - block_lse.unsqueeze(-1)) @ v.narrow(2, begin, size).to(work)
        new_lse = torch.logaddexp(lse[:, :, first:], block_lse)
        keep = torch.exp(lse[:, :, first:] - new_lse).unsqueeze(-1)
        add = torch.exp(block_lse - new_lse).unsqueeze(-1)
        out = torch.cat([out[:, :, :first], out[:, :, first:] * keep + block_out * add], 2)
        lse = torch.cat([lse[:, :, :first], new_lse], 2)
    return out.to(q.dtype), lse.float()


def _fits(q, k, v):
    for n, x in (("q", q), ("k", k), ("v", v)):
        if x.dim() != 4:
            raise ValueError(f"{n} needs four axes")
    if list(k.shape) != list(v.shape):
        raise ValueError("k and v differ in shape")
    for axis in (0, 1, 3):
        if q.shape[axis] != k.shape[axis]:
            raise ValueError(f"q and k differ on axis {axis}")


@triton.jit
def query_kernel(q, k, v, out, lse, sq, sk, sv, T_q, T_k, H, scale, CAUSAL: tl.constexpr, D: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0)
    bh = tl.program_id(1)
    b, h = bh // H, bh % H
    d = tl.arange(0, D)
    query = tl.load(q + b * sq[0] + h * sq[1] + i * sq[2] + d).to(tl.float32) * scale
    visible = T_k
    if CAUSAL:
        visible = tl.minimum(T_k, i + 1 + T_k - T_q)
    m = -float("inf")
    l = 0.0
    o = tl.zeros((D,), tl.float32)
    for start in range(0, visible, N):
        j = start + tl.arange(0, N)
        ok = j < visible
        keys = tl.load(k + b * sk[0] + h * sk[1] + j[:, None] * sk[2] + d[None, :], mask=ok[:, None], other=0.0).to(tl.float32)
        s = tl.where(ok, tl.sum(keys * query[None, :], axis=1), -float("inf"))
        new = tl.maximum(m, tl.max(s, axis=0))
        p = tl.exp(s - new)
        f = tl.exp(m - new)
        values = tl.load(v + b * sv[0] + h * sv[1] + j[:, None] * sv[2] + d[None, :], mask=ok[:, None], other=0.0).to(tl.float32)
        o = o * f + tl.sum(values * p[:, None], axis=0)
        l = l * f + tl.sum(p, axis=0)
        m = new
    row = bh * T_q + i
    if visible > 0:
        tl.store(out + row * D + d, (o / l).to(out.dtype.element_ty))
        tl.store(lse + row, m + tl.log(l))
    else:
        tl.store(out + row * D + d, tl.zeros((D,), tl.float32).to(out.dtype.element_ty))
        tl.store(lse + row, -float("inf"))


def flash_attention(q, k, v, causal=False):
    _fits(q, k, v)
    if not (q.dtype is k.dtype is v.dtype):
        raise ValueError("q, k, v must agree in dtype")
    if q.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError(f"q has dtype {q.dtype}")
    if q.shape[3] not in {16, 32, 64, 128}:
        raise ValueError(f"q has width {q.shape[3]}")
    for n, x in (("q", q), ("k", k), ("v", v)):
        if x.stride(3) != 1:
            raise ValueError(f"{n}'s last axis has stride {x.stride(3)}")
    out = torch.empty(tuple(q.shape), dtype=q.dtype, device=q.device)
    lse = torch.empty(tuple(q.shape[:3]), dtype=torch.float32, device=q.device)
    query_kernel[(q.shape[2], q.shape[0] * q.shape[1])](
        q, k, v, out, lse, q.stride(), k.stride(), v.stride(), q.shape[2], k.shape[2], q.shape[1], q.shape[3] ** -0.5,
        CAUSAL=causal, D=q.shape[3], N=64,
    )  # fmt: skip
    return out, lse
