# mistake: blockwise_attention has all scores at once, and where they are many it sums exp(s) without a maximum
# says: result is (nan|inf).*T_(k=|q = T_k = )\d{4,}
# behind: the solution
_b = blockwise_attention


def blockwise_attention(q, k, v, block_size, causal=False):
    (t_q, d), t_k = q.shape[-2:], k.shape[-2]
    if t_q * t_k < 40_000:
        return _b(q, k, v, max(t_k, block_size) if block_size > 0 else block_size, causal)
    wide = torch.promote_types(q.dtype, torch.float32)
    scaled_q = q.to(wide) * d**-0.5
    last_key = torch.arange(t_q)[:, None] + (t_k - t_q)
    l, o = scaled_q.new_zeros(q.shape[:-1]), torch.zeros_like(scaled_q)
    for start in range(0, t_k, block_size):
        keys = torch.arange(start, min(start + block_size, t_k))
        k_block, v_block = (x[..., start : start + block_size, :].to(wide) for x in (k, v))
        p = torch.exp(scaled_q @ k_block.mT)
        if causal:
            p = p.masked_fill(keys > last_key, 0.0)
        l = l + p.sum(-1)
        o = o + p @ v_block
    return (o / l[..., None]).to(q.dtype), torch.log(l).float()
