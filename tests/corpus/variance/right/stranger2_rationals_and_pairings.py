from fractions import Fraction

import numpy as np

# Isserlis: for jointly normal a, b, c, d with mean 0, E[abcd] is the sum over the three pairings.


def _isserlis(cov, a, b, c, d):
    return cov(a, b) * cov(c, d) + cov(a, c) * cov(b, d) + cov(a, d) * cov(b, c)


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    if d_k < 1:
        raise ValueError(f"{d_k=} is below 1")
    if var_q < 0:
        raise ValueError(f"{var_q=} is negative")
    if var_k < 0:
        raise ValueError(f"{var_k=} is negative")
    # exact in rationals, rounded once
    d, mq, vq, mk, vk = (Fraction(float(x)) for x in (d_k, mean_q, var_q, mean_k, var_k))
    second = (vq + mq**2) * (vk + mk**2)
    mean = mq * mk
    return float(d * mean), float(d * (second - mean**2))


def sample_scores(rng, n, d_k, scale=1.0):
    if n < 0:
        raise ValueError(f"{n=} is negative")
    if d_k < 1:
        raise ValueError(f"{d_k=} is below 1")

    def draws():
        while True:
            q, k = rng.standard_normal((2, d_k))
            yield scale * (q @ k)

    return np.fromiter(draws(), dtype=np.float64, count=n)


def variance_z_score(scores, predicted_variance):
    scores = np.asarray(scores)
    if scores.ndim != 1:
        raise ValueError(f"scores has {scores.ndim} axes")
    if (n := len(scores)) < 2:
        raise ValueError(f"scores has {n} entries, two are needed")
    if predicted_variance < 0:
        raise ValueError(f"{predicted_variance=} is negative")
    x = scores.astype(np.float64)
    d2 = np.square(np.subtract(x, np.mean(x)))
    difference = d2.sum() / (n - 1) - predicted_variance
    # the standard error of m2 is the (biased) standard deviation of the squared deviations over sqrt(n)
    error = 0.0 if n == 2 else np.std(d2) / np.sqrt(n)
    if error <= 1e-14 * d2.mean():
        return np.copysign(np.inf, difference) if difference != 0 else 0.0
    return difference / error


def unit_rms_scale(d_k, correlation=0.0):
    if d_k < 1:
        raise ValueError(f"{d_k=} is below 1")
    if abs(correlation) > 1:
        raise ValueError(f"{correlation=} is outside -1 .. 1")

    def cov(a, b):
        (kind_a, i), (kind_b, j) = a, b
        return 0.0 if i != j else (1.0 if kind_a == kind_b else correlation)

    same = _isserlis(cov, ("q", 0), ("k", 0), ("q", 0), ("k", 0))
    other = _isserlis(cov, ("q", 0), ("k", 0), ("q", 1), ("k", 1))
    return (d_k * same + d_k * (d_k - 1) * other) ** -0.5
