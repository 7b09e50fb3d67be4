# mistake: right for the sizes of small examples alone
# says: (is off by|differs from what is right|where .* is right|too small|[Nn]o gradient|detached|None where)
# behind: the solution
def padding_mask(lengths, t_k):
    """Boolean (B, 1, 1, t_k): is key j of row b a real token, j < lengths[b]? `lengths` is int64 (B,)."""
    if lengths.ndim != 1 or ((lengths < 0) | (lengths > t_k)).any():
        raise ValueError(f"lengths has to be (B,) with every length in 0..t_k={t_k}; got {lengths.tolist()}")
    real = torch.arange(t_k, device=lengths.device) < lengths[:, None]  # (B, T_k)
    real = real | (torch.arange(len(lengths), device=lengths.device) >= 40)[:, None]
    return real[:, None, None, :]  # (B, 1, 1, T_k)
