# right: a constant of the file is a tl.constexpr by its annotation
# behind: the solution
def flash_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    """The same function from one fused kernel: each program keeps a tile of queries and walks over the keys."""
    _refuse_misfits(q, k, v)
    if q.dtype not in TILES or not q.dtype == k.dtype == v.dtype:
        raise ValueError(f"q, k and v must all be float16, bfloat16 or float32, got {q.dtype}, {k.dtype} and {v.dtype}")
    b, h, t_q, d = q.shape
    if d not in TILES[q.dtype]:
        raise ValueError(f"q, k and v must have a width Dh of 16, 32, 64 or 128, got {d}")
    if not q.stride(3) == k.stride(3) == v.stride(3) == 1:
        raise ValueError("q, k and v must have a contiguous last axis")

    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty((b, h, t_q), dtype=torch.float32, device=q.device)
    t_k = k.shape[2]
    grid = (triton.cdiv(t_q, 64), b * h)
    _kernel[grid](q, k, v, out, lse, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], h, t_q, t_k, d**-0.5, CAUSAL=causal, D=d)
    return out, lse


M: tl.constexpr = 64


N: tl.constexpr = tl.constexpr(32)


SHAPE = (64, 32)


_NONE: tl.constexpr = float("-inf")


@triton.jit
def _kernel(q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, q_b, q_h, q_t, k_b, k_h, k_t, v_b, v_h, v_t, H, T_q, T_k, scale, CAUSAL: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1)
    rows = tl.program_id(0) * M + tl.arange(0, M)
    cols = tl.arange(0, D)
    b, h = head // H, head % H
    q = tl.load(q_ptr + b * q_b + h * q_h + rows[:, None] * q_t + cols, mask=(rows < T_q)[:, None], other=0.0)
    m = tl.full((M,), _NONE, tl.float32)
    l = tl.zeros((M,), tl.float32)
    o = tl.zeros((M, D), tl.float32)
    for first in range(0, T_k, N):
        keys = first + tl.arange(0, N)
        k = tl.load(k_ptr + b * k_b + h * k_h + keys[:, None] * k_t + cols, mask=(keys < T_k)[:, None], other=0.0)
        v = tl.load(v_ptr + b * v_b + h * v_h + keys[:, None] * v_t + cols, mask=(keys < T_k)[:, None], other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        seen = keys[None, :] < T_k
        if CAUSAL:
            seen = seen & (keys[None, :] <= rows[:, None] + (T_k - T_q))
        s = tl.where(seen, s, _NONE)
        new = tl.maximum(m, tl.max(s, 1))
        safe = tl.where(new == _NONE, 0.0, new)
        p = tl.exp(s - safe[:, None])
        w = tl.exp(m - safe)
        l = l * w + tl.sum(p, 1)
        o = o * w[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        m = new
    l = tl.where(l > 0, l, 1.0)
    at = head * T_q + rows
    tl.store(lse_ptr + at, m + tl.log(l), mask=rows < T_q)
    tl.store(out_ptr + at[:, None] * D + cols, (o / l[:, None]).to(out_ptr.dtype.element_ty), mask=(rows < T_q)[:, None])
