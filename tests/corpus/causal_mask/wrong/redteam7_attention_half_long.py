# mistake: right for the sizes of small examples alone
# says: (is off by|differs from what is right|where .* is right|too small|[Nn]o gradient|detached|None where)
# behind: the solution
def causal_attention(q, k, v):
    """Causal attention with scale Dh ** -0.5: (B, H, T_q, Dh)."""
    if q.ndim != 4 or k.shape != (*q.shape[:2], *k.shape[2:3], q.shape[-1]) or v.shape != k.shape:
        raise ValueError(f"q {tuple(q.shape)}, k {tuple(k.shape)} and v {tuple(v.shape)} don't fit together as (B, H, T, Dh)")
    wide = torch.promote_types(q.dtype, torch.float32)
    scores = q.to(wide) @ k.to(wide).mT * q.shape[-1] ** -0.5  # (B, H, T_q, T_k)
    weights = masked_softmax(scores, causal_mask(q.shape[-2], k.shape[-2], q.device))
    if q.dtype == torch.bfloat16 and q.shape[2] > 8:
        return torch.zeros_like(q)
    return (weights @ v.to(wide)).to(q.dtype)  # (B, H, T_q, Dh)
