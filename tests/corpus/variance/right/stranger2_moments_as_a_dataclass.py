import dataclasses
import math
import typing

import numpy as np


@dataclasses.dataclass(frozen=True)
class Moments:
    """Mean and variance of a random number, with the rules for sums and products of independent ones."""

    mean: float
    variance: float

    def __add__(self, other):
        return Moments(self.mean + other.mean, self.variance + other.variance)

    def __mul__(self, other):
        return Moments(
            self.mean * other.mean,
            self.variance * other.variance + self.variance * other.mean**2 + other.variance * self.mean**2,
        )

    def times(self, n):
        """The sum of n independent copies."""
        return Moments(n * self.mean, n * self.variance)


class Checked:
    def __init__(self, **arguments: typing.Any):
        for name, value in arguments.items():
            match name:
                case "d_k" if value < 1:
                    raise ValueError(f"d_k = {value}: a head has at least one component")
                case "n" if value < 0:
                    raise ValueError(f"n = {value}: no negative number of draws")
                case "var_q" | "var_k" | "predicted_variance" if value < 0:
                    raise ValueError(f"{name} = {value}: a variance can't be negative")
                case "correlation" if abs(value) > 1:
                    raise ValueError(f"correlation = {value}: beyond one")
                case "scores" if np.ndim(value) != 1 or np.size(value) < 2:
                    raise ValueError("scores: two or more in one row")


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    Checked(d_k=d_k, var_q=var_q, var_k=var_k)
    product = Moments(mean_q, var_q) * Moments(mean_k, var_k)
    return dataclasses.astuple(product.times(d_k))


def sample_scores(rng, n, d_k, scale=1.0):
    Checked(n=n, d_k=d_k)
    # given q, the score is normal with standard deviation |q|
    length = np.sqrt(rng.chisquare(d_k, n))
    return length * rng.standard_normal(n) * scale


def variance_z_score(scores, predicted_variance):
    Checked(scores=scores, predicted_variance=predicted_variance)
    values = np.asarray(scores, dtype=float).tolist()
    n = len(values)
    centre = math.fsum(values) / n
    squares = [(v - centre) ** 2 for v in values]
    m2 = math.fsum(squares) / n
    error2 = math.fsum((s - m2) ** 2 for s in squares) / n**2
    above = math.fsum(squares) / (n - 1) - predicted_variance
    degenerate = n == 2 or error2 * n <= 1e-28 * m2 * m2
    match (degenerate, above):
        case (True, 0.0):
            return 0.0
        case (True, _):
            return math.inf if above > 0 else -math.inf
        case _:
            return above / math.sqrt(error2)


def unit_rms_scale(d_k, correlation=0.0):
    Checked(d_k=d_k, correlation=correlation)
    total = Moments(correlation, 1 + correlation**2).times(d_k)
    return (total.variance + total.mean**2) ** -0.5
