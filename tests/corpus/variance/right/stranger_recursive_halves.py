import numpy as np


def _need(truth, name):
    if not truth:
        raise ValueError(f"{name} is out of range")


def _doubling(one, count):
    """(count * mean, count * variance) by doubling: what two independent sums add up to."""
    if count == 1:
        return one
    half = _doubling(one, count // 2)
    both = (2 * half[0], 2 * half[1])
    return (both[0] + one[0], both[1] + one[1]) if count % 2 else both


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    _need(d_k >= 1, "d_k")
    _need(var_q >= 0, "var_q")
    _need(var_k >= 0, "var_k")
    return _doubling((mean_q * mean_k, var_q * var_k + var_q * mean_k * mean_k + var_k * mean_q * mean_q), int(d_k))


def sample_scores(rng, n, d_k, scale=1.0):
    _need(n >= 0, "n")
    _need(d_k >= 1, "d_k")
    total = np.zeros(n)
    for _ in range(d_k):
        total += rng.normal(size=n) * rng.normal(size=n)
    return total * scale


def variance_z_score(scores, predicted_variance):
    scores = np.asarray(scores, dtype=np.float64)
    _need(scores.size >= 2, "scores")
    _need(predicted_variance >= 0, "predicted_variance")
    flat = scores.reshape(-1)
    shifted = flat - flat[0]
    n = shifted.size
    deviation = shifted - shifted.sum() / n
    power2 = deviation**2
    excess = power2 - power2.mean()
    standard_error = np.linalg.norm(excess) / n
    variance = np.var(shifted, ddof=1)
    difference = variance - predicted_variance
    if standard_error <= 1e-13 * variance or np.ptp(flat) == 0:
        same = abs(difference) <= 1e-13 * variance
        return 0.0 if same else (np.inf if difference > 0 else -np.inf)
    return difference / standard_error


def unit_rms_scale(d_k, correlation=0.0):
    _need(d_k >= 1, "d_k")
    _need(abs(correlation) <= 1, "correlation")
    # E[s^2] = d E[q^2 k^2] + d (d - 1) E[q k]^2
    return 1 / np.sqrt(d_k * (1 + 2 * correlation**2) + d_k * (d_k - 1) * correlation**2)
