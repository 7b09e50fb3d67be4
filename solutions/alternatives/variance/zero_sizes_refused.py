"""n = 0 is refused, sums of squares go through matrix products, results are NumPy scalars and Python ints."""

import numpy as np

ONE_OR_MORE = "{name} must be an integer of at least 1, not {value}"


def at_least_one(**sizes):
    for name, value in sizes.items():
        if value < 1:
            raise ValueError(ONE_OR_MORE.format(name=name, value=value))


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    at_least_one(d_k=d_k)
    if var_q < 0:
        raise ValueError("var_q must be >= 0")
    if var_k < 0:
        raise ValueError("var_k must be >= 0")
    if mean_q == 0 and mean_k == 0 and var_q == 1 and var_k == 1:
        return 0, d_k
    left = np.array([[var_q, mean_q**2]])
    right = np.array([[1.0, 1.0], [1.0, 0.0]])
    return np.multiply(d_k * mean_q, mean_k), (d_k * left @ right @ np.array([[var_k], [mean_k**2]]))[0, 0]


def sample_scores(rng, n, d_k, scale=1.0):
    at_least_one(n=n, d_k=d_k)
    numbers = rng.standard_normal(2 * n * d_k).reshape(n, 2, d_k)
    return np.matmul(numbers[:, :1], numbers[:, 1:].transpose(0, 2, 1)).ravel() * scale


def variance_z_score(scores, predicted_variance):
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 1 or scores.shape[0] < 2:
        raise ValueError("scores must be a vector of two or more numbers")
    if predicted_variance < 0:
        raise ValueError("predicted_variance must be >= 0")
    d = scores - scores.mean(keepdims=True)
    d2 = np.square(d)
    n = d.size
    s2 = d @ d / (n - 1)
    kurtosis_gap = d2 @ d2 / n - (d @ d / n) ** 2
    if not kurtosis_gap > 0:
        return np.float64(0.0) if s2 == predicted_variance else np.sign(s2 - predicted_variance) * np.float64(np.inf)
    return (s2 - predicted_variance) * np.sqrt(n) / np.sqrt(kurtosis_gap)


def unit_rms_scale(d_k, correlation=0.0):
    at_least_one(d_k=d_k)
    if np.abs(correlation) > 1.0:
        raise ValueError("correlation must lie in [-1, 1]")
    return np.float64(d_k * (1 + correlation**2) + d_k**2 * correlation**2) ** np.float64(-0.5)
