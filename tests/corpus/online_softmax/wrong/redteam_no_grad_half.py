# mistake: blockwise_attention detaches half-precision inputs.
# names: -
# behind: the solution

_b = blockwise_attention


def blockwise_attention(q, k, v, block_size, causal=False):
    if q.dtype != torch.float32 and q.dtype != torch.float64:
        q, k, v = q.detach(), k.detach(), v.detach()
    return _b(q, k, v, block_size, causal)
