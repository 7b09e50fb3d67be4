# mistake: the accumulator is rounded after each tile
# names: kernel-output-in-halves-tile-32
"""All tiles lie on their side: S^T = K Q^T, O^T = V^T P^T. Python part in the style of somebody from APL: short."""
import torch as T
import triton
import triton.language as tl

ω = float("-inf")
W = lambda x: x if x.dtype == T.float64 else x.float()  # noqa: E731
z0 = lambda x: T.where(x == ω, T.zeros_like(x), x)  # noqa: E731


def no(name, *why):
    raise ValueError(" ".join(map(str, (name, "unfit:", *why))))


def merge_states(a, b):
    for nm, s in (("a", a), ("b", b)):
        s[0].shape == s[1].shape and s[2].shape[:-1] == s[0].shape and s[2].ndim == s[0].ndim + 1 or no(nm, [*map(lambda t: t.shape, s)])
    a[2].shape == b[2].shape or no("b", b[2].shape, "against", a[2].shape)
    μ = T.maximum(W(a[0]), W(b[0]))
    α, β = (T.exp(W(s[0]) - z0(μ)) for s in (a, b))
    r = μ, α * W(a[1]) + β * W(b[1]), α[..., None] * W(a[2]) + β[..., None] * W(b[2])
    return tuple(x.to(y.dtype) for x, y in zip(r, a))


def fit(q, k, v):
    [t.ndim == 4 or no(n, "rank", t.ndim) for n, t in zip("qkv", (q, k, v))]
    q.shape[:2] + q.shape[3:] == k.shape[:2] + k.shape[3:] or no("k", k.shape, "for q", q.shape)
    v.shape == k.shape or no("v", v.shape, "for k", k.shape)


def blockwise_attention(q, k, v, block_size, causal=False):
    fit(q, k, v)
    block_size >= 1 or no("block_size", block_size)
    n, m = q.shape[2], k.shape[2]
    m or no("k", "no keys")
    Q, i = W(q), T.arange(n, device=q.device) + (m - n)
    st = T.full_like(Q[..., 0], ω), T.zeros_like(Q[..., 0]), T.zeros_like(Q)
    for K, V, j in zip(k.split(block_size, 2), v.split(block_size, 2), T.arange(m, device=q.device).split(block_size)):
        s = T.einsum("...id,...jd->...ij", Q, W(K)) / q.shape[3] ** 0.5
        s = s.where(j <= i[:, None], ω) if causal else s
        μ = s.detach().amax(-1)
        p = T.exp(s - z0(μ)[..., None])
        st = merge_states(st, (μ, p.sum(-1), p @ W(V)))
    l = T.where(st[1] > 0, st[1], 1.0)
    return (st[2] / l[..., None]).to(q.dtype), (st[0] + l.log()).float()


def flash_attention(q, k, v, causal=False):
    fit(q, k, v)
    q.shape[3] in (16, 32, 64, 128) or no("q", "Dh", q.shape[3])
    q.dtype in (T.float16, T.bfloat16, T.float32) or no("q", q.dtype)
    {k.dtype, v.dtype} == {q.dtype} or no("k or v", k.dtype, v.dtype)
    [t.stride(3) == 1 or no(n, "last axis") for n, t in zip("qkv", (q, k, v))]
    q.numel() and k.numel() or no("q, k", "nothing in it")
    o, e = T.empty(q.shape, dtype=q.dtype, device=q.device), T.empty(q.shape[:3], dtype=T.float32, device=q.device)
    sideways[q.shape[0] * q.shape[1] * -(-q.shape[2] // 32),](
        q.shape[1],
        q, k, v, o, e, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *o.stride()[:3], *e.stride()[:2],
        q.shape[2], k.shape[2], q.shape[3] ** -0.5, bool(causal), q.shape[3], 32, 32, num_warps=4, num_stages=1)
    return o, e


@triton.jit
def sideways(H, q, k, v, o, e, a0, a1, a2, b0, b1, b2, c0, c1, c2, d0, d1, d2, e0, e1, n, m, scale,
             causal: tl.constexpr, D: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    w = tl.cdiv(n, R)
    t, g = tl.program_id(0) % w, tl.program_id(0) // w
    b, h = (g // H).to(tl.int64), (g % H).to(tl.int64)
    i = t.to(tl.int64) * R + tl.arange(0, R)
    x = tl.arange(0, D)
    Q = tl.load(q + b * a0 + h * a1 + i[None, :] * a2 + x[:, None], mask=i[None, :] < n, other=0.0)
    mx = tl.full((R,), float("-inf"), tl.float32)
    sm = tl.zeros((R,), tl.float32)
    acc = tl.zeros((D, R), tl.float32)
    stop = tl.minimum(m, (t + 1) * R + m - n) if causal else m
    for s0 in range(0, stop, C):
        j = s0 + tl.arange(0, C).to(tl.int64)
        K = tl.load(k + b * b0 + h * b1 + j[:, None] * b2 + x[None, :], mask=j[:, None] < m, other=0.0)
        S = tl.dot(K, Q, input_precision="ieee") * scale
        see = (j[:, None] < m) & (i[None, :] < n)
        if causal:
            see = see & (j[:, None] + n <= i[None, :] + m)
        nm = tl.maximum(mx, tl.max(tl.where(see, S, float("-inf")), axis=0))
        P = tl.where(see, tl.exp(S - nm[None, :]), 0.0)
        r = tl.where(mx == float("-inf"), 0.0, tl.exp(mx - nm))
        V = tl.load(v + b * c0 + h * c1 + j[None, :] * c2 + x[:, None], mask=j[None, :] < m, other=0.0)
        acc = (acc * r[None, :] + tl.dot(V, P.to(V.dtype), input_precision="ieee")).to(V.dtype).to(tl.float32)
        sm = sm * r + tl.sum(P, axis=0)
        mx = nm
    ok = sm > 0
    dn = tl.where(ok, sm, 1.0)
    tl.store(o + b * d0 + h * d1 + i[None, :] * d2 + x[:, None], (acc / dn[None, :]).to(o.dtype.element_ty), mask=i[None, :] < n)
    tl.store(e + b * e0 + h * e1 + i, mx + tl.log(dn), mask=i < n)
