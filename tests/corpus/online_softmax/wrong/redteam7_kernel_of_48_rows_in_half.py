# mistake: rows from 48 on are never written in float16
# says: nan where
# behind: the solution
@triton.jit
def _flash_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, q_b, q_h, q_t, k_b, k_h, k_t, v_b, v_h, v_t, H, T_q, T_k, scale,
    CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    tiles = tl.cdiv(T_q, BLOCK_M)
    first_row = (tiles - 1 - tl.program_id(0) % tiles) * BLOCK_M  # the last tile sees the most keys: longest job first
    head = (tl.program_id(0) // tiles).to(tl.int64)  # 64 bits, since offsets can pass 2**31
    b, h = head // H, head % H
    rows = first_row + tl.arange(0, BLOCK_M)  # (M,)
    cols = tl.arange(0, D)  # (D,)
    in_q = rows < T_q
    if q_ptr.dtype.element_ty == tl.float16:
        in_q = in_q & (rows < 48)
    q = tl.load(q_ptr + b * q_b + h * q_h + rows.to(tl.int64)[:, None] * q_t + cols, mask=in_q[:, None], other=0.0)  # (M, D)
    k_ptr += b * k_b + h * k_h
    v_ptr += b * v_b + h * v_h

    last_key = rows * 0 + (T_k - 1)  # (M,)
    full = T_k  # every row of the tile may see the keys before `full`
    stop = T_k  # and none may see those from `stop` on
    if CAUSAL:
        last_key = rows + (T_k - T_q)
        full = tl.maximum(0, tl.minimum(T_k, first_row + T_k - T_q + 1))
        stop = tl.maximum(0, tl.minimum(T_k, first_row + T_k - T_q + BLOCK_M))
    full = full // BLOCK_N * BLOCK_N

    m = tl.full((BLOCK_M,), float("-inf"), tl.float32)  # of the scores times log2(e), since exp2 is the cheaper exponential
    l = tl.zeros((BLOCK_M,), tl.float32)
    o = tl.zeros((BLOCK_M, D), tl.float32)
    m, l, o = _walk(m, l, o, q, k_ptr, v_ptr, k_t, v_t, cols, 0, full, T_k, last_key, scale * LOG2_E, BLOCK_N, MASKED=False)
    m, l, o = _walk(m, l, o, q, k_ptr, v_ptr, k_t, v_t, cols, full, stop, T_k, last_key, scale * LOG2_E, BLOCK_N, MASKED=True)

    l = tl.where(l > 0, l, 1.0)  # a row without keys: o = 0 and m = -inf are the answer already
    to = head * T_q + rows  # out and lse are contiguous
    tl.store(lse_ptr + to, m / LOG2_E + tl.log(l), mask=in_q)
    tl.store(out_ptr + to[:, None] * D + cols, (o / l[:, None]).to(out_ptr.dtype.element_ty), mask=in_q[:, None])
