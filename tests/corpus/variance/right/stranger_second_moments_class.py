from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Moments:
    mean: float
    variance: float

    def times(self, other: Moments) -> Moments:
        """The product of two independent variables."""
        spread = self.variance * (other.variance + other.mean**2) + self.mean**2 * other.variance
        return Moments(self.mean * other.mean, spread)

    def summed(self, count: int) -> Moments:
        return Moments(count * self.mean, count * self.variance)


def _at_least_one(d_k):
    if d_k < 1:
        raise ValueError(f"d_k = {d_k}: a head has at least one component")
    return d_k


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    for name, value in (("var_k", var_k), ("var_q", var_q)):
        if value < 0:
            raise ValueError(f"{name} = {value}: a variance isn't negative")
    total = Moments(mean_q, var_q).times(Moments(mean_k, var_k)).summed(_at_least_one(d_k))
    return total.mean, total.variance


def sample_scores(rng: np.random.Generator, n: int, d_k: int, scale: float = 1.0) -> np.ndarray:
    _at_least_one(d_k)
    if n < 0:
        raise ValueError(f"n = {n}: a number of draws isn't negative")
    out = np.empty(n)
    for i in range(n):
        out[i] = scale * float(np.dot(rng.standard_normal(d_k), rng.standard_normal(d_k)))
    return out


def variance_z_score(scores, predicted_variance):
    values = [float(s) for s in np.asarray(scores).ravel()]
    n = len(values)
    if n < 2:
        raise ValueError(f"scores: {n} of them, two are the least")
    if predicted_variance < 0:
        raise ValueError(f"predicted_variance = {predicted_variance}: a variance isn't negative")
    origin = values[0]
    mean = math.fsum(v - origin for v in values) / n
    squares = [(v - origin - mean) ** 2 for v in values]
    m2 = math.fsum(squares) / n
    variance = m2 * n / (n - 1)
    error = math.sqrt(math.fsum((s - m2) ** 2 for s in squares) / n / n)
    difference = variance - predicted_variance
    if error <= 1e-13 * variance:
        if math.isclose(variance, predicted_variance, rel_tol=1e-13):
            return 0.0
        return math.copysign(math.inf, difference)
    return difference / error


def unit_rms_scale(d_k, correlation=0.0):
    if abs(correlation) > 1:
        raise ValueError(f"correlation = {correlation}: it lies between -1 and 1")
    per_term = Moments(correlation, 1 + correlation**2)
    total = per_term.summed(_at_least_one(d_k))
    return 1 / math.hypot(total.mean, math.sqrt(total.variance))
