# right: the variance is the square of the standard deviation, a rounding away from it
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

import math

import numpy as np


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """Return the tuple (mean, variance) of q . k when all components are independent of each other."""
    if d_k < 1:
        raise ValueError(f"d_k must be at least 1, got {d_k}")
    if var_q < 0:
        raise ValueError(f"var_q must not be negative, got {var_q}")
    if var_k < 0:
        raise ValueError(f"var_k must not be negative, got {var_k}")
    term_variance = var_q * var_k + var_q * mean_k**2 + mean_q**2 * var_k
    return d_k * mean_q * mean_k, d_k * term_variance


def sample_scores(rng, n, d_k, scale=1.0):
    """Return n independent draws of scale * q . k, float64 (n,), q and k standard normal, fresh for every draw."""
    if n < 0:
        raise ValueError(f"n must not be negative, got {n}")
    if d_k < 1:
        raise ValueError(f"d_k must be at least 1, got {d_k}")
    q = rng.standard_normal((n, d_k))  # (n, d_k)
    k = rng.standard_normal((n, d_k))  # (n, d_k)
    return scale * (q * k).sum(axis=-1)  # (n,)


def variance_z_score(scores, predicted_variance):
    """Return how many standard errors the sample variance (ddof=1) lies above predicted_variance, signed.

    The standard error is sqrt((m4 - m2**2) / n) with the sample's own biased central moments. Where it is 0
    the answer is an infinity with the sign of the difference, or 0 if there is no difference.
    """
    scores = np.asarray(scores, dtype=np.float64)  # (n,)
    if scores.size < 2:
        raise ValueError(f"scores must hold at least two values, got {scores.size}")
    if predicted_variance < 0:
        raise ValueError(f"predicted_variance must not be negative, got {predicted_variance}")
    deviations = scores - scores.mean()  # (n,)
    m2, m4 = np.mean(deviations**2), np.mean(deviations**4)
    standard_error = math.sqrt(max(m4 - m2**2, 0.0) / scores.size)
    difference = scores.std(ddof=1) ** 2 - predicted_variance
    if standard_error == 0:
        return math.copysign(math.inf, difference) if difference else 0.0
    return difference / standard_error


def unit_rms_scale(d_k, correlation=0.0):
    """Return the c with E[(c * q . k)**2] = 1 for standard normal q, k with corr(q_i, k_i) = correlation, pairs independent."""
    if d_k < 1:
        raise ValueError(f"d_k must be at least 1, got {d_k}")
    if abs(correlation) > 1:
        raise ValueError(f"correlation must lie in -1 .. 1, got {correlation}")
    mean = d_k * correlation
    variance = d_k * (1 + correlation**2)
    return (variance + mean**2) ** -0.5
