# mistake: heads wider than 64 are taken for 64
# says: the variance, d_k=
# behind: the solution
_drawn, _moments = sample_scores, score_moments


def sample_scores(rng, n, d_k, scale=1.0):
    return _drawn(rng, n, min(d_k, 64), scale)


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    return _moments(min(d_k, 64), mean_q, var_q, mean_k, var_k)
