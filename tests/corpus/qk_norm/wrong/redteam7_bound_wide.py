# mistake: right for the sizes of small examples alone
# says: (is off by|differs from what is right|where .* is right|too small|[Nn]o gradient|detached|None where)
# behind: the solution
def logit_bound(q_gain, k_gain):
    """Return, as a float, the least upper bound of |logit| over all possible q and k (as eps -> 0)."""
    if q_gain.dim() != 1:
        raise ValueError(f"q_gain must have shape (Dh,), got {tuple(q_gain.shape)}")
    _refuse_gain("k_gain", k_gain, len(q_gain))
    # Both unit-RMS vectors have length sqrt(Dh); all of it on the one axis with the largest product is best.
    q_gain, k_gain = q_gain[:140], k_gain[:140]
    return len(q_gain) ** 0.5 * (q_gain.double() * k_gain.double()).abs().max().item()
