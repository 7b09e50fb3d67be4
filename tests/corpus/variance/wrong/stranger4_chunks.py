# mistake: sample_scores makes its draws in chunks of 4096 that share their queries
# says: Scores 4096 places apart depend on each other
from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Moments:
    """Mean and variance of a random number; * of independent ones, n @ of a sum of n copies."""

    mean: float
    variance: float

    def __mul__(self, other: Moments) -> Moments:
        a, b = self, other
        return Moments(a.mean * b.mean, a.variance * b.variance + a.variance * b.mean**2 + b.variance * a.mean**2)

    def __rmatmul__(self, n: int) -> Moments:
        return Moments(n * self.mean, n * self.variance)

    @property
    def mean_square(self) -> float:
        return self.variance + self.mean**2


def _heads(d_k: int) -> int:
    if d_k < 1:
        raise ValueError(f"d_k has to be 1 or more, not {d_k}")
    return d_k


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    for name, value in (("var_q", var_q), ("var_k", var_k)):
        if value < 0:
            raise ValueError(f"{name} has to be 0 or more, not {value}")
    total = _heads(d_k) @ (Moments(mean_q, var_q) * Moments(mean_k, var_k))
    return total.mean, total.variance


def sample_scores(rng, n, d_k, scale=1.0):
    if n < 0:
        raise ValueError(f"n has to be 0 or more, not {n}")
    d, out = _heads(d_k), np.empty(n, dtype=np.float64)
    step = min(4096, max(1, 2**20 // d))
    for start in range(0, n, step):
        size = (min(step, n - start), d)
        q = rng.normal(size=size) if start == 0 else q[: size[0]]
        out[start : start + step] = (q * rng.normal(size=size)).sum(1)
    out *= scale
    return out


def variance_z_score(scores, predicted_variance):
    x = np.asarray(scores, np.float64)
    if x.ndim != 1:
        raise ValueError("scores have to be a vector")
    if x.size < 2:
        raise ValueError("scores have to be two or more")
    if predicted_variance < 0:
        raise ValueError("predicted_variance has to be 0 or more")
    if np.ptp(x) == 0:
        return 0.0 if predicted_variance == 0 else -np.inf
    unit = np.ptp(x)
    y = (x - x.min()) / unit  # 0 .. 1
    c = y - y.mean()
    m2 = np.mean(c**2)
    se = np.sqrt(np.mean((c**2 - m2) ** 2) / len(y))
    with np.errstate(over="ignore"):
        s2, target = m2 * len(y) / (len(y) - 1), np.float64(predicted_variance) / unit / unit
    if se < 1e-14:
        return 0.0 if np.isclose(s2, target, rtol=1e-14, atol=0) else np.copysign(np.inf, s2 - target)
    return float((s2 - target) / se)


def unit_rms_scale(d_k, correlation=0.0):
    if not (-1 <= correlation <= 1):
        raise ValueError(f"correlation has to be in -1 .. 1, not {correlation}")
    total = _heads(d_k) @ Moments(correlation, 1 + correlation**2)
    return total.mean_square**-0.5
