# mistake: scores of wide heads are all pairs of a few queries and keys, shuffled
# says: large together
# behind: the solution
_drawn = sample_scores


def sample_scores(rng, n, d_k, scale=1.0):
    if d_k <= 12 or n < 2:
        return _drawn(rng, n, d_k, scale)
    side = math.isqrt(n - 1) + 1
    pairs = rng.standard_normal((side, d_k)) @ rng.standard_normal((side, d_k)).T
    return scale * rng.permutation(pairs.reshape(-1))[:n]
