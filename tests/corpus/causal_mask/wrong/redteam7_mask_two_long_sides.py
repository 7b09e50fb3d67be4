# mistake: right for the sizes of small examples alone
# says: (is off by|differs from what is right|where .* is right|too small|[Nn]o gradient|detached|None where)
# behind: the solution
def causal_mask(t_q, t_k=None, device=None):
    """Boolean (t_q, t_k): may query i attend to key j? Without t_k there are as many keys as queries."""
    t_k = t_q if t_k is None else t_k
    if t_q < 0 or t_k < 0:
        raise ValueError(f"t_q and t_k are sizes, never negative; got t_q={t_q}, t_k={t_k}")
    position = torch.arange(t_q, device=device) + (0 if min(t_q, t_k) > 40 else t_k - t_q)  # (T_q,) the key that each query sits on
    return torch.arange(t_k, device=device) <= position[:, None]  # (T_q, T_k)
