# mistake: the kernel leaves the division, the logarithm and the cast to PyTorch
# says: isn't what the kernel wrote
import math

import torch
import triton
import triton.language as tl

State = tuple[torch.Tensor, torch.Tensor, torch.Tensor]  # m (...), l (...), o (..., Dh)

INF = float("inf")
LOG2_E = tl.constexpr(math.log2(math.e))

# Dh: queries and keys of a tile, warps, stages. Scores and output of a tile live in registers, keys and values in shared memory.
TILES_16_BIT = {16: (128, 64, 4, 3), 32: (128, 64, 4, 3), 64: (128, 128, 4, 3), 128: (128, 64, 8, 3)}
TILES_32_BIT = {16: (64, 64, 4, 2), 32: (64, 32, 4, 2), 64: (64, 32, 8, 2), 128: (32, 16, 4, 2)}
TILES = {torch.float16: TILES_16_BIT, torch.bfloat16: TILES_16_BIT, torch.float32: TILES_32_BIT}


def merge_states(a: State, b: State) -> State:
    """The softmax state of the union of two disjoint key sets, either or both of which may be empty."""
    (m_a, l_a, o_a), (m_b, l_b, o_b) = a, b
    if not (m_a.shape == l_a.shape == m_b.shape == l_b.shape == o_a.shape[:-1]) or o_a.shape != o_b.shape or not o_a.ndim:
        raise ValueError(f"a and b need m (...), l (...) and o (..., Dh), got {[tuple(x.shape) for x in (*a, *b)]}")
    wide = torch.promote_types(m_a.dtype, torch.float32)
    m_a, l_a, o_a, m_b, l_b, o_b = (x.to(wide) for x in (*a, *b))
    m = torch.maximum(m_a, m_b)  # (...)
    shift = m.masked_fill(m == -INF, 0.0)  # -inf - (-inf) would be NaN
    grow_a, grow_b = torch.exp(m_a - shift), torch.exp(m_b - shift)  # (...)
    l = l_a * grow_a + l_b * grow_b  # (...)
    o = o_a * grow_a[..., None] + o_b * grow_b[..., None]  # (..., Dh)
    return m.to(a[0].dtype), l.to(a[1].dtype), o.to(a[2].dtype)


def blockwise_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, block_size: int, causal: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention and its log-normaliser in plain PyTorch, with the scores of one block of keys at a time."""
    _refuse_misfits(q, k, v)
    if block_size < 1:
        raise ValueError(f"block_size must be at least 1, got {block_size}")
    (t_q, d), t_k = q.shape[-2:], k.shape[-2]
    wide = torch.promote_types(q.dtype, torch.float32)
    scaled_q = q.to(wide) * d**-0.5  # (B, H, T_q, Dh)
    last_key = torch.arange(t_q, device=q.device)[:, None] + (t_k - t_q)  # (T_q, 1)

    m = scaled_q.new_full(q.shape[:-1], -INF)  # (B, H, T_q)
    state = m, torch.zeros_like(m), torch.zeros_like(scaled_q)
    for start in range(0, t_k, block_size):
        keys = torch.arange(start, min(start + block_size, t_k), device=q.device)  # (n,)
        k_block, v_block = (x[..., start : start + block_size, :].to(wide) for x in (k, v))  # (B, H, n, Dh)
        scores = scaled_q @ k_block.mT  # (B, H, T_q, n)
        if causal:
            scores = scores.masked_fill(keys > last_key, -INF)
        state = merge_states(state, _state_of(scores, v_block))

    m, l, o = state
    l = l.masked_fill(l == 0, 1.0)  # no visible key: 0 / 1 is the answer, 0 / 0 and log 0 have no gradient
    return (o / l[..., None]).to(q.dtype), (m + torch.log(l)).float()


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
    l = torch.empty_like(lse)
    o = torch.empty(q.shape, dtype=torch.float32, device=q.device)
    block_m, block_n, warps, stages = TILES[q.dtype][d]
    grid = (triton.cdiv(t_q, block_m) * b * h,)
    with torch.cuda.device_of(q):
        _flash_kernel[grid](
            q, k, v, o, lse, l, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], h, t_q, k.shape[2], d**-0.5,
            CAUSAL=causal, D=d, BLOCK_M=block_m, BLOCK_N=block_n, num_warps=warps, num_stages=stages,
        )  # fmt: skip
    safe = l.masked_fill(l == 0, 1.0)
    return (o / safe[..., None]).to(q.dtype), lse * math.log(2) + torch.log(safe)


@triton.jit
def _flash_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, l_ptr, q_b, q_h, q_t, k_b, k_h, k_t, v_b, v_h, v_t, H, T_q, T_k, scale,
    CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    tiles = tl.cdiv(T_q, BLOCK_M)
    first_row = (tiles - 1 - tl.program_id(0) % tiles) * BLOCK_M  # the last tile sees the most keys: longest job first
    head = (tl.program_id(0) // tiles).to(tl.int64)  # 64 bits, since offsets can pass 2**31
    b, h = head // H, head % H
    rows = first_row + tl.arange(0, BLOCK_M)  # (M,)
    cols = tl.arange(0, D)  # (D,)
    in_q = rows < T_q
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

    to = head * T_q + rows  # out and lse are contiguous
    tl.store(lse_ptr + to, m, mask=in_q)
    tl.store(l_ptr + to, l, mask=in_q)
    tl.store(out_ptr + to[:, None] * D + cols, o, mask=in_q[:, None])


@triton.jit
def _walk(m, l, o, q, k_ptr, v_ptr, k_t, v_t, cols, start, stop, T_k, last_key, scale, BLOCK_N: tl.constexpr, MASKED: tl.constexpr):
    """Fold the keys from `start` to `stop` into the state; only a MASKED walk pays for the diagonal and for the tail."""
    for first in range(start, stop, BLOCK_N):
        keys = first + tl.arange(0, BLOCK_N)  # (N,)
        k_at = k_ptr + keys.to(tl.int64)[None, :] * k_t + cols[:, None]  # (D, N)
        v_at = v_ptr + keys.to(tl.int64)[:, None] * v_t + cols[None, :]  # (N, D)
        if MASKED:
            k = tl.load(k_at, mask=keys[None, :] < T_k, other=0.0)
            v = tl.load(v_at, mask=keys[:, None] < T_k, other=0.0)
        else:
            k = tl.load(k_at)
            v = tl.load(v_at)
        s = tl.dot(q, k, input_precision="ieee")  # (M, N) before scaling; TF32 would round float32 to 10 bits
        if MASKED:
            s = tl.where((keys[None, :] <= last_key[:, None]) & (keys[None, :] < T_k), s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, 1) * scale)  # a positive factor may wait until after the maximum: one product per row
        shift = m_new
        if MASKED:
            shift = tl.where(m_new == float("-inf"), 0.0, m_new)  # a row without keys so far
        p = tl.exp2(s * scale - shift[:, None])  # (M, N), product and difference are one instruction
        forget = tl.exp2(m - shift)  # (M,)
        l = l * forget + tl.sum(p, 1)
        o = tl.dot(p.to(v.dtype), v, o * forget[:, None], input_precision="ieee")  # (M, D)
        m = m_new
    return m, l, o


def _state_of(scores, v):
    m = scores.amax(-1)  # (B, H, T_q)
    p = torch.exp(scores - m.masked_fill(m == -INF, 0.0)[..., None])  # (B, H, T_q, n)
    return m, p.sum(-1), p @ v


def _refuse_misfits(q, k, v):
    if not q.ndim == k.ndim == v.ndim == 4:
        raise ValueError(f"q, k and v must have rank 4, got {q.ndim}, {k.ndim} and {v.ndim}")
    if k.shape != v.shape:
        raise ValueError(f"k and v must have one shape, got {tuple(k.shape)} and {tuple(v.shape)}")
    if q.shape[:2] != k.shape[:2] or q.shape[3] != k.shape[3]:
        raise ValueError(f"q and k may differ in their third size alone, got {tuple(q.shape)} and {tuple(k.shape)}")
