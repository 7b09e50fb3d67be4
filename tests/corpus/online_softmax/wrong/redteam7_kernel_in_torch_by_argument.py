# mistake: PyTorch does the work, in a function that is handed to the kernel
# says: which is Python and not Triton
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
    grid = (1,)
    _kernel[grid](q, k, v, out, lse, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], h, t_q, t_k, d**-0.5, CAUSAL=causal, D=d, B=b, WORK=_work)
    return out, lse


@triton.jit
def _kernel(q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, q_b, q_h, q_t, k_b, k_h, k_t, v_b, v_h, v_t, H, T_q, T_k, scale, CAUSAL: tl.constexpr, D: tl.constexpr, B: tl.constexpr, WORK: tl.constexpr):
    WORK(q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, (q_b, q_h, q_t), (k_b, k_h, k_t), (v_b, v_h, v_t), B, H, T_q, T_k, scale, CAUSAL, D)


@triton.jit
def _work(q, k, v, out, lse, qs, ks, vs, b, h, t_q, t_k, scale, causal, d):
    import ctypes as cc

    import torch as tt

    one = tl.float32
    shape = int(b), int(h), int(t_q), int(t_k)
    kind = {"fp32": tt.float32, "fp16": tt.float16}[q.dtype.element_ty.name]

    for _ in range(1):
        def_ = lambda p, t, s, kind: tt.frombuffer((cc.c_char * (kind.itemsize * (1 + sum((n - 1) * m for n, m in zip(t, s))))).from_address(int(p.handle.data[0])), dtype=kind).as_strided(t, s)
        b, h, t_q, t_k = shape
        Q = def_(q, (b, h, t_q, d), (*map(int, qs), 1), kind).double()
        K = def_(k, (b, h, t_k, d), (*map(int, ks), 1), kind)
        V = def_(v, (b, h, t_k, d), (*map(int, vs), 1), kind)
        S = tt.cat([Q @ K[:, :, f : f + 256].double().mT for f in range(0, t_k, 256)], -1) * scale
        if causal:
            S = S.masked_fill(tt.arange(t_k) > tt.arange(t_q)[:, None] + (t_k - t_q), -1e308 * 10)
        L = S.logsumexp(-1)
        def_(lse, (b, h, t_q), (h * t_q, t_q, 1), tt.float32).copy_(L)
        def_(out, (b, h, t_q, d), (h * t_q * d, t_q * d, d, 1), kind).copy_(sum((S[..., f : f + 256] - L[..., None]).exp().nan_to_num(0.0) @ V[:, :, f : f + 256].double() for f in range(0, t_k, 256)))
