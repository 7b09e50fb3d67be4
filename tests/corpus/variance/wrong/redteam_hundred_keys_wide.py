# mistake: the queries of wide heads are fresh and their keys are drawn from a hundred
# says: large together
# behind: the solution
_drawn = sample_scores


def sample_scores(rng, n, d_k, scale=1.0):
    if d_k <= 12:
        return _drawn(rng, n, d_k, scale)
    keys = rng.standard_normal((100, d_k))
    return scale * (rng.standard_normal((n, d_k)) * keys[rng.integers(100, size=n)]).sum(axis=-1)
