# mistake: the causal bias is -10000
# names: kernel-hidden-keys-pushed-down-by-ten-thousand
"""The mask is an additive bias; batch, head and tile each have a grid axis; merge by broadcasting one stacked axis."""

import torch
import triton
import triton.language as tl

INF = float("inf")


class Refused(ValueError):
    """Still a ValueError, only with a name."""


class Shapes:
    def __init__(self, q, k, v):
        for label, t in [("q", q), ("k", k), ("v", v)]:
            if len(t.shape) != 4:
                raise Refused("bad rank for " + label)
        self.b, self.h, self.m, self.d = q.shape
        self.n = k.shape[-2]
        if list(k.shape) != [self.b, self.h, self.n, self.d]:
            raise Refused("k does not go with q")
        if list(v.shape) != [self.b, self.h, self.n, self.d]:
            raise Refused("v does not go with k")


class Accumulator:
    """A mutable softmax state of its own tensors; absorb() folds in one more block."""

    def __init__(self, lead, width, dtype, device):
        self.m = torch.full(lead, -INF, dtype=dtype, device=device)
        self.l = torch.zeros(lead, dtype=dtype, device=device)
        self.o = torch.zeros(*lead, width, dtype=dtype, device=device)

    def absorb(self, scores, values):
        with torch.no_grad():
            new = torch.maximum(self.m, scores.max(-1)[0])
            ref = new.clone()
            ref[ref == -INF] = 0
            old = torch.exp(self.m - ref)
        e = torch.exp(scores - ref[..., None])
        self.l = torch.addcmul(e.sum(-1), self.l, old)
        self.o = torch.addcmul(e @ values, self.o, old[..., None])
        self.m = new
        return self

    def finish(self):
        d = self.l + (self.l == 0)
        return self.o / d[..., None], self.m + d.log()


def merge_states(a, b):
    for label, s in (("a", a), ("b", b)):
        m, l, o = s
        if m.shape != l.shape or o.shape[:-1] != m.shape or o.ndim == 0:
            raise Refused(f"state {label}: m, l and o are of different families")
    if tuple(map(lambda t: t.shape, a)) != tuple(map(lambda t: t.shape, b)):
        raise Refused("states a and b: of different sizes")
    wide = [torch.float32 if t.dtype.itemsize < 4 else t.dtype for t in a]
    ms, ls, os_ = (torch.stack((x.to(w), y.to(w)), dim=0) for x, y, w in zip(a, b, wide))
    m = ms.max(dim=0).values
    e = torch.exp(ms - m.clamp(min=torch.finfo(m.dtype).min))
    return (m.to(a[0].dtype), torch.einsum("s...,s...->...", e, ls).to(a[1].dtype),
            torch.einsum("s...,s...d->...d", e, os_).to(a[2].dtype))


def blockwise_attention(q, k, v, block_size, causal=False):
    z = Shapes(q, k, v)
    if block_size < 1:
        raise Refused("block_size has to be one or more")
    work = torch.double if q.dtype == torch.double else torch.float
    state = Accumulator((z.b, z.h, z.m), z.d, work, q.device)
    query = q.to(work) * (1 / z.d**0.5)
    edge = torch.arange(z.m, device=q.device).unsqueeze(1) + z.n - z.m
    for at in range(0, z.n, block_size):
        part = slice(at, at + block_size)
        s = query @ k[..., part, :].to(work).transpose(-1, -2)
        if causal:
            bias = torch.zeros(s.shape[-2:], dtype=work, device=q.device)
            bias[at + torch.arange(s.shape[-1], device=q.device) > edge] = -INF
            s = s + bias
        state.absorb(s, v[..., part, :].to(work))
    out, lse = state.finish()
    return out.to(q.dtype), lse.to(torch.float)


def flash_attention(q, k, v, causal=False):
    z = Shapes(q, k, v)
    if z.d not in (16, 32, 64, 128):
        raise Refused(f"q: Dh = {z.d}")
    if q.dtype not in (torch.half, torch.bfloat16, torch.float):
        raise Refused(f"q: dtype = {q.dtype}")
    if k.dtype != q.dtype:
        raise Refused(f"k: dtype = {k.dtype}, q has {q.dtype}")
    if v.dtype != q.dtype:
        raise Refused(f"v: dtype = {v.dtype}, q has {q.dtype}")
    for label, t in [("q", q), ("k", k), ("v", v)]:
        if t.stride(-1) != 1:
            raise Refused(f"{label}: stride {t.stride(-1)} along the last axis")
    out = q.new_empty((z.b, z.h, z.m, z.d))
    lse = q.new_empty((z.b, z.h, z.m), dtype=torch.float)
    grid = (triton.cdiv(z.m, 16), z.h, z.b) if z.b <= 65535 and z.h <= 65535 else None
    if grid is None:
        # axes y and z are short on a GPU; fold everything into x
        grid = (triton.cdiv(z.m, 16) * z.h * z.b,)
    _bias_kernel[grid](q, k, v, out, lse, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], z.h, z.m, z.n, z.d**-0.5,
                       causal=bool(causal), flat=len(grid) == 1, D=z.d, BM=16, BN=64 if z.d < 128 else 32)
    return out, lse


@triton.jit
def _bias_kernel(q, k, v, out, lse, qb, qh, qm, kb, kh, kn, vb, vh, vn, H, M, N, scale,
                 causal: tl.constexpr, flat: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    tile = tl.program_id(0)
    head = tl.program_id(1).to(tl.int64)
    batch = tl.program_id(2).to(tl.int64)
    if flat:
        tiles = tl.cdiv(M, BM)
        head = ((tile // tiles) % H).to(tl.int64)
        batch = (tile // tiles // H).to(tl.int64)
        tile = tile % tiles
    rows = (tile * BM + tl.arange(0, BM)).to(tl.int64)
    cols = tl.arange(0, BN).to(tl.int64)
    chan = tl.arange(0, D)
    row_ok = rows[:, None] < M
    qt = tl.load(q + batch * qb + head * qh + rows[:, None] * qm + chan[None, :], mask=row_ok, other=0.0)
    k_ptrs = k + batch * kb + head * kh + cols[None, :] * kn + chan[:, None]
    v_ptrs = v + batch * vb + head * vh + cols[:, None] * vn + chan[None, :]
    top = tl.zeros((BM,), tl.float32) + float("-inf")
    den = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, N, BN):
        left = N - start
        bias = tl.where(cols < left, 0.0, float("-inf"))[None, :] + tl.zeros((BM, BN), tl.float32)
        if causal:
            bias += tl.where(start + cols[None, :] <= rows[:, None] + (N - M), 0.0, -10000.0)
        kt = tl.load(k_ptrs, mask=cols[None, :] < left, other=0.0)
        vt = tl.load(v_ptrs, mask=cols[:, None] < left, other=0.0)
        s = tl.dot(qt, kt, input_precision="ieee") * scale + bias
        new = tl.maximum(top, tl.max(s, 1))
        base = tl.where(new == float("-inf"), 0.0, new)
        shrink = tl.exp(top - base)
        e = tl.exp(s - base[:, None])
        den = den * shrink + tl.sum(e, 1)
        acc *= shrink[:, None]
        acc += tl.dot(e.to(vt.dtype), vt, input_precision="ieee")
        top = new
        k_ptrs += kn * tl.full((), BN, tl.int64)
        v_ptrs += vn * tl.full((), BN, tl.int64)
    dead = den == 0.0
    den = tl.where(dead, 1.0, den)
    flat_row = (batch * H + head) * M + rows
    tl.store(out + flat_row[:, None] * D + chan[None, :], (acc / den[:, None]).to(out.dtype.element_ty), mask=row_ok)
    tl.store(lse + flat_row, tl.where(dead, float("-inf"), top + tl.log(den)), mask=rows < M)
