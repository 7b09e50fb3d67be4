# mistake: one maximum over all rows
# names: blocks-one-maximum-for-all-rows
import torch
import triton
import triton.language as tl
from torch.autograd import Function


def merge_states(a, b):
    m_a, l_a, o_a = a
    m_b, l_b, o_b = b
    try:
        assert m_a.shape == l_a.shape == m_b.shape == l_b.shape
        assert o_a.shape == o_b.shape
        assert o_a.shape[:-1] == m_a.shape and o_a.dim() == m_a.dim() + 1
    except AssertionError:
        raise ValueError("a and b: m, l and o don't fit each other") from None
    both_empty = torch.isneginf(m_a) & torch.isneginf(m_b)
    high = torch.promote_types(m_a.dtype, torch.float32)
    m = torch.maximum(m_a, m_b)
    pivot = torch.where(both_empty, torch.zeros_like(m), m).to(high)
    s_a, s_b = torch.exp(m_a.to(high) - pivot), torch.exp(m_b.to(high) - pivot)
    l = torch.stack([l_a * s_a, l_b * s_b]).sum(0)
    o = torch.einsum("n...,n...d->...d", torch.stack([s_a, s_b]), torch.stack([o_a, o_b]).to(high))
    return m, l.to(m_a.dtype), o.to(m_a.dtype)


def _blocks(q, k, block_size, causal):
    wide = torch.promote_types(q.dtype, torch.float32)
    shift = k.shape[2] - q.shape[2]
    i = torch.arange(q.shape[2], device=q.device)
    for start in range(0, k.shape[2], block_size):
        where = slice(start, min(start + block_size, k.shape[2]))
        s = torch.einsum("bhid,bhjd->bhij", q.to(wide), k[:, :, where].to(wide)) * q.shape[3] ** -0.5
        if causal:
            j = torch.arange(where.start, where.stop, device=q.device)
            s.masked_fill_(j[None, :] > i[:, None] + shift, float("-inf"))
        yield where, s


class _Blockwise(Function):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        wide = torch.promote_types(q.dtype, torch.float32)
        m = torch.full(q.shape[:3], float("-inf"), dtype=wide, device=q.device)
        l, o = torch.zeros_like(m), torch.zeros(q.shape, dtype=wide, device=q.device)
        for where, s in _blocks(q, k, block_size, causal):
            top = torch.maximum(m, s.amax())
            base = torch.nan_to_num(top, neginf=0.0)
            s.sub_(base.unsqueeze(-1)).exp_()
            fade = (m - base).exp_()
            l.mul_(fade).add_(s.sum(-1))
            o.mul_(fade.unsqueeze(-1)).add_(s @ v[:, :, where].to(wide))
            m = top
        o /= l.clamp(min=torch.finfo(wide).tiny).unsqueeze(-1)
        lse = m + l.log()
        ctx.save_for_backward(q, k, v, o, lse)
        ctx.options = block_size, causal
        return o.to(q.dtype), lse.float()

    @staticmethod
    def backward(ctx, d_out, d_lse):
        q, k, v, o, lse = ctx.saved_tensors
        wide = o.dtype
        d_out, base = d_out.to(wide), torch.nan_to_num(lse, neginf=0.0).unsqueeze(-1)
        d_lse = torch.where(torch.isneginf(lse), 0.0, d_lse.to(wide))
        inner = (d_out * o).sum(-1) - d_lse
        d_q, d_k, d_v = torch.zeros_like(o), torch.zeros_like(k, dtype=wide), torch.zeros_like(v, dtype=wide)
        for where, s in _blocks(q, k, *ctx.options):
            p = (s - base).exp()
            d_v[:, :, where] = p.mT @ d_out
            d_s = p * (d_out @ v[:, :, where].to(wide).mT - inner.unsqueeze(-1)) * q.shape[3] ** -0.5
            d_q += d_s @ k[:, :, where].to(wide)
            d_k[:, :, where] = d_s.mT @ q.to(wide)
        return d_q.to(q.dtype), d_k.to(k.dtype), d_v.to(v.dtype), None, None


def blockwise_attention(q, k, v, block_size, causal=False):
    validate(q=q, k=k, v=v)
    if block_size < 1:
        raise ValueError("block_size must not be below 1")
    return _Blockwise.apply(q, k, v, block_size, causal)


def validate(**tensors):
    for name, t in tensors.items():
        if t.ndim != 4:
            raise ValueError(f"{name}: rank {t.ndim}, not 4")
    q, k, v = tensors.values()
    if k.shape != v.shape:
        raise ValueError("v does not fit k")
    if k.shape[:2] + k.shape[3:] != q.shape[:2] + q.shape[3:]:
        raise ValueError("k does not fit q")


@triton.heuristics({"M": lambda args: 16 if args["n_q"] <= 16 else 64, "EVEN": lambda args: args["n_k"] % 32 == 0})
@triton.jit
def fused(
    q, k, v, out, lse, q_b, q_h, q_t, k_b, k_h, k_t, v_b, v_h, v_t, o_b, o_h, o_t, heads, n_q, n_k, scale,
    WIDTH: tl.constexpr, CAUSAL: tl.constexpr, M: tl.constexpr, EVEN: tl.constexpr,
):  # fmt: skip
    bh, tile = tl.program_id(0), tl.program_id(1)
    if tile * M >= n_q:
        return
    b, h = bh // heads, bh % heads
    i, d, n = tile * M + tl.arange(0, M), tl.arange(0, WIDTH), tl.arange(0, 32)
    rows = tl.load(q + b * q_b + h * q_h + i[:, None] * q_t + d[None, :], mask=(i < n_q)[:, None], other=0).to(tl.float32) * scale
    k_at = k + b * k_b + h * k_h + n[:, None] * k_t + d[None, :]
    v_at = v + b * v_b + h * v_h + n[:, None] * v_t + d[None, :]
    m, l = tl.full((M,), float("-inf"), tl.float32), tl.zeros((M,), tl.float32)
    o = tl.zeros((M, WIDTH), tl.float32)
    first = 0
    while first < n_k:
        if EVEN:
            keys, values = tl.load(k_at), tl.load(v_at)
        else:
            keys = tl.load(k_at, mask=(first + n < n_k)[:, None], other=0)
            values = tl.load(v_at, mask=(first + n < n_k)[:, None], other=0)
        s = tl.dot(rows, keys.to(tl.float32).T, input_precision="ieee")
        if not EVEN:
            s = tl.where((first + n < n_k)[None, :], s, float("-inf"))
        if CAUSAL:
            s = tl.where((first + n)[None, :] > i[:, None] + n_k - n_q, float("-inf"), s)
        top = tl.maximum(m, tl.max(s, 1))
        base = tl.where(top == float("-inf"), 0.0, top)
        p = tl.exp(s - base[:, None])
        l = l * tl.exp(m - base) + tl.sum(p, 1)
        o = o * tl.exp(m - base)[:, None] + tl.dot(p, values.to(tl.float32), input_precision="ieee")
        m = top
        first += 32
        k_at += 32 * k_t
        v_at += 32 * v_t
    l = tl.where(m == float("-inf"), 1.0, l)
    tl.store(out + b * o_b + h * o_h + i[:, None] * o_t + d[None, :], (o / l[:, None]).to(out.dtype.element_ty), mask=(i < n_q)[:, None])
    tl.store(lse + bh * n_q + i, tl.log(l) + m, mask=i < n_q)


def flash_attention(q, k, v, causal=False, *, spare_programs=1):
    validate(q=q, k=k, v=v)
    if q.dtype not in (torch.float16, torch.float32, torch.bfloat16) or k.dtype != q.dtype or v.dtype != q.dtype:
        raise ValueError(f"dtypes of q, k, v: {q.dtype}, {k.dtype}, {v.dtype}")
    b, h, n_q, width = q.shape
    if width not in (16, 32, 64, 128):
        raise ValueError(f"q: width {width}")
    if any(t.stride(-1) != 1 for t in (q, k, v)):
        raise ValueError("q, k, v: strided last axis")
    out, lse = torch.empty_like(q, memory_format=torch.preserve_format), torch.empty((b, h, n_q), device=q.device)
    strides = [s for t in (q, k, v, out) for s in t.stride()[:3]]
    grid = lambda args: (b * h, triton.cdiv(n_q, args["M"]) + spare_programs)  # noqa: E731
    fused[grid](q, k, v, out, lse, *strides, h, n_q, k.shape[2], width**-0.5, WIDTH=width, CAUSAL=causal)
    return out, lse
