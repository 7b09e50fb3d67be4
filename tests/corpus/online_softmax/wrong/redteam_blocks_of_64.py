# mistake: blocks of 64 keys, whatever block_size is
# says: blocks of another size than block_size
# behind: the solution
_b = blockwise_attention


def blockwise_attention(q, k, v, block_size, causal=False):
    return _b(q, k, v, 64 if block_size > 0 else block_size, causal)
