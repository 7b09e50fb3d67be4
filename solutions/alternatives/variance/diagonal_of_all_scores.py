"""All n x n scores, of which the diagonal alone is kept: wasteful and right."""

import functools

import numpy as np


def named(**conditions):
    """Refuse by the name of the first argument whose condition is false."""

    def put(function):
        @functools.wraps(function)
        def checked(*args, **kwargs):
            given = dict(zip(function.__code__.co_varnames, args, strict=False)) | kwargs
            for name, holds in conditions.items():
                if name in given and not holds(given[name]):
                    raise ValueError(f"{function.__name__}: {name}={given[name]!r} is impossible")
            return function(*args, **kwargs)

        return checked

    return put


@named(d_k=lambda d: d >= 1, var_q=lambda v: v >= 0, var_k=lambda v: v >= 0)
def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    variance = np.full(d_k, var_q * var_k) + var_q * mean_k**2 + var_k * mean_q**2
    return np.full(d_k, mean_q * mean_k).sum(), variance.sum()


@named(n=lambda n: n >= 0, d_k=lambda d: d >= 1)
def sample_scores(rng, n, d_k, scale=1.0):
    q, k = rng.normal(0, 1, (n, d_k)), rng.normal(0, 1, (n, d_k))
    return scale * np.diag(q @ k.T)


@named(scores=lambda s: len(s) >= 2, predicted_variance=lambda v: v >= 0)
def variance_z_score(scores, predicted_variance):
    x = np.asarray(scores).astype(np.float64)
    x = x - np.average(x)
    m2, m4 = np.average(x**2), np.average(x**4)
    standard_error = np.sqrt(np.maximum(m4 - m2**2, 0) / len(x))
    difference = np.cov(x) - predicted_variance
    if standard_error == 0:
        return np.inf * np.sign(difference) if difference else 0.0
    return np.divide(difference, standard_error)


@named(d_k=lambda d: d >= 1, correlation=lambda r: abs(r) <= 1)
def unit_rms_scale(d_k, correlation=0.0):
    identity_part = (1 + correlation**2) * d_k
    return float(np.reciprocal(np.sqrt(identity_part + (correlation * d_k) ** 2)))
