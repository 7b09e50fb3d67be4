"""Exercise 06: attention one block of keys at a time, first in PyTorch, then in one Triton kernel.

    state of a key set    m = max s,   l = sum exp(s - m),   o = sum exp(s - m) v       (no keys: -inf, 0, 0)
    union of two sets     m = max(m_a, m_b),   l = l_a exp(m_a - m) + l_b exp(m_b - m),   o alike
    what is asked for     out = o / l,   lse = m + log l,   where s = q . k / sqrt(Dh)

Shapes: q (B, H, T_q, Dh), k and v (B, H, T_k, Dh), out like q, lse (B, H, T_q) in float32.
Causal: query i may see key j iff j <= i + (T_k - T_q); a query that sees nothing has out = 0 and lse = -inf.
blockwise_attention computes float64 inputs in float64, all others in float32; flash_attention takes no float64, and a Dh
of 16, 32, 64 or 128.
Sizes, ranks, widths or dtypes that don't fit are a ValueError that names the argument.
Off limits: attention of torch or of a kernel library, torch.compile, and in the last two functions softmax, log_softmax
and softmin in every form; logsumexp and logaddexp, and their gradients, are allowed.

Check with `attngrade check exercise06`; if you are stuck, `attngrade hint exercise06`.
"""

import torch
import triton
import triton.language as tl

State = tuple[torch.Tensor, torch.Tensor, torch.Tensor]  # m (...), l (...), o (..., Dh)


def merge_states(a: State, b: State) -> State:
    """The softmax state of the union of two disjoint key sets, either or both of which may be empty."""
    # TODO: find the common maximum, bring both sums and both outputs to it, add. Then ask what two empty sets do.
    raise NotImplementedError("merge_states: write the state of the union of two key sets")


def blockwise_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, block_size: int, causal: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention and its log-normaliser in plain PyTorch, with the scores of one block of keys at a time."""
    # TODO: refuse what can't be; start from the empty state; per block: scores in float32 (float64 for float64), hide the
    #       future, state of the block, merge; divide once at the end. Memory: O(T_q * (block_size + Dh)) a head, no copy of
    #       all of k or v.
    raise NotImplementedError("blockwise_attention: walk over the keys, one block at a time")


def flash_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    """The same function from one fused kernel: each program keeps a tile of queries and walks over the keys."""
    # TODO: refuse what can't be (Dh is 16, 32, 64 or 128; float16, bfloat16 or float32; last axis contiguous); allocate out
    #       and lse; pass every stride; launch once, with a program for each tile of queries of each head.
    raise NotImplementedError("flash_attention: launch one kernel that fills out and lse")


@triton.jit
def _flash_kernel(q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, T_q, T_k, scale, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """One tile of queries against all keys that it may see; CPU tensors run this same code in Triton's interpreter."""
    # TODO: who am I (tile, batch, head); load the queries; for each tile of keys: scores, mask, new maximum, rescale what
    #       you have, add; divide and store. Nothing outside the tensors is read or written: mask every tail.
    raise NotImplementedError("_flash_kernel: one tile of queries against the keys, tile by tile")
