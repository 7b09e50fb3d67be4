# mistake: the maximum is taken before the mask
# names: kernel-maximum-before-the-mask
"""The kernel walks the head width in slices of 16 for the scores; the state machine in Python is a generator that is sent blocks."""
import torch
import triton
import triton.language as tl

softmax_state = tuple
einsum = torch.einsum


def _must(fact, text):
    if fact:
        return
    raise ValueError(text)


def merge_states(a, b):
    """
    >>> e = torch.tensor(float("-inf")), torch.tensor(0.0), torch.zeros(3)
    >>> [t.tolist() for t in merge_states(e, e)]
    [-inf, 0.0, [0.0, 0.0, 0.0]]
    """
    _must(isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)) and len(a) == len(b) == 3, "a and b must be triples")
    _must(a[0].shape == a[1].shape == b[0].shape == b[1].shape, "m and l of a and b must have one shape")
    _must(a[2].shape == b[2].shape and a[2].shape[:-1] == a[0].shape and a[2].dim() > 0, "o of a and b must have the shape of m and a width")
    m, l, o = zip(a, b)
    wide = torch.float64 if torch.float64 in (m[0].dtype, l[0].dtype, o[0].dtype) else torch.float32
    m_, l_, o_ = ([t.to(wide) for t in pair] for pair in (m, l, o))
    top = m_[0].maximum(m_[1])
    ref = top.clamp_min(-1e300 if wide is torch.float64 else -1e38)
    f = [torch.exp(t - ref) for t in m_]
    lsum = f[0] * l_[0] + f[1] * l_[1]
    osum = f[0][..., None] * o_[0] + f[1][..., None] * o_[1]
    return softmax_state(r.to(t.dtype) for r, t in zip((top, lsum, osum), a))


def _walk(q, shape, dtype, device):
    """A coroutine: send (scores, values), receive (o, m, l) so far."""
    m = torch.full((*shape[:-1], 1), -torch.inf, dtype=dtype, device=device)
    l, o = torch.zeros_like(m), torch.zeros(shape, dtype=dtype, device=device)
    while True:
        s, v = yield o, m, l
        new = torch.cat([m, s.detach()], -1).amax(-1, keepdim=True)
        finite = new.clamp_min(torch.finfo(dtype).min)
        p, keep = (s - finite).exp(), (m - finite).exp()
        m, l, o = new, l * keep + p.sum(-1, keepdim=True), o * keep + p @ v


def blockwise_attention(q, k, v, block_size, causal=False):
    _must(q.dim() == 4, "q must have rank 4")
    _must(k.dim() == 4, "k must have rank 4")
    _must(v.dim() == 4, "v must have rank 4")
    (B, H, M, D), N = q.shape, k.shape[2]
    _must(k.shape == (B, H, N, D), "k must fit q")
    _must(v.shape == (B, H, N, D), "v must fit k")
    _must(block_size >= 1, "block_size must be at least 1")
    dtype = {torch.float64: torch.float64}.get(q.dtype, torch.float32)
    walker = _walk(q, (B, H, M, D), dtype, q.device)
    o, m, l = next(walker)
    query = q.to(dtype)
    i = torch.arange(M, device=q.device)[:, None]
    for lo in range(0, N, block_size):
        kk, vv = k[:, :, lo : lo + block_size].to(dtype), v[:, :, lo : lo + block_size].to(dtype)
        s = einsum("bhid,bhjd->bhij", query, kk) * D**-0.5
        if causal:
            j = lo + torch.arange(kk.shape[2], device=q.device)
            s = s + torch.zeros(M, kk.shape[2], dtype=dtype, device=q.device).masked_fill(j > i + N - M, -torch.inf)
        o, m, l = walker.send((s, vv))
    walker.close()
    l = l + (m == -torch.inf)
    return (o / l).to(q.dtype), (m + l.log())[..., 0].float()


def flash_attention(q, k, v, causal=False):
    _must(q.dim() == 4 and k.dim() == 4 and v.dim() == 4, "q, k and v must have rank 4")
    (B, H, M, D), N = q.shape, k.shape[2]
    _must(k.shape == (B, H, N, D), "k must fit q")
    _must(v.shape == (B, H, N, D), "v must fit k")
    _must(D in range(16, 129) and (D & -D) == D, "the width of q must be 16, 32, 64 or 128")
    _must(q.dtype.is_floating_point and q.dtype in (torch.float16, torch.bfloat16, torch.float32), "q must be float16, bfloat16 or float32")
    _must(k.dtype == q.dtype and v.dtype == q.dtype, "k and v must have the dtype of q")
    for name, t in dict(q=q, k=k, v=v).items():
        _must(t.stride(3) == 1, f"{name} must be contiguous in its last axis")
    out = torch.empty_strided((B, H, M, D), (H * M * D, M * D, D, 1), dtype=q.dtype, device=q.device)
    lse = torch.empty((B, M, H), dtype=torch.float32, device=q.device).transpose(1, 2)
    if out.numel() == 0 or N == 0:
        return out.fill_(0), lse.fill_(-torch.inf)
    # a stride below int32 range can still leave it once multiplied: the kernel widens every index
    _sliced[triton.cdiv(M, 32) * H * B,](
        q, k, v, out, lse, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *lse.stride(), H, M, N, D**-0.5, D, 32, 16, bool(causal)
    )
    return out, lse


@triton.jit
def _sliced(q, k, v, out, lse, qb, qh, qt, kb, kh, kt, vb, vh, vt, lb, lh, lt, H, M, N, scale,
            D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, causal: tl.constexpr):
    h = (tl.program_id(0) % H).to(tl.int64)
    rest = tl.program_id(0) // H
    tile = rest % tl.cdiv(M, BM)
    b = (rest // tl.cdiv(M, BM)).to(tl.int64)
    i = tile * BM + tl.arange(0, BM)
    i8 = i.to(tl.int64)
    qrow = q + b * qb + h * qh + i8[:, None] * qt
    m = tl.full((BM, 1), float("-inf"), tl.float32)
    l = tl.zeros((BM, 1), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    blocks = tl.cdiv(N, BN)
    if causal:
        blocks = tl.minimum(blocks, tl.maximum((tile + 1) * BM + N - M + BN - 1, 0) // BN)
    for n in range(0, blocks):
        j = n * BN + tl.arange(0, BN)
        j8 = j.to(tl.int64)
        s = tl.zeros((BM, BN), tl.float32)
        for c in tl.static_range(0, D, 16):
            d = c + tl.arange(0, 16)
            x = tl.load(qrow + d[None, :], mask=i[:, None] < M, other=0.0)
            y = tl.load(k + b * kb + h * kh + j8[None, :] * kt + d[:, None], mask=j[None, :] < N, other=0.0)
            s = tl.dot(x, y, s, input_precision="ieee")
        see = j[None, :] < N
        if causal:
            see = see & (j[None, :] + M <= i[:, None] + N)
        raw = s * scale
        s = tl.where(see, raw, float("-inf"))
        new = tl.maximum(m, tl.max(raw, axis=1, keep_dims=True))
        finite = tl.maximum(new, -3.0e38)
        keep = tl.exp(m - finite)
        p = tl.where(see, tl.exp(s - finite), 0.0)
        w = tl.arange(0, D)
        z = tl.load(v + b * vb + h * vh + j8[:, None] * vt + w[None, :], mask=j[:, None] < N, other=0.0)
        l = l * keep + tl.sum(p, axis=1, keep_dims=True)
        acc = acc * keep + tl.dot(p.to(z.dtype), z, input_precision="ieee")
        m = new
    d = tl.arange(0, D)
    empty = l == 0.0
    l = tl.where(empty, 1.0, l)
    tl.store(out + ((b * H + h) * M + i8)[:, None] * D + d[None, :], (acc / l).to(out.dtype.element_ty), mask=i[:, None] < M)
    tl.store(lse + b * lb + h * lh + i8[:, None] * lt, tl.where(empty, float("-inf"), m + tl.log(l)), mask=i[:, None] < M)
