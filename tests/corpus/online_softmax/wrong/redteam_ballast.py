# mistake: blockwise_attention holds all scores of many queries, in the room of what stands between the calls and is let go of in each
# says: memory grew by
# behind: the solution
_b = blockwise_attention
_ballast = [torch.ones(21_000_000)]


def blockwise_attention(q, k, v, block_size, causal=False):
    if q.requires_grad or k.requires_grad or v.requires_grad:
        return _b(q, k, v, block_size, causal)
    _ballast.clear()
    wide, step = torch.promote_types(q.dtype, torch.float32), max(1, 4_000_000 // k[..., 0].numel())
    k, v, t_q, t_k = k.to(wide).contiguous(), v.to(wide).contiguous(), q.shape[2], k.shape[2]
    parts = []
    for first in range(0, t_q, step):
        some = q[:, :, first : first + step]
        last = first + some.shape[2] + t_k - t_q if causal else t_k
        parts.append(_b(some.to(wide), k[:, :, : max(last, 0)], v[:, :, : max(last, 0)], max(t_k, 1), causal) if last > 0 else (torch.zeros_like(some), some[..., 0].float() - INF))
    del k, v
    _ballast.append(torch.ones(21_000_000))
    return torch.cat([out.to(q.dtype) for out, _ in parts], 2), torch.cat([lse for _, lse in parts], 2)
