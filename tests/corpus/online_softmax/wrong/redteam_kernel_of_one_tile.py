# mistake: one tile holds every key: no online softmax, and no GPU has room for it at length
# says: one tile held all keys
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




def flash_attention(q, k, v, causal=False):
    _refuse_misfits(q, k, v)
    if q.dtype not in TILES or not q.dtype == k.dtype == v.dtype:
        raise ValueError(f"q, k and v must all be float16, bfloat16 or float32, got {q.dtype}, {k.dtype} and {v.dtype}")
    if q.shape[3] not in (16, 32, 64, 128):
        raise ValueError(f"q, k and v must have a width Dh of 16, 32, 64 or 128, got {q.shape[3]}")
    if not q.stride(3) == k.stride(3) == v.stride(3) == 1:
        raise ValueError("q, k and v must have a contiguous last axis")
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
    b, h, t_q, d = q.shape
    t_k = k.shape[2]
    _whole[(triton.cdiv(t_q, 16), b * h)](q, k, v, out, lse, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], h, t_q, t_k, d**-0.5, CAUSAL=causal, D=d, M=16, N=max(16, triton.next_power_of_2(t_k)))
    return out, lse


@triton.jit
def _whole(q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, q_b, q_h, q_t, k_b, k_h, k_t, v_b, v_h, v_t, H, T_q, T_k, scale,
           CAUSAL: tl.constexpr, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    head = tl.program_id(1)
    b, h = head // H, head % H
    rows = tl.program_id(0) * M + tl.arange(0, M)
    keys = tl.arange(0, N)
    cols = tl.arange(0, D)
    q = tl.load(q_ptr + b * q_b + h * q_h + rows[:, None] * q_t + cols[None, :], mask=rows[:, None] < T_q, other=0.0)
    k = tl.load(k_ptr + b * k_b + h * k_h + keys[None, :] * k_t + cols[:, None], mask=keys[None, :] < T_k, other=0.0)
    v = tl.load(v_ptr + b * v_b + h * v_h + keys[:, None] * v_t + cols[None, :], mask=keys[:, None] < T_k, other=0.0)
    s = tl.dot(q, k, input_precision="ieee") * scale
    seen = keys[None, :] < T_k
    if CAUSAL:
        seen = seen & (keys[None, :] <= rows[:, None] + (T_k - T_q))
    s = tl.where(seen, s, float("-inf"))
    m = tl.max(s, 1)
    p = tl.exp(s - tl.where(m == float("-inf"), 0.0, m)[:, None])
    l = tl.sum(p, 1)
    l = tl.where(l > 0, l, 1.0)
    o = tl.dot(p.to(v.dtype), v, input_precision="ieee") / l[:, None]
    to = head * T_q + rows
    tl.store(lse_ptr + to, m + tl.log(l), mask=rows < T_q)
    tl.store(out_ptr + to[:, None] * D + cols[None, :], o.to(out_ptr.dtype.element_ty), mask=rows[:, None] < T_q)


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
