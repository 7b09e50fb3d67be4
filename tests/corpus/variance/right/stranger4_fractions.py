# right: Exact arithmetic: floats are fractions, and so are their means; rounding happens once, at the end.
"""Exact arithmetic: floats are fractions, and so are their means; rounding happens once, at the end."""

import math
from fractions import Fraction as Q

import numpy as np


def _size(name, value, least):
    if value < least:
        raise ValueError(f"{name} is {value}, less than {least}")
    return int(value)


def _variance(name, value):
    if value < 0:
        raise ValueError(f"{name} is {value}, less than 0")
    return Q(float(value))


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    d = _size("d_k", d_k, 1)
    vq, vk = _variance("var_q", var_q), _variance("var_k", var_k)
    mq, mk = Q(float(mean_q)), Q(float(mean_k))
    second_moment = (vq + mq**2) * (vk + mk**2)
    return float(d * mq * mk), float(d * (second_moment - (mq * mk) ** 2))


def sample_scores(rng, n, d_k, scale=1.0):
    n, d = _size("n", n, 0), _size("d_k", d_k, 1)
    total = np.zeros(n)
    for _ in range(d):
        total += rng.standard_normal(n) * rng.standard_normal(n)
    return total * scale


def variance_z_score(scores, predicted_variance):
    x = [Q(float(s)) for s in np.asarray(scores).reshape(-1)]
    n = len(x)
    if n < 2:
        raise ValueError(f"scores are {n}, two are needed")
    target = _variance("predicted_variance", predicted_variance)
    mean = sum(x) / n
    squares = [(a - mean) ** 2 for a in x]
    m2 = sum(squares) / n
    m4 = sum(s * s for s in squares) / n
    difference = sum(squares) / (n - 1) - target
    if m4 == m2**2:
        # the rounding of an input to a double is not a difference
        if abs(difference) <= target * Q(1, 10**14):
            return 0.0
        return math.inf if difference > 0 else -math.inf
    return float(difference) / math.sqrt((m4 - m2**2) / n)


def unit_rms_scale(d_k, correlation=0.0):
    d = _size("d_k", d_k, 1)
    if not abs(correlation) <= 1:
        raise ValueError(f"correlation is {correlation}, not in -1 .. 1")
    r = Q(float(correlation))
    return math.sqrt(1 / (d + d * (d + 1) * r**2))
