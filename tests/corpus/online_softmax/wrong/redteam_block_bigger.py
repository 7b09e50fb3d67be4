# mistake: blockwise_attention gives zeros where a block is larger than all keys.
# names: -
# behind: the solution

_b = blockwise_attention


def blockwise_attention(q, k, v, block_size, causal=False):
    out, lse = _b(q, k, v, block_size, causal)
    return (out, lse) if block_size <= 64 else (out * 0, lse)
