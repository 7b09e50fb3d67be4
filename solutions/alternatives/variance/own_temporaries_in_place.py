"""In place on its own temporaries, the generator's `out=`, and a cache that can't change any result."""

import functools
import math

import numpy as np


@functools.cache
def term(mean_q, var_q, mean_k, var_k):
    return mean_q * mean_k, var_q * var_k + var_q * mean_k**2 + var_k * mean_q**2


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    if d_k < 1:
        raise ValueError("d_k has to be 1 or more")
    if var_q < 0:
        raise ValueError("var_q has to be 0 or more")
    if var_k < 0:
        raise ValueError("var_k has to be 0 or more")
    return tuple(d_k * moment for moment in term(mean_q, var_q, mean_k, var_k))


def sample_scores(rng, n, d_k, scale=1.0):
    if d_k < 1:
        raise ValueError("d_k has to be 1 or more")
    if n < 0:
        raise ValueError("n has to be 0 or more")
    q, k = np.empty((n, d_k)), np.empty((n, d_k))
    total = np.zeros(n)
    rng.standard_normal(out=q)
    rng.standard_normal(out=k)
    q *= k
    np.sum(q, axis=1, out=total)
    np.multiply(total, scale, out=total)
    return total


def variance_z_score(scores, predicted_variance):
    work = np.array(scores, dtype=np.float64, copy=True)
    count = work.size
    if count < 2:
        raise ValueError("scores: two at least")
    if predicted_variance < 0:
        raise ValueError("predicted_variance has to be 0 or more")
    work -= work.mean()
    work *= work
    m2 = work.mean()
    work -= m2
    work *= work
    error = math.sqrt(work.mean() / count)
    difference = float(m2 * count / (count - 1) - predicted_variance)
    if error:
        return difference / error
    return math.inf if difference > 0 else -math.inf if difference < 0 else 0.0


def unit_rms_scale(d_k, correlation=0.0):
    if d_k < 1:
        raise ValueError("d_k has to be 1 or more")
    if math.fabs(correlation) > 1:
        raise ValueError("correlation has to stay within 1 in size")
    root = math.sqrt(d_k)
    return 1 / (root * math.sqrt(1 + correlation**2 * (1 + d_k)))
