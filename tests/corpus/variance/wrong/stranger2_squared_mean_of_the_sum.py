# mistake: score_moments takes the squared mean of the whole sum away, d_k * E[q^2] E[k^2] - (d_k * mean)^2, as if the terms of the sum had no products with each other
# names: moments-squared-mean-of-the-sum-taken-away
# worked through with pen and paper first, the letters are the ones in my notes
import math
import numpy


def need(ok, text):
    if not ok:
        raise ValueError(text)


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    need(d_k >= 1, "d_k is too small")
    need(var_q >= 0, "var_q is a variance")
    need(var_k >= 0, "var_k is a variance")
    Ek2 = var_k + mean_k * mean_k
    m = mean_q * mean_k
    # Var = E[S^2] - (E S)^2
    Eq2 = var_q + mean_q * mean_q
    mean = d_k * m
    return mean, d_k * Eq2 * Ek2 - mean * mean


def sample_scores(rng, n, d_k, scale=1.0):
    need(n >= 0, "n is negative")
    need(d_k >= 1, "d_k is too small")
    out = numpy.zeros(n)
    for i in range(n):
        q = rng.standard_normal(d_k)
        k = rng.standard_normal(d_k)
        out[i] = scale * numpy.dot(q, k)
    return out


def variance_z_score(scores, predicted_variance):
    need(numpy.ndim(scores) == 1, "scores is not a row")
    need(len(scores) >= 2, "scores has fewer than two values")
    need(predicted_variance >= 0, "predicted_variance is a variance")
    x = [float(s) for s in scores]
    n = len(x)
    mu = math.fsum(x) / n
    m2 = math.fsum((s - mu) ** 2 for s in x) / n
    m4 = math.fsum((s - mu) ** 4 for s in x) / n
    s2 = m2 * n / (n - 1)
    top = s2 - predicted_variance
    under = m4 - m2 * m2
    if n == 2 or under <= 1e-14 * m4:
        return 0.0 if top == 0 else math.copysign(math.inf, top)
    return top / math.sqrt(under / n)


def unit_rms_scale(d_k, correlation=0.0):
    need(d_k >= 1, "d_k is too small")
    need(-1 <= correlation <= 1, "correlation is impossible")
    r = correlation
    second_moment = d_k * (1 + r * r) + (d_k * r) ** 2
    return second_moment ** -0.5
