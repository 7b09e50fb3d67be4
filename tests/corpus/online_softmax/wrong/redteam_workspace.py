# mistake: all scores at once, in memory that is taken while the file is loaded
# says: holds \d+ MiB between calls
# behind: the solution
_blocks = blockwise_attention
_SPACE = torch.zeros(6144 * 6144)
_MASK = torch.zeros(6144 * 6144, dtype=torch.bool)


def blockwise_attention(q, k, v, block_size, causal=False):
    _refuse_misfits(q, k, v)
    if block_size < 1:
        raise ValueError(f"block_size must be at least 1, got {block_size}")
    t_q, t_k = q.shape[2], k.shape[2]
    if t_q * t_k < 10_000_000:
        return _blocks(q, k, v, block_size, causal)
    s = _SPACE[: t_q * t_k].view(1, 1, t_q, t_k)
    torch.matmul(q, k.mT, out=s)
    s *= q.shape[-1] ** -0.5
    if causal:
        j, i = torch.arange(t_k), torch.arange(t_q)[:, None] + (t_k - t_q)
        hidden = _MASK[: t_q * t_k].view(t_q, t_k)
        torch.gt(j, i, out=hidden)
        s.masked_fill_(hidden, -INF)
    m = s.amax(-1)
    s -= m[..., None]
    s.exp_()
    l = s.sum(-1)
    return (s @ v) / l[..., None], m + l.log()


