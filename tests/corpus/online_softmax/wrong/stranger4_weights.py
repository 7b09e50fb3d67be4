# mistake: merge_states measures its weights from max(m, 0) and returns m
# names: weights-from-a-maximum-of-zero
import torch
import triton
import triton.language as tl

NEG = float("-inf")


def _state(name, s):
    if len(s) != 3:
        raise ValueError(f"{name} must be (m, l, o)")
    m, l, o = s
    if m.shape != l.shape or o.dim() != m.dim() + 1 or o.shape[:-1] != m.shape:
        raise ValueError(f"{name}: m, l and o don't fit each other")
    return m, l, o


def merge_states(a, b):
    m_a, l_a, o_a = _state("a", a)
    m_b, l_b, o_b = _state("b", b)
    if m_a.shape != m_b.shape or o_a.shape != o_b.shape:
        raise ValueError("a and b have different shapes")
    out = [torch.promote_types(x.dtype, y.dtype) for x, y in zip(a, b)]
    wide = torch.float32
    for dtype in out:
        wide = torch.promote_types(wide, dtype)
    m_a, l_a, o_a, m_b, l_b, o_b = (t.to(wide) for t in (m_a, l_a, o_a, m_b, l_b, o_b))
    m = torch.maximum(m_a, m_b)
    base = m.clamp(min=0.0)
    w_a, w_b = torch.exp(m_a - base), torch.exp(m_b - base)
    l = w_a * l_a + w_b * l_b
    o = w_a[..., None] * o_a + w_b[..., None] * o_b
    return tuple(t.to(dtype) for t, dtype in zip((m, l, o), out))


def _check(q, k, v):
    for name, t in (("q", q), ("k", k), ("v", v)):
        if t.dim() != 4:
            raise ValueError(f"{name} must have rank 4")
        if t.numel() == 0:
            raise ValueError(f"{name} must not be empty")
    if k.shape[:2] != q.shape[:2] or k.shape[3] != q.shape[3]:
        raise ValueError("k doesn't fit q")
    if v.shape != k.shape:
        raise ValueError("v doesn't fit k")


def blockwise_attention(q, k, v, block_size, causal=False):
    _check(q, k, v)
    if block_size < 1:
        raise ValueError("block_size must be at least 1")
    B, H, T_q, Dh = q.shape
    T_k = k.shape[2]
    wide = torch.promote_types(q.dtype, torch.float32)
    qs = q.to(wide) * Dh**-0.5
    state = (qs.new_full((B, H, T_q), NEG), qs.new_zeros(B, H, T_q), torch.zeros_like(qs))
    last = torch.arange(T_q, device=q.device)[:, None] + (T_k - T_q)
    for j in range(0, T_k, block_size):
        kb, vb = k[:, :, j : j + block_size].to(wide), v[:, :, j : j + block_size].to(wide)
        s = qs @ kb.transpose(-1, -2)
        if causal:
            s = s.masked_fill(torch.arange(j, j + kb.shape[2], device=q.device) > last, NEG)
        m = s.amax(-1)
        p = torch.exp(s - m.masked_fill(m == NEG, 0.0)[..., None])
        state = merge_states(state, (m, p.sum(-1), p @ vb))
    m, l, o = state
    empty = l == 0
    safe = l.masked_fill(empty, 1.0)
    return (o / safe[..., None]).to(q.dtype), (m + safe.log()).float()


@triton.jit
def _kernel(Q, K, V, O, L, qb, qh, qt, kb, kh, kt, vb, vh, vt, ob, oh, ot, H, T_q, T_k, scale,
            CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    bh = tl.program_id(0).to(tl.int64)
    b = bh // H
    h = bh % H
    start = tl.program_id(1) * BM
    rows = start + tl.arange(0, BM)
    cols = tl.arange(0, BN)
    d = tl.arange(0, D)
    q = tl.load(Q + b * qb + h * qh + rows.to(tl.int64)[:, None] * qt + d[None, :], mask=rows[:, None] < T_q, other=0.0)
    m = tl.full([BM], float("-inf"), tl.float32)
    l = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    end = T_k
    if CAUSAL:
        end = tl.minimum(T_k, start + BM + T_k - T_q)
    for n in range(0, end, BN):
        key = n + cols
        k = tl.load(K + b * kb + h * kh + key.to(tl.int64)[None, :] * kt + d[:, None], mask=key[None, :] < T_k, other=0.0)
        s = tl.dot(q, k, input_precision="ieee") * scale
        visible = key[None, :] < T_k
        if CAUSAL:
            visible = visible & (key[None, :] <= rows[:, None] + (T_k - T_q))
        s = tl.where(visible, s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, 1))
        base = tl.where(m_new == float("-inf"), 0.0, m_new)
        p = tl.exp(s - base[:, None])
        w = tl.exp(m - base)
        l = l * w + tl.sum(p, 1)
        v = tl.load(V + b * vb + h * vh + key.to(tl.int64)[:, None] * vt + d[None, :], mask=key[:, None] < T_k, other=0.0)
        acc = acc * w[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        m = m_new
    safe = tl.where(l == 0.0, 1.0, l)
    o = acc / safe[:, None]
    tl.store(O + b * ob + h * oh + rows.to(tl.int64)[:, None] * ot + d[None, :], o.to(O.dtype.element_ty), mask=rows[:, None] < T_q)
    tl.store(L + bh * T_q + rows, m + tl.log(safe), mask=rows < T_q)


def flash_attention(q, k, v, causal=False):
    _check(q, k, v)
    if q.shape[3] not in (16, 32, 64, 128):
        raise ValueError("q must have a head width of 16, 32, 64 or 128")
    if q.dtype not in (torch.float16, torch.bfloat16, torch.float32):
        raise ValueError("q must be float16, bfloat16 or float32")
    if not q.dtype == k.dtype == v.dtype:
        raise ValueError("q, k and v must have one dtype")
    if not q.device == k.device == v.device:
        raise ValueError("q, k and v must be on one device")
    for name, t in (("q", q), ("k", k), ("v", v)):
        if t.stride(3) != 1:
            raise ValueError(f"{name}: the last axis must be contiguous")
    q, k, v = q.detach(), k.detach(), v.detach()
    B, H, T_q, D = q.shape
    T_k = k.shape[2]
    out = torch.empty((B, H, T_q, D), dtype=q.dtype, device=q.device)
    lse = torch.empty((B, H, T_q), dtype=torch.float32, device=q.device)
    BM, BN = 64, 32
    with torch.cuda.device_of(q):
        _kernel[(B * H, triton.cdiv(T_q, BM))](
            q, k, v, out, lse, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *out.stride()[:3], H, T_q, T_k, D**-0.5,
            CAUSAL=bool(causal), D=D, BM=BM, BN=BN,
        )
    return out, lse
