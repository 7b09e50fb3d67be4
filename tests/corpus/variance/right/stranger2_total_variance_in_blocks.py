"""Blocks and streams: nothing larger than one block of draws is ever held, and the moments are accumulated."""
import itertools
from math import copysign, inf, sqrt

import numpy as np

BLOCK = 1 << 12


class Refused(ValueError):
    def __init__(self, name, value):
        super().__init__(f"{name} = {value} is not possible")


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    for name, bad in (("d_k", d_k < 1), ("var_q", var_q < 0), ("var_k", var_k < 0)):
        if bad:
            raise Refused(name, locals()[name])
    # law of total variance: Var = E[Var(s | q)] + Var(E[s | q])
    expected_conditional = d_k * var_k * (var_q + mean_q * mean_q)
    variance_of_conditional = d_k * mean_k * mean_k * var_q
    return d_k * mean_q * mean_k, expected_conditional + variance_of_conditional


def sample_scores(rng, n, d_k, scale=1.0):
    if n < 0:
        raise Refused("n", n)
    if d_k < 1:
        raise Refused("d_k", d_k)
    out = np.empty(n, dtype=np.float64)
    step = max(1, BLOCK // d_k)
    for start in range(0, n, step):
        part = out[start : start + step]
        pair = rng.standard_normal((len(part), 2, d_k))
        np.multiply(np.prod(pair, axis=1).sum(axis=1), scale, out=part)
    return out


def variance_z_score(scores, predicted_variance):
    x = np.asarray(scores, dtype=np.float64)
    if x.ndim != 1 or x.size < 2:
        raise ValueError("scores: fewer than two, or not in a row")
    if predicted_variance < 0:
        raise Refused("predicted_variance", predicted_variance)
    n = x.size
    centred = x - x.mean()
    centred -= centred.mean()  # what rounding left
    total2 = float(np.vdot(centred, centred))
    m2 = total2 / n
    residual = centred * centred - m2
    se = sqrt(float(np.vdot(residual, residual)) / n / n)
    gap = total2 / (n - 1) - predicted_variance
    if n == 2 or se * sqrt(n) <= 1e-14 * m2:
        return copysign(inf, gap) if gap else 0.0
    return gap / se


def unit_rms_scale(d_k, correlation=0.0):
    if d_k < 1:
        raise Refused("d_k", d_k)
    if correlation < -1 or correlation > 1:
        raise Refused("correlation", correlation)
    # every ordered pair (i, j) brings r^2, the pairs (i, i) bring 1 + r^2 more
    pairs = {"any": d_k * d_k, "same": d_k}
    brings = {"any": correlation**2, "same": 1 + correlation**2}
    return sqrt(1 / sum(itertools.starmap(lambda k, c: c * brings[k], pairs.items())))
