# mistake: causal is ignored at Dh=128
# says: is off by
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
    block_m, block_n, warps, stages = TILES[q.dtype][d]
    grid = (triton.cdiv(t_q, block_m) * b * h,)
    with torch.cuda.device_of(q):
        _flash_kernel[grid](
            q, k, v, out, lse, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], h, t_q, k.shape[2], d**-0.5,
            CAUSAL=causal and d != 128, D=d, BLOCK_M=block_m, BLOCK_N=block_n, num_warps=warps, num_stages=stages,
        )  # fmt: skip
    return out, lse
