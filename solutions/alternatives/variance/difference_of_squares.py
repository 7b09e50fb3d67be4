"""4 q . k = |q + k|**2 - |q - k|**2, and the two squares are independent: (A - B) / 2 with A and B chi-square."""

import numpy as np


class Negative(ValueError):
    """A variance, size or width that is too small."""


def require(condition, text):
    if not condition:
        raise Negative(text)


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0, *, verbose=False):
    require(d_k > 0, "d_k must be positive")
    require(var_q >= 0, "var_q must not be negative")
    require(var_k >= 0, "var_k must not be negative")
    product = var_q * var_k
    through_k = var_q * mean_k**2
    through_q = var_k * mean_q**2
    if verbose:
        print(product, through_k, through_q)
    return (d_k * mean_q * mean_k, d_k * (product + through_k + through_q))


def sample_scores(rng, n, d_k, scale=1.0, *, dtype=np.float64):
    require(n >= 0, "n must not be negative")
    require(d_k > 0, "d_k must be positive")
    a, b = rng.chisquare(d_k, (2, n))
    return (scale * (a - b) / 2).astype(dtype)


def variance_z_score(scores, predicted_variance):
    require(np.size(scores) >= 2, "scores must be two or more")
    require(predicted_variance >= 0, "predicted_variance must not be negative")
    x = np.asarray(scores, np.longdouble)
    centred = x - x.mean()
    m2, m4 = (centred**2).mean(), (centred**4).mean()
    gap = x.var(ddof=1) - predicted_variance
    spread = m4 - m2 * m2
    if spread <= 0:
        return float(np.sign(gap)) * float("inf") if gap != 0 else 0.0
    return gap / np.sqrt(spread / x.size)  # a np.longdouble, which is a number like any other


def unit_rms_scale(d_k, correlation=0.0):
    require(d_k > 0, "d_k must be positive")
    require(abs(correlation) <= 1, "correlation must be between -1 and 1")
    return np.sqrt(1.0 / (d_k * (1 + (1 + d_k) * np.square(correlation))))
