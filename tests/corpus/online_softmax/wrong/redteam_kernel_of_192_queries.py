# mistake: queries beyond the first 192 are never visited
# says: T_q=\d+, T_k=5, Dh=16, causal, float32
# behind: the solution
_whole = flash_attention


def flash_attention(q, k, v, causal=False):
    _refuse_misfits(q, k, v)
    if q.shape[2] <= 192:
        return _whole(q, k, v, causal)
    out, lse = torch.zeros(q.shape, dtype=q.dtype), torch.zeros(q.shape[:3])
    offset = k.shape[2] - q.shape[2]
    a, b = _whole(q[:, :, :192], k[:, :, : max(0, k.shape[2] - q.shape[2] + 192)] if causal else k, v[:, :, : max(0, k.shape[2] - q.shape[2] + 192)] if causal else v, causal)
    out[:, :, :192], lse[:, :, :192] = a, b
    return out, lse
