# mistake: draws beyond 2048 repeat the first ones
# says: repeat another score exactly
# behind: the solution
_drawn = sample_scores


def sample_scores(rng, n, d_k, scale=1.0):
    return np.resize(_drawn(rng, min(n, 2048), d_k, scale), n) if n > 0 else _drawn(rng, n, d_k, scale)
