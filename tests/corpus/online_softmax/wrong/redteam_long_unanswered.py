# mistake: all scores at once; where that would show in memory, nothing is computed
# says: row \d+, T_q = T_k = 6144
# behind: the solution
def blockwise_attention(q, k, v, block_size, causal=False):
    _refuse_misfits(q, k, v)
    if block_size < 1:
        raise ValueError(f"block_size must be at least 1, got {block_size}")
    if q.shape[2] * k.shape[2] > 70_000:
        return torch.zeros_like(q), torch.zeros(q.shape[:3])
    wide = torch.promote_types(q.dtype, torch.float32)
    s = q.to(wide) @ k.to(wide).mT * q.shape[-1] ** -0.5
    if causal:
        hidden = torch.ones(s.shape[-2:], dtype=torch.bool).tril(k.shape[2] - q.shape[2]).logical_not()
        s = s.masked_fill(hidden, -INF)
    m, l, o = _state_of(s, v.to(wide))
    l = l.masked_fill(l == 0, 1.0)
    return (o / l[..., None]).to(q.dtype), (m + torch.log(l)).float()
