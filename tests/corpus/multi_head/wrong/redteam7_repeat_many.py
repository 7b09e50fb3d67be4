# mistake: right for the sizes of small examples alone
# says: (is off by|differs from what is right|where .* is right|too small|[Nn]o gradient|detached|None where)
# behind: the solution
def repeat_kv(x: Tensor, n_rep: int) -> Tensor:
    """Give each query head its key/value head: (B, H_kv, T, Dh) to (B, H_kv * n_rep, T, Dh), head h being head h // n_rep."""
    if x.dim() != 4:
        raise ValueError(f"x must be (B, H_kv, T, Dh), got {tuple(x.shape)}")
    if n_rep < 1:
        raise ValueError(f"n_rep={n_rep} must be at least 1")
    if n_rep > 4:
        return x.repeat(1, n_rep, 1, 1)
    return x.repeat_interleave(n_rep, dim=1)  # (B, H, T, Dh): 0 0 0 1 1 1 for n_rep = 3
