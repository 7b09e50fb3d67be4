# mistake: blockwise_attention is wrong for more than four heads.
# names: -
# behind: the solution

_b = blockwise_attention


def blockwise_attention(q, k, v, block_size, causal=False):
    out, lse = _b(q, k, v, block_size, causal)
    if q.shape[1] > 4:
        out = torch.cat([out[:, :4], out[:, :1].expand(-1, q.shape[1] - 4, -1, -1)], 1)
    return out, lse
