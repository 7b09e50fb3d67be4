import numpy as np


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    if d_k < 1:
        raise ValueError(f"d_k must be at least 1, got {d_k}")
    if var_q < 0:
        raise ValueError(f"var_q must not be negative, got {var_q}")
    if var_k < 0:
        raise ValueError(f"var_k must not be negative, got {var_k}")
    mean = d_k * mean_q * mean_k
    variance = d_k * (var_q * var_k + var_q * mean_k**2 + var_k * mean_q**2)
    return mean, variance


def sample_scores(rng, n, d_k, scale=1.0):
    if n < 0:
        raise ValueError(f"n must not be negative, got {n}")
    if d_k < 1:
        raise ValueError(f"d_k must be at least 1, got {d_k}")
    q = rng.standard_normal((n, d_k))
    k = rng.standard_normal((n, d_k))
    return scale * (q * k).sum(axis=1)


def variance_z_score(scores, predicted_variance):
    x = np.asarray(scores, dtype=np.float64).ravel()
    n = x.size
    if n < 2:
        raise ValueError(f"scores must hold at least two values, got {n}")
    if predicted_variance < 0:
        raise ValueError(f"predicted_variance must not be negative, got {predicted_variance}")
    x = x - x[0]
    d = x - x.mean()
    m2 = np.mean(d**2)
    spread = np.mean((d**2 - m2) ** 2)  # m4 - m2**2 without the subtraction
    difference = np.sum(d**2) / (n - 1) - predicted_variance
    if np.sqrt(spread) <= 1e-13 * m2:
        if abs(difference) <= 1e-13 * max(m2, predicted_variance):
            return 0.0
        return float(np.copysign(np.inf, difference))
    return float(difference / np.sqrt(spread / n))


def unit_rms_scale(d_k, correlation=0.0):
    if d_k < 1:
        raise ValueError(f"d_k must be at least 1, got {d_k}")
    if not -1 <= correlation <= 1:
        raise ValueError(f"correlation must lie in -1 .. 1, got {correlation}")
    r2 = correlation * correlation
    return (d_k * (1 + r2) + d_k**2 * r2) ** -0.5
