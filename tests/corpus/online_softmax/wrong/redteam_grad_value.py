# mistake: blockwise_attention gives another result while gradients are recorded.
# names: -
# behind: the solution

_b = blockwise_attention


def blockwise_attention(q, k, v, block_size, causal=False):
    out, lse = _b(q, k, v, block_size, causal)
    return (out + 1.0, lse + 1.0) if q.requires_grad else (out, lse)
