# right: Pairs of components: q1 k1 + q2 k2 is a Laplace variable, a difference of two exponentials. An odd one is left as a product.
"""Pairs of components: q1 k1 + q2 k2 is a Laplace variable, a difference of two exponentials. An odd one is left as a product."""

import math
from statistics import fmean

import numpy as np


def _must(ok, what):
    if not ok:
        raise ValueError(what)


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    _must(d_k >= 1, "d_k must be >= 1")
    _must(var_q >= 0, "var_q must be >= 0")
    _must(var_k >= 0, "var_k must be >= 0")
    a = math.fsum([var_q * var_k, var_q * mean_k**2, var_k * mean_q**2])
    return d_k * mean_q * mean_k, d_k * a


def sample_scores(rng, n, d_k, scale=1.0):
    _must(n >= 0, "n must be >= 0")
    _must(d_k >= 1, "d_k must be >= 1")
    pairs, odd = divmod(int(d_k), 2)
    s = np.zeros(n)
    for _ in range(pairs):
        s += rng.laplace(0.0, 1.0, n)
    if odd:
        s += rng.standard_normal(n) * rng.standard_normal(n)
    s *= scale
    return s


def variance_z_score(scores, predicted_variance):
    x = np.asarray(scores, dtype=np.float64)
    _must(x.ndim == 1 and len(x) >= 2, "scores must be two or more")
    _must(predicted_variance >= 0, "predicted_variance must be >= 0")
    n = len(x)
    mean = x[0] + fmean(x - x[0])
    c = x - mean
    c[np.abs(c) <= 2e-16 * np.abs(x).max()] = 0
    squares = (c**2).tolist()
    m2 = fmean(squares)
    inside = fmean((s - m2) ** 2 for s in squares)
    s2 = m2 * n / (n - 1)
    if inside <= (1e-14 * m2) ** 2:
        return 0.0 if abs(s2 - predicted_variance) <= 1e-14 * s2 else math.copysign(math.inf, s2 - predicted_variance)
    return (s2 - predicted_variance) * math.sqrt(n / inside)


def unit_rms_scale(d_k, correlation=0.0):
    _must(d_k >= 1, "d_k must be >= 1")
    _must(abs(correlation) <= 1, "correlation must be in -1 .. 1")
    # E[(q.k)^2] = sum over pairs (i, j) of E[q_i k_i q_j k_j]: 1 + 2 r^2 on the diagonal, r^2 off it
    r2 = correlation * correlation
    return 1 / math.sqrt(d_k * (1 + 2 * r2) + d_k * (d_k - 1) * r2)
