"""A score is |q| times one standard normal number, once q is known."""

import math

import numpy as np


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    if var_q < 0.0 or var_k < 0.0:
        raise ValueError("var_q and var_k are variances and can't be below zero: %r, %r" % (var_q, var_k))
    if d_k < 1:
        raise ValueError("d_k counts components, %r isn't a count" % (d_k,))
    # the law of total variance, given k
    within = var_q * (var_k + mean_k**2)
    between = mean_q**2 * var_k
    return d_k * (mean_q * mean_k), d_k * (within + between)


def sample_scores(rng, n, d_k, scale=1.0):
    if d_k < 1:
        raise ValueError("d_k counts components, %r isn't a count" % (d_k,))
    if n < 0:
        raise ValueError("n counts draws, %r isn't a count" % (n,))
    q = rng.standard_normal(size=(n, d_k))
    length = np.sqrt(np.einsum("ij,ij->i", q, q))
    return (scale * length) * rng.standard_normal(n)


def variance_z_score(scores, predicted_variance):
    x = np.asarray(scores, dtype=float).flatten()
    if len(x) < 2:
        raise ValueError("scores: a variance needs two of them")
    if predicted_variance < 0.0:
        raise ValueError("predicted_variance is negative: %r" % (predicted_variance,))
    centred = (x - x[0]) - np.mean(x - x[0])
    sq = centred * centred
    m2 = sq.mean()
    n = len(x)
    s2 = m2 * (n / (n - 1))
    se = math.sqrt(((sq - m2) * (sq - m2)).mean() / n)
    gap = s2 - predicted_variance
    tiny = 1e-13 * max(s2, predicted_variance)
    with np.errstate(divide="ignore"):
        if se > 1e-13 * s2:
            return float(gap / se)
        return 0.0 if abs(gap) <= tiny else float(np.divide(gap, 0.0))


def unit_rms_scale(d_k, correlation=0.0):
    if d_k < 1:
        raise ValueError("d_k counts components, %r isn't a count" % (d_k,))
    if correlation > 1 or correlation < -1:
        raise ValueError("correlation is a cosine, %r isn't one" % (correlation,))
    # c = d^-1/2 / sqrt(1 + r^2 (1 + d))
    return d_k**-0.5 / math.sqrt(1 + correlation**2 * (1 + d_k))
