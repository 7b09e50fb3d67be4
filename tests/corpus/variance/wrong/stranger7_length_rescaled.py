# mistake: sample_scores multiplies with a chi-square number over sqrt(d_k) where its root belongs
# names: draws-length-without-its-root-over-root-d-k
"""q . k for one q is normal with standard deviation |q|, and |q|^2 is chi-square: two draws make a score."""
import numpy as np


def _positive(name, value, least):
    if not value >= least:
        raise ValueError("%s has to be at least %s" % (name, least))
    return value


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    _positive("d_k", d_k, 1)
    _positive("var_q", var_q, 0)
    _positive("var_k", var_k, 0)
    # E[q^2] E[k^2] - (E[q] E[k])^2 loses digits when the means are large; conditioning on q doesn't:
    # Var = E[Var(qk | q)] + Var(E[qk | q]) = var_k E[q^2] + mean_k^2 var_q
    within = var_k * (var_q + mean_q * mean_q)
    between = mean_k * mean_k * var_q
    return np.float64(d_k) * mean_q * mean_k, np.float64(d_k) * (within + between)


def sample_scores(rng, n, d_k, scale=1.0):
    n = _positive("n", n, 0)
    length = rng.chisquare(_positive("d_k", d_k, 1), size=n) / np.sqrt(d_k)
    return scale * length * rng.normal(size=n)


def variance_z_score(scores, predicted_variance):
    values = [float(s) for s in np.asarray(scores).flat]
    if len(values) < 2:
        raise ValueError("scores: one score has no variance")
    _positive("predicted_variance", predicted_variance, 0)
    n = len(values)
    mean = np.longdouble(0)
    for i, s in enumerate(values, 1):
        mean += (s - mean) / i
    second = np.longdouble(0)
    for s in values:
        second += (s - mean) ** 2
    m2 = second / n
    spread = sum(((s - mean) ** 2 - m2) ** 2 for s in values) / n
    difference = float(second / (n - 1)) - predicted_variance
    error = float(np.sqrt(spread / n))
    if error == 0.0:
        return float(np.sign(difference)) * np.inf if difference else 0.0
    return float(difference / error)


def unit_rms_scale(d_k, correlation=0.0):
    _positive("d_k", d_k, 1)
    if abs(correlation) > 1:
        raise ValueError("correlation lies outside -1 .. 1")
    return 1 / np.hypot(np.sqrt(d_k * (1 + correlation**2)), d_k * correlation)
