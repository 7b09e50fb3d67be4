"""Plain Python: one draw at a time, math.fsum, Python floats."""

import math

import numpy as np


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    if d_k < 1:
        raise ValueError(f"d_k={d_k} makes no dot product")
    if var_q < 0 or var_k < 0:
        raise ValueError(f"variances can't be negative: var_q={var_q}, var_k={var_k}")
    means = [mean_q * mean_k for _ in range(d_k)]
    variances = [var_q * var_k + var_q * mean_k**2 + mean_q**2 * var_k for _ in range(d_k)]
    return math.fsum(means), math.fsum(variances)


def sample_scores(rng, n, d_k, scale=1.0):
    if n < 0:
        raise ValueError(f"n={n} draws can't be made")
    if d_k < 1:
        raise ValueError(f"d_k={d_k} makes no dot product")
    scores = np.empty(n)
    for i in range(n):
        q = rng.normal(size=d_k)
        k = rng.normal(size=d_k)
        scores[i] = scale * q.dot(k)
    return scores


def variance_z_score(scores, predicted_variance):
    values = [float(s) for s in scores]
    n = len(values)
    if n < 2:
        raise ValueError(f"scores has {n} entries, a variance needs two")
    if predicted_variance < 0:
        raise ValueError(f"predicted_variance={predicted_variance} is negative")
    mean = math.fsum(values) / n
    squares = [(v - mean) ** 2 for v in values]
    m2 = math.fsum(squares) / n
    m4 = math.fsum(s * s for s in squares) / n
    difference = math.fsum(squares) / (n - 1) - predicted_variance
    error = math.sqrt(max(0.0, m4 - m2 * m2) / n)
    try:
        return difference / error
    except ZeroDivisionError:
        return 0.0 if difference == 0 else math.inf if difference > 0 else -math.inf


def unit_rms_scale(d_k, correlation=0.0):
    if d_k < 1:
        raise ValueError(f"d_k={d_k} makes no dot product")
    if not abs(correlation) <= 1:
        raise ValueError(f"correlation={correlation} is outside -1 .. 1")
    return 1 / math.hypot(math.sqrt(d_k * (1 + correlation**2)), d_k * correlation)
