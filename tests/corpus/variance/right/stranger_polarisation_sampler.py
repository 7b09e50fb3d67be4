import numpy as np


def _refuse(**rules):
    for name, ok in rules.items():
        if not ok:
            raise ValueError(f"the value of {name} is impossible")


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    _refuse(d_k=d_k >= 1, var_q=var_q >= 0, var_k=var_k >= 0)
    row = np.array([var_q, mean_q * mean_q])
    col = np.array([var_k, mean_k * mean_k])
    table = np.outer(row, col)
    table[1, 1] = 0.0  # the squared mean of the product is no variance
    return d_k * mean_q * mean_k, d_k * table.sum()


def sample_scores(rng, n, d_k, scale=1.0):
    """q . k = (|q + k|^2 - |q - k|^2) / 4, and q + k, q - k are independent: a difference of two chi-squares."""
    _refuse(n=n >= 0, d_k=d_k >= 1)
    return scale * 0.5 * (rng.chisquare(d_k, size=n) - rng.chisquare(d_k, size=n))


def variance_z_score(scores, predicted_variance):
    x = np.array(scores, dtype=np.float64).reshape(-1)
    _refuse(scores=x.size >= 2, predicted_variance=predicted_variance >= 0)
    n = x.size
    x -= x[0]
    x -= x.mean()
    np.square(x, out=x)
    variance = x.sum() / (n - 1)
    error = x.std() / np.sqrt(n)
    gap = variance - predicted_variance
    if error > 1e-13 * variance:
        return gap / error
    if abs(gap) <= 1e-13 * variance:
        return 0.0
    return np.sign(gap) * np.inf


def unit_rms_scale(d_k, correlation=0.0):
    _refuse(d_k=d_k >= 1, correlation=-1.0 <= correlation <= 1.0)
    return 1.0 / np.sqrt(d_k + (d_k + d_k * d_k) * correlation**2)
