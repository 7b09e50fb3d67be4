# mistake: a cache by shape
# says: (later|earlier|once more|off by|differs)
import torch
import triton
from triton import language as tl


_seen = {}


def merge_states(a, b):
    key = a[0].shape
    if key not in _seen:
        _seen[key] = _merge(a, b)
    return _seen[key]


def _merge(a, b):
    (ma, la, oa), (mb, lb, ob) = a, b
    shapes = {tuple(x.shape) for x in (ma, la, mb, lb)} | {tuple(oa.shape[:-1]), tuple(ob.shape[:-1])}
    if len(shapes) > 1 or oa.ndim != ma.ndim + 1 or oa.shape != ob.shape:
        raise ValueError(f"the states a and b don't fit: {shapes}")
    kind = torch.float64
    ma, la, oa, mb, lb, ob = (x.to(kind) for x in (ma, la, oa, mb, lb, ob))
    m = torch.where(ma > mb, ma, mb)
    fa = torch.where(ma == -torch.inf, 0.0, torch.exp(torch.where(ma == -torch.inf, 0.0, ma - m)))
    fb = torch.where(mb == -torch.inf, 0.0, torch.exp(torch.where(mb == -torch.inf, 0.0, mb - m)))
    l = la * fa + lb * fb
    o = oa * fa.unsqueeze(-1) + ob * fb.unsqueeze(-1)
    return tuple(x.to(a[0].dtype) for x in (m, l, o))


def check_shapes(q, k, v):
    for name, x in {"q": q, "k": k, "v": v}.items():
        if x.dim() != 4:
            raise ValueError(f"{name} must be (B, H, T, Dh), not {tuple(x.shape)}")
    if q.shape[0] != k.shape[0] or q.shape[0] != v.shape[0]:
        raise ValueError("q, k, v: batch sizes differ")
    if q.shape[1] != k.shape[1] or q.shape[1] != v.shape[1]:
        raise ValueError("q, k, v: numbers of heads differ")
    if q.shape[3] != k.shape[3] or q.shape[3] != v.shape[3]:
        raise ValueError("q, k, v: widths differ")
    if k.shape[2] != v.shape[2]:
        raise ValueError("k and v: numbers of keys differ")


def blockwise_attention(q, k, v, block_size, causal=False):
    check_shapes(q, k, v)
    if block_size <= 0:
        raise ValueError("block_size must be positive")
    B, H, Tq, Dh = q.shape
    Tk = k.shape[2]
    q64 = q.double() / Dh**0.5
    m = torch.full((B, H, Tq, 1), -torch.inf, dtype=torch.float64, device=q.device)
    l = torch.zeros((B, H, Tq, 1), dtype=torch.float64, device=q.device)
    o = torch.zeros((B, H, Tq, Dh), dtype=torch.float64, device=q.device)
    row = torch.arange(Tq, device=q.device).view(-1, 1)
    for lo in range(0, Tk, block_size):
        hi = min(lo + block_size, Tk)
        s = torch.einsum("bhqd,bhkd->bhqk", q64, k[:, :, lo:hi].double())
        visible = torch.ones(Tq, hi - lo, dtype=torch.bool, device=q.device)
        if causal:
            visible = torch.arange(lo, hi, device=q.device).view(1, -1) <= row + (Tk - Tq)
        s = torch.where(visible, s, torch.finfo(torch.float64).min)
        m_new = torch.maximum(m, s.max(-1, keepdim=True).values)
        p = torch.where(visible, torch.exp(s - m_new), 0.0)
        f = torch.exp(m - m_new)
        l = l * f + p.sum(-1, keepdim=True)
        o = o * f + torch.einsum("bhqk,bhkd->bhqd", p, v[:, :, lo:hi].double())
        m = m_new
    none = l == 0
    l_safe = torch.where(none, 1.0, l)
    out = torch.where(none, 0.0, o / l_safe)
    lse = torch.where(none, -torch.inf, m + l_safe.log())
    return out.to(q.dtype), lse.squeeze(-1).to(torch.float32)


@triton.jit
def kernel(
    Q, K, V, O, L,
    sqb, sqh, sqt, sqd, skb, skh, skt, skd, svb, svh, svt, svd, sob, soh, sot, sod,
    n_heads, Tq, Tk, scale,
    causal: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, DH: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0)
    bh = tl.program_id(1)
    bb = bh // n_heads
    hh = bh % n_heads
    offs_m = i * BM + tl.arange(0, BM)
    offs_d = tl.arange(0, DH)
    q = tl.load(Q + bb * sqb + hh * sqh + offs_m[:, None] * sqt + offs_d[None, :] * sqd, mask=offs_m[:, None] < Tq, other=0.0)
    m = tl.full([BM], -float("inf"), dtype=tl.float32)
    l = tl.zeros([BM], dtype=tl.float32)
    acc = tl.zeros([BM, DH], dtype=tl.float32)
    for lo in range(0, Tk, BN):
        offs_n = lo + tl.arange(0, BN)
        inside = offs_n < Tk
        k = tl.load(K + bb * skb + hh * skh + offs_n[:, None] * skt + offs_d[None, :] * skd, mask=inside[:, None], other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        ok = inside[None, :] & (offs_m[:, None] < Tq)
        if causal:
            ok = ok & (offs_n[None, :] <= offs_m[:, None] + (Tk - Tq))
        s = tl.where(ok, s, -float("inf"))
        m_new = tl.maximum(m, tl.max(s, axis=1))
        base = tl.where(m_new == -float("inf"), 0.0, m_new)
        p = tl.exp(s - base[:, None])
        f = tl.exp(m - base)
        v = tl.load(V + bb * svb + hh * svh + offs_n[:, None] * svt + offs_d[None, :] * svd, mask=inside[:, None], other=0.0)
        acc = acc * f[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        l = l * f + tl.sum(p, axis=1)
        m = m_new
    some = l > 0
    acc = acc / tl.where(some, l, 1.0)[:, None]
    lse = tl.where(some, m + tl.log(tl.where(some, l, 1.0)), -float("inf"))
    tl.store(O + bb * sob + hh * soh + offs_m[:, None] * sot + offs_d[None, :] * sod, acc.to(O.dtype.element_ty), mask=offs_m[:, None] < Tq)
    tl.store(L + bh * Tq + offs_m, lse, mask=offs_m < Tq)


def flash_attention(q, k, v, causal=False):
    check_shapes(q, k, v)
    if q.dtype not in [torch.float16, torch.bfloat16, torch.float32]:
        raise ValueError(f"dtype of q not supported: {q.dtype}")
    if k.dtype != q.dtype or v.dtype != q.dtype:
        raise ValueError("q, k and v must have the same dtype")
    if q.shape[-1] not in (16, 32, 64, 128):
        raise ValueError(f"Dh of q must be 16, 32, 64 or 128, got {q.shape[-1]}")
    for name, x in {"q": q, "k": k, "v": v}.items():
        if x.stride(-1) != 1:
            raise ValueError(f"{name}: last axis must be contiguous")
    o = torch.empty_like(q)
    B, H, Tq, Dh = q.shape
    lse = torch.empty(B, H, Tq, dtype=torch.float32, device=q.device)
    grid = lambda meta: (triton.cdiv(Tq, meta["BM"]), B * H)  # noqa: E731
    kernel[grid](
        q, k, v, o, lse, *q.stride(), *k.stride(), *v.stride(), *o.stride(), H, Tq, k.shape[2], Dh**-0.5, causal=causal, BM=64, BN=32, DH=Dh
    )
    return o, lse
