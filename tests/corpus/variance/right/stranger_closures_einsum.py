import functools

import numpy as np


def _validated(**tests):
    def decorate(function):
        names = function.__code__.co_varnames[: function.__code__.co_argcount]

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            given = {**dict(zip(names, args)), **kwargs}
            for name, test in tests.items():
                if name in given and not test(given[name]):
                    raise ValueError(f"{function.__name__}({name}={given[name]!r}): not a possible {name}")
            return function(*args, **kwargs)

        return wrapper

    return decorate


def _count(v):
    return v >= 1


def _not_negative(v):
    return v >= 0


@_validated(d_k=_count, var_q=_not_negative, var_k=_not_negative)
def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    mean = np.einsum(",,->", float(d_k), mean_q, mean_k)
    terms = ((var_q, var_k), (var_q, mean_k**2), (mean_q**2, var_k))
    return float(mean), float(d_k * sum(a * b for a, b in terms))


@_validated(n=_not_negative, d_k=_count)
def sample_scores(rng, n, d_k, scale=1.0):
    both = rng.standard_normal((2, n, d_k))
    return np.einsum("nd,nd,->n", both[0], both[1], float(scale))


@_validated(scores=lambda s: np.size(s) >= 2, predicted_variance=_not_negative)
def variance_z_score(scores, predicted_variance):
    x = np.ravel(np.asarray(scores, dtype="f8"))
    n = x.size
    d = x - x[0]
    d = d - d.mean()
    m2 = np.einsum("i,i->", d, d) / n
    v = d * d - m2
    se = np.sqrt(np.einsum("i,i->", v, v)) / n
    s2 = n * m2 / (n - 1)
    if se > 1e-13 * m2:
        return (s2 - predicted_variance) / se
    if np.isclose(s2, predicted_variance, rtol=1e-13, atol=0):
        return 0
    return float("inf") if s2 > predicted_variance else float("-inf")


@_validated(d_k=_count, correlation=lambda r: abs(r) <= 1)
def unit_rms_scale(d_k, correlation=0.0):
    second_moment = np.polyval([correlation**2, 1 + correlation**2, 0], d_k)
    return float(second_moment**-0.5)
