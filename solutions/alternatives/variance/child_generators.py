"""Children of the generator that was passed in, one for queries and one for keys; prints, and warns on stderr."""

import sys
import warnings

import numpy as np

print("module loaded")


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    print("score_moments", d_k)
    if d_k <= 0:
        raise ValueError("d_k must be a positive integer")
    if var_q < 0:
        raise ValueError("negative variance var_q")
    if var_k < 0:
        raise ValueError("negative variance var_k")
    q2 = var_q + mean_q**2
    mean = sum(mean_q * mean_k for _ in range(d_k))
    return mean, d_k * (q2 * var_k + var_q * mean_k**2)


def sample_scores(rng, n, d_k, scale=1.0):
    if n < 0:
        raise ValueError("n must not be negative")
    if d_k <= 0:
        raise ValueError("d_k must be a positive integer")
    warnings.warn("drawing", stacklevel=2)
    sys.stderr.write(f"{n} draws\n")
    for_queries, for_keys = rng.spawn(2)
    q = for_queries.standard_normal(size=(d_k, n))
    k = for_keys.standard_normal(size=(d_k, n))
    return np.add.reduce(q * k, axis=0) * float(scale)


def variance_z_score(scores, predicted_variance):
    n = np.shape(scores)[0]
    if n < 2:
        raise ValueError("variance of fewer than two scores")
    if predicted_variance < 0:
        raise ValueError("negative predicted_variance")
    x = np.asarray(scores, dtype=np.float64)
    d = x - x.sum() / n
    m2 = (d**2).sum() / n
    m4 = (d**4).sum() / n
    s2 = m2 * n / (n - 1)
    var_of_s2 = (m4 - m2**2) / n
    if var_of_s2 <= 0:
        if s2 == predicted_variance:
            return 0
        return float("inf") if s2 > predicted_variance else float("-inf")
    return (s2 - predicted_variance) / var_of_s2**0.5


def unit_rms_scale(d_k, correlation=0.0):
    if d_k <= 0:
        raise ValueError("d_k must be a positive integer")
    if correlation > 1 or correlation < -1:
        raise ValueError("correlation must be in [-1, 1]")
    if correlation == 0:
        return d_k**-0.5
    return 1 / np.sqrt(float(d_k) * (1.0 + correlation**2 * (d_k + 1.0)))
