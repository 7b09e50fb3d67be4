# mistake: variance_z_score swaps its divisors: n for s**2, n - 1 in the error
# names: z-divisors-swapped
import numpy as np


def _refusing(check):
    def decorate(f):
        def inner(*args, **kwargs):
            names = f.__code__.co_varnames[: f.__code__.co_argcount]
            given = dict(zip(names[len(names) - len(f.__defaults__ or ()) :], f.__defaults__ or ())) | dict(zip(names, args)) | kwargs
            for problem in check(given):
                raise ValueError(problem)
            return f(*args, **kwargs)

        inner.__name__, inner.__doc__ = f.__name__, f.__doc__
        return inner

    return decorate


def _rules(given):
    if "d_k" in given and given["d_k"] < 1:
        yield f"d_k: {given['d_k']} components"
    if "n" in given and given["n"] < 0:
        yield f"n: {given['n']} draws"
    yield from (f"{name}: {given[name]}" for name in ("var_q", "var_k", "predicted_variance") if given.get(name, 0) < 0)
    if "scores" in given and np.size(given["scores"]) < 2:
        yield "scores: fewer than two"
    if "scores" in given and np.ndim(given["scores"]) != 1:
        yield "scores: not a vector"
    if not abs(given.get("correlation", 0)) <= 1:
        yield f"correlation: {given['correlation']}"


@_refusing(_rules)
def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    q, k = np.array([mean_q, var_q], float), np.array([mean_k, var_k], float)
    return d_k * q[0] * k[0], d_k * (q[1] * k[1] + q[1] * k[0] ** 2 + k[1] * q[0] ** 2)


@_refusing(_rules)
def sample_scores(rng, n, d_k, scale=1.0):
    def draws():
        left = n
        while left > 0:
            take = min(left, 4096)
            block = rng.standard_normal((take, 2, d_k))
            yield block.prod(axis=1).sum(axis=1)
            left -= take

    return np.concatenate([np.empty(0), *draws()]) * scale


@_refusing(_rules)
def variance_z_score(scores, predicted_variance):
    x = np.asarray(scores, dtype=float)
    x = x - x[0]
    c = x - x.mean()
    c2 = c * c
    s2, m2 = x.var(), c2.mean()
    se = c2.std(ddof=1) / np.sqrt(len(x))
    if se > 1e-14 * m2 and len(x) > 2:
        return float((s2 - predicted_variance) / se)
    same = abs(s2 - predicted_variance) <= 1e-14 * s2
    return 0.0 if same else float(np.copysign(np.inf, s2 - predicted_variance))


@_refusing(_rules)
def unit_rms_scale(d_k, correlation=0.0):
    r = correlation
    return float(np.linalg.norm([d_k * r, d_k**0.5 * (1 + r * r) ** 0.5])) ** -1
