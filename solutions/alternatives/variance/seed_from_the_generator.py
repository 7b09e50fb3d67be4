"""A generator of its own, seeded from the one that was passed in; components laid out the other way round."""

import numpy as np


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    if d_k < 1:
        raise ValueError("d_k < 1")
    if min(var_q, var_k) < 0:
        raise ValueError("var_q < 0" if var_q < 0 else "var_k < 0")
    q = np.array([mean_q, var_q], dtype=np.float64)
    k = np.array([mean_k, var_k], dtype=np.float64)
    variance = q[1] * k[1] + q[1] * k[0] ** 2 + k[1] * q[0] ** 2
    return d_k * q[0] * k[0], d_k * variance


def sample_scores(rng, n, d_k, scale=1.0):
    if n < 0:
        raise ValueError("n < 0")
    if d_k < 1:
        raise ValueError("d_k < 1")
    own = np.random.Generator(np.random.Philox(rng.integers(0, 2**63, size=2, dtype=np.uint64)))
    table = own.standard_normal((n, 2 * d_k))
    return scale * np.sum(table[:, 0::2] * table[:, 1::2], axis=1)


def variance_z_score(scores, predicted_variance):
    if len(scores) < 2:
        raise ValueError("len(scores) < 2")
    if predicted_variance < 0:
        raise ValueError("predicted_variance < 0")
    deviation = np.subtract(scores, np.mean(scores, dtype=np.float64), dtype=np.float64)
    square = deviation * deviation
    difference = square.sum() / (square.size - 1) - predicted_variance
    error = np.sqrt(square.var() / square.size)
    if error == 0.0:
        return np.copysign(np.inf, difference) if difference != 0.0 else 0.0
    return difference / error


def unit_rms_scale(d_k, correlation=0.0):
    if d_k < 1:
        raise ValueError("d_k < 1")
    if abs(correlation) > 1:
        raise ValueError("|correlation| > 1")
    mean, variance = score_moments_correlated(d_k, correlation)
    return (mean * mean + variance) ** (-1 / 2)


def score_moments_correlated(d_k, rho):
    return rho * d_k, (1 + rho * rho) * d_k
