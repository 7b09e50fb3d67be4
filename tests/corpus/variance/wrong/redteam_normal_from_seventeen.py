# mistake: from d_k = 17 on the scores are normal numbers of the right variance
# says: for a sum of \d+ products
# behind: the solution
_drawn = sample_scores


def sample_scores(rng, n, d_k, scale=1.0):
    return scale * d_k**0.5 * rng.standard_normal(n) if d_k > 16 else _drawn(rng, n, d_k, scale)
