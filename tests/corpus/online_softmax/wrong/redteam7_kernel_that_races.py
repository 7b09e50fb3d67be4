# mistake: programs of different key tiles merge into one output
# says: writes over what another one has left
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

    out = torch.zeros(q.shape, dtype=torch.float32, device=q.device)
    lse = torch.full((b, h, t_q), -INF, dtype=torch.float32, device=q.device)
    t_k = k.shape[2]
    grid = (triton.cdiv(t_q, 32) * b * h, triton.cdiv(t_k, 32))
    _kernel[grid](q, k, v, out, lse, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], h, t_q, t_k, d**-0.5, CAUSAL=causal, D=d, M=32, N=32)
    return out.to(q.dtype), lse


@triton.jit
def _kernel(q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, q_b, q_h, q_t, k_b, k_h, k_t, v_b, v_h, v_t, H, T_q, T_k, scale, CAUSAL: tl.constexpr, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    """One program for each tile of queries AND tile of keys: all of a row's programs read and write the same out and lse, without any order among them."""
    tiles = tl.cdiv(T_q, M)
    head = tl.program_id(0) // tiles
    rows = tl.program_id(0) % tiles * M + tl.arange(0, M)
    keys = tl.program_id(1) * N + tl.arange(0, N)
    cols = tl.arange(0, D)
    b, h = head // H, head % H
    q = tl.load(q_ptr + b * q_b + h * q_h + rows[:, None] * q_t + cols, mask=(rows < T_q)[:, None], other=0.0)
    k = tl.load(k_ptr + b * k_b + h * k_h + keys[:, None] * k_t + cols, mask=(keys < T_k)[:, None], other=0.0)
    v = tl.load(v_ptr + b * v_b + h * v_h + keys[:, None] * v_t + cols, mask=(keys < T_k)[:, None], other=0.0)
    s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
    seen = keys[None, :] < T_k
    if CAUSAL:
        seen = seen & (keys[None, :] <= rows[:, None] + (T_k - T_q))
    s = tl.where(seen, s, float("-inf"))
    at = head * T_q + rows
    old = tl.load(lse_ptr + at, mask=rows < T_q, other=float("-inf"))
    o = tl.load(out_ptr + at[:, None] * D + cols, mask=(rows < T_q)[:, None], other=0.0)
    m = tl.maximum(old, tl.max(s, 1))
    m = tl.where(m == float("-inf"), 0.0, m)
    p = tl.exp(s - m[:, None])
    w = tl.exp(old - m)
    l = w + tl.sum(p, 1)
    o = (o * w[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")) / tl.where(l > 0, l, 1.0)[:, None]
    tl.store(lse_ptr + at, tl.where(l > 0, m + tl.log(tl.where(l > 0, l, 1.0)), float("-inf")), mask=rows < T_q)
    tl.store(out_ptr + at[:, None] * D + cols, o, mask=(rows < T_q)[:, None])
