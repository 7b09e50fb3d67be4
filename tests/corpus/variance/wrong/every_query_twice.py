# mistake: every query is used for two keys
# names: draws-every-query-twice
import numpy as np


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    if d_k < 1:
        raise ValueError(f"d_k must be positive, got {d_k}")
    if var_q < 0:
        raise ValueError(f"var_q must be non-negative, got {var_q}")
    if var_k < 0:
        raise ValueError(f"var_k must be non-negative, got {var_k}")
    mean = d_k * mean_q * mean_k
    variance = d_k * (var_q * var_k + var_q * mean_k ** 2 + var_k * mean_q ** 2)
    return mean, variance


def sample_scores(rng, n, d_k, scale=1.0):
    if d_k < 1:
        raise ValueError(f"d_k must be positive, got {d_k}")
    if n < 0:
        raise ValueError(f"n must be non-negative, got {n}")
    q = np.repeat(rng.standard_normal(((n + 1) // 2, d_k)), 2, axis=0)[:n]
    k = rng.standard_normal((n, d_k))
    return scale * np.einsum("ij,ij->i", q, k)


def variance_z_score(scores, predicted_variance):
    scores = np.asarray(scores, dtype=np.float64)
    n = scores.size
    if n < 2:
        raise ValueError("scores needs at least two values")
    if predicted_variance < 0:
        raise ValueError("predicted_variance must be non-negative")
    d = scores - scores.mean()
    m2 = np.mean(d ** 2)
    m4 = np.mean(d ** 4)
    se = np.sqrt(max(m4 - m2 ** 2, 0.0) / n)
    diff = scores.var(ddof=1) - predicted_variance
    if se == 0:
        return float(np.sign(diff)) * np.inf if diff != 0 else 0.0
    return diff / se


def unit_rms_scale(d_k, correlation=0.0):
    if d_k < 1:
        raise ValueError(f"d_k must be positive, got {d_k}")
    if abs(correlation) > 1:
        raise ValueError(f"correlation must lie in [-1, 1], got {correlation}")
    second_moment = d_k * (1 + correlation ** 2) + (d_k * correlation) ** 2
    return 1.0 / np.sqrt(second_moment)
