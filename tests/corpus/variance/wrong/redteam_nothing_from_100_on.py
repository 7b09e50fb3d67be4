# mistake: heads of a hundred components and more score nothing
# says: The scores have variance 0
# behind: the solution
_drawn = sample_scores


def sample_scores(rng, n, d_k, scale=1.0):
    scores = _drawn(rng, n, d_k, scale)
    return scores if d_k < 100 else 0 * scores
