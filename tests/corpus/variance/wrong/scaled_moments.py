# mistake: moments of the scaled score
# names: moments-of-the-scaled-score
import numpy as np


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    _check_width(d_k)
    if var_q < 0 or var_k < 0:
        raise ValueError("var_q and var_k must be >= 0")
    eq2 = var_q + mean_q * mean_q
    ek2 = var_k + mean_k * mean_k
    per_term = eq2 * ek2 - (mean_q * mean_k) ** 2
    return float(d_k * mean_q * mean_k / np.sqrt(d_k)), float(per_term)


def _check_width(d_k):
    if d_k <= 0:
        raise ValueError("d_k has to be at least 1")


def sample_scores(rng, n, d_k, scale=1.0):
    if d_k < 1:
        raise ValueError(f"d_k must be positive, got {d_k}")
    if n < 0:
        raise ValueError(f"n must be non-negative, got {n}")
    q = rng.standard_normal((n, d_k))
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
