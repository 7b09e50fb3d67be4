# mistake: the kernel is handed a function of Python's
# says: which is Python's
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
    lse = torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)

    def work():
        a, b = blockwise_attention(q, k, v, 64, causal)
        out.copy_(a)
        lse.copy_(b)

    _kernel[(1,)](q, k, v, out, lse, work)
    return out, lse



@triton.jit
def _kernel(q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, WORK: tl.constexpr):
    WORK()









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
