# mistake: blockwise_attention, causal, forgets the first keys of a long cache.
# names: -
# behind: the solution

_b = blockwise_attention


def blockwise_attention(q, k, v, block_size, causal=False):
    return _b(q, k, v, block_size, causal and k.shape[2] < 256)
