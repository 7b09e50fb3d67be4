"""A generator of chunks, einsum, and a NamedTuple as the pair."""

from typing import NamedTuple

import numpy as np


class Moments(NamedTuple):
    mean: float
    variance: float


class Widths:
    """Chunks of at most `rows` draws, so that a wide head never needs n * d_k numbers at once."""

    def __init__(self, rows=37):
        self.rows = rows

    def cut(self, n):
        for start in range(0, n, self.rows):
            yield start, min(n, start + self.rows)


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    problems = [name for name, bad in (("d_k", d_k < 1), ("var_q", var_q < 0), ("var_k", var_k < 0)) if bad]
    if problems:
        raise ValueError("impossible: " + ", ".join(problems))
    return Moments(d_k * mean_q * mean_k, d_k * float(np.dot([var_k, mean_k**2, mean_q**2], [var_q, var_q, var_k])))


def sample_scores(rng, n, d_k, scale=1.0):
    if n < 0 or d_k < 1:
        raise ValueError(f"impossible: {'n' if n < 0 else 'd_k'}")
    out = np.zeros((n,), dtype="float64")
    for start, stop in Widths().cut(n):
        pair = rng.standard_normal((2, stop - start, d_k))
        out[start:stop] = np.einsum("nd,nd->n", *pair)
    out *= scale
    return out


def variance_z_score(scores, predicted_variance):
    scores = np.ravel(scores).astype(np.float64)
    if scores.shape[0] < 2:
        raise ValueError("impossible: scores")
    if predicted_variance < 0:
        raise ValueError("impossible: predicted_variance")
    central = [np.mean((scores - scores.mean()) ** order) for order in range(5)]
    error = np.sqrt(np.clip(central[4] - central[2] ** 2, 0, None) / scores.size)
    difference = np.var(scores, ddof=1) - predicted_variance
    if error > 0:
        return np.float64(difference / error)
    return np.float64(np.inf * np.sign(difference)) if difference else np.float64(0)


def unit_rms_scale(d_k, correlation=0.0):
    if d_k < 1:
        raise ValueError("impossible: d_k")
    if correlation**2 > 1:
        raise ValueError("impossible: correlation")
    second_moment_of_a_term = 1 + 2 * correlation**2
    pairs_of_terms = d_k * (d_k - 1) * correlation**2
    return float((d_k * second_moment_of_a_term + pairs_of_terms) ** -0.5)
