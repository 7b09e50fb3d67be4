"""Draws q . k as (length of q) times one normal number: the same joint law from another recipe."""

import math

import numpy as np


def _positive(name, value):
    if value < 1:
        raise ValueError(f"{name}: expected 1 or more, got {value!r}")
    return value


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    _positive("d_k", d_k)
    for name, value in {"var_q": var_q, "var_k": var_k}.items():
        if not value >= 0:
            raise ValueError(f"{name} is a variance and can't be {value!r}")
    one = (var_q + mean_q * mean_q) * (var_k + mean_k * mean_k) - (mean_q * mean_k) ** 2
    return np.float64(d_k * mean_q * mean_k), np.float64(d_k * one)


def sample_scores(rng, n, d_k, scale=1.0):
    _positive("d_k", d_k)
    _positive("n", n)
    length = np.sqrt(rng.chisquare(d_k, size=n))
    return length * rng.normal(loc=0.0, scale=1.0, size=n) * scale


def variance_z_score(scores, predicted_variance):
    x = np.array(scores, dtype=float)
    if len(x) < 2:
        raise ValueError("scores: at least two are needed")
    if predicted_variance < 0:
        raise ValueError("predicted_variance is negative")
    x -= np.mean(x)
    s2 = np.dot(x, x) / (len(x) - 1)
    square = x * x
    error = np.std(square) / np.sqrt(len(x))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.float64(s2 - predicted_variance) / error
    return np.float64(0.0) if np.isnan(z) else z


def unit_rms_scale(d_k, correlation=0.0):
    _positive("d_k", d_k)
    if not -1 <= correlation <= 1:
        raise ValueError(f"correlation = {correlation} is not one")
    r2 = correlation * correlation
    return 1.0 / math.sqrt(d_k + d_k * r2 + d_k * d_k * r2)
