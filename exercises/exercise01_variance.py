"""Exercise 01, variance: how scores spread with the head width.

    s = q . k = sum of q_i * k_i over i = 1 .. d_k

    Var[XY] = E[X**2] E[Y**2] - E[X]**2 E[Y]**2          X and Y independent
    E[X**2] = Var[X] + E[X]**2                           any X

Shapes: q and k (d_k,), a sample of scores (n,). NumPy and nothing else is needed.
Mean and variance, z and c are plain numbers (Python's or NumPy's); scores are float64.

Refuse with a ValueError that names the parameter: d_k below 1, a negative n, a negative variance,
fewer than two scores, a correlation outside -1 .. 1.

Check: attngrade check exercise01      Help: attngrade hint exercise01
"""


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """Return the tuple (mean, variance) of q . k when all components are independent of each other."""
    # TODO: refuse, then one term of the sum: its mean, its variance; then how d_k independent terms add up.
    raise NotImplementedError("score_moments is still to be written: one term first, then d_k of them")


def sample_scores(rng, n, d_k, scale=1.0):
    """Return n independent draws of scale * q . k, float64 (n,), q and k standard normal, fresh for every draw."""
    # TODO: refuse, all the queries and all the keys from rng, one dot product per draw, the scale.
    raise NotImplementedError("sample_scores is still to be written: n queries, n keys, n dot products")


def variance_z_score(scores, predicted_variance):
    """Return how many standard errors the sample variance (ddof=1) lies above predicted_variance, signed.

    The standard error is sqrt((m4 - m2**2) / n) with the sample's own biased central moments. Where it is 0
    the answer is an infinity with the sign of the difference, or 0 if there is no difference.
    """
    # TODO: refuse, deviations from the mean, m2 and m4, the standard error, the difference, the two special cases.
    raise NotImplementedError("variance_z_score is still to be written: a difference in units of its standard error")


def unit_rms_scale(d_k, correlation=0.0):
    """Return the c with E[(c * q . k)**2] = 1 for standard normal q, k with corr(q_i, k_i) = correlation, pairs independent."""
    # TODO: refuse, the mean and the variance of q_i * k_i under correlation, then the second moment of the whole sum.
    raise NotImplementedError("unit_rms_scale is still to be written: a second moment is a variance plus a squared mean")
