"""Box and Muller instead of the generator's own normal numbers, and exact fractions for the moments."""

from fractions import Fraction

import numpy as np


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    if d_k < 1:
        raise ValueError(f"d_k is {d_k}")
    if var_q < 0:
        raise ValueError(f"var_q is {var_q}")
    if var_k < 0:
        raise ValueError(f"var_k is {var_k}")
    mq, vq, mk, vk = map(Fraction, (mean_q, var_q, mean_k, var_k))
    return float(d_k * mq * mk), float(d_k * (vq * vk + vq * mk**2 + vk * mq**2))


def sample_scores(rng, n, d_k, scale=1.0):
    if n < 0:
        raise ValueError(f"n is {n}")
    if d_k < 1:
        raise ValueError(f"d_k is {d_k}")
    radius = np.sqrt(-2 * np.log1p(-rng.random((n, d_k))))
    angle = 2 * np.pi * rng.random((n, d_k))
    q, k = radius * np.cos(angle), radius * np.sin(angle)
    return scale * (q[:, None, :] @ k[:, :, None])[:, 0, 0]


def variance_z_score(scores, predicted_variance):
    numbers = [Fraction(float(s)) for s in scores]
    if len(numbers) < 2:
        raise ValueError(f"scores has {len(numbers)} entries")
    if predicted_variance < 0:
        raise ValueError(f"predicted_variance is {predicted_variance}")
    n = len(numbers)
    mean = sum(numbers) / n
    m2 = sum((x - mean) ** 2 for x in numbers) / n
    m4 = sum((x - mean) ** 4 for x in numbers) / n
    difference = m2 * n / (n - 1) - Fraction(float(predicted_variance))
    if m4 == m2**2:
        return 0.0 if difference == 0 else float("inf") * (1 if difference > 0 else -1)
    return float(difference) / float((m4 - m2**2) / n) ** 0.5


def unit_rms_scale(d_k, correlation=0.0):
    if d_k < 1:
        raise ValueError(f"d_k is {d_k}")
    if abs(correlation) > 1:
        raise ValueError(f"correlation is {correlation}")
    rho = Fraction(correlation)
    return float(1 / (d_k * (1 + rho**2) + (rho * d_k) ** 2)) ** 0.5
