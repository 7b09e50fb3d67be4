# mistake: score_moments takes a shortcut as soon as one mean is zero, and loses the other mean's term
# names: moments-any-zero-mean-taken-for-none
# One covariance matrix per pair (q_i, k_i); Isserlis does the rest. A big table of pairs for the sample.
import numpy as np
from numpy.linalg import cholesky  # noqa: F401


class Pair:
    def __init__(self, mean, covariance):
        self.mean, self.covariance = np.asarray(mean, float), np.asarray(covariance, float)

    def product_mean(self):
        return self.covariance[0, 1] + self.mean[0] * self.mean[1]

    def product_variance(self):
        """Var(q k) for a normal pair: S00 S11 + S01^2 + m' S* m, with S* the adjugate-like swap."""
        (a, c), (_, b) = self.covariance
        x, y = self.mean
        return a * b + c * c + a * y * y + b * x * x + 2 * c * x * y


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """Two moments depend on two moments only, so the normal pair speaks for all."""
    if d_k < 1:
        raise ValueError(f"no d_k of {d_k}")
    if min(var_q, var_k) < 0:
        raise ValueError("no negative var_q or var_k")
    if mean_q * mean_k == 0:
        return 0.0, float(d_k * var_q * var_k)
    pair = Pair([mean_q, mean_k], [[var_q, 0], [0, var_k]])
    return d_k * pair.product_mean(), d_k * pair.product_variance()


def sample_scores(rng, n, d_k, scale=1.0):
    if n < 0 or d_k < 1:
        raise ValueError(f"no n of {n} or no d_k of {d_k}")
    table = rng.normal(0.0, 1.0, (int(n), 2, int(d_k)))
    return scale * np.matmul(table[:, :1], table[:, 1][..., None])[:, 0, 0]


def variance_z_score(scores, predicted_variance):
    scores = np.asarray(scores, dtype=np.float64)
    n = np.size(scores)
    if n <= 1:
        raise ValueError("no variance of fewer than two scores")
    if predicted_variance < 0:
        raise ValueError("no negative predicted_variance")
    centred = scores - np.mean(scores)
    squares = centred * centred
    standard_error = np.std(squares) / np.sqrt(n)   # std of squares is sqrt(m4 - m2^2)
    difference = np.var(scores, ddof=1) - predicted_variance
    if standard_error > 0:
        return float(difference / standard_error)
    return float({1: np.inf, -1: -np.inf, 0: 0.0}[int(np.sign(difference))])


def unit_rms_scale(d_k, correlation=0.0):
    if d_k < 1:
        raise ValueError(f"no d_k of {d_k}")
    if correlation < -1 or correlation > 1:
        raise ValueError(f"no correlation of {correlation}")
    pair = Pair([0, 0], [[1, correlation], [correlation, 1]])
    second = d_k * pair.product_variance() + (d_k * pair.product_mean()) ** 2
    return second**-0.5
