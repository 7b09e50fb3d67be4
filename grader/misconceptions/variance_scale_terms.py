"""What people get wrong in exercise 01 about the scale: more ways to lose a term, a square, a factor d_k or a refusal."""

import math

from attngrade.misconceptions import misconception
from attngrade.misconceptions.variance_parts import refuse_width

__all__: list[str] = []  # filled by `scale`: every misconception below


def scale(name, **options):
    """A misconception of unit_rms_scale, exported."""

    def mark(code):
        __all__.append(code.__name__)
        return misconception(name, of="unit_rms_scale", **options)(code)

    return mark


def refuse_scale(d_k, correlation):
    refuse_width(d_k)
    if abs(correlation) > 1:
        raise ValueError(f"correlation must lie in -1 .. 1, got {correlation}")


def square(d_k, correlation):
    """The right mean square of q . k."""
    return d_k * (1 + correlation**2) + (correlation * d_k) ** 2


# ---------------------------------------------------------------- unit_rms_scale: terms and powers


@scale("scale-mean-of-one-term", question="mup-scale")
def mean_of_a_term(d_k, correlation=0.0):
    """Your squared mean is r**2, that of one term; the mean of the sum is r d_k.

    Example: d_k=2, correlation=-0.5: you give 0.603, right is 0.535.
    Why: the means of the terms add up, and their sum is squared.
    Look at: the factor d_k in the mean.
    """
    refuse_scale(d_k, correlation)
    return (d_k * (1 + correlation**2) + correlation**2) ** -0.5


@scale("scale-mean-not-squared")
def mean_not_squared(d_k, correlation=0.0):
    """You add the mean itself to the variance; E[s**2] = Var[s] + E[s]**2.

    Example: d_k=2, correlation=-0.5: you give 0.816, right is 0.535.
    Why: a mean has the unit of the score, a variance that of its square.
    Look at: the term r d_k: it is squared as a whole.
    """
    refuse_scale(d_k, correlation)
    return abs(d_k * (1 + correlation**2) + correlation * d_k) ** -0.5


@scale("scale-variance-with-r-unsquared")
def variance_unsquared(d_k, correlation=0.0):
    """The variance of a term is 1 + r**2 and you have 1 + |r|.

    Example: d_k=1, correlation=0.5: you give 0.756, right is 0.816.
    Why: E[(q_i k_i)**2] = 1 + 2 r**2 for jointly normal numbers; the squared mean r**2 goes.
    Look at: the power of the correlation in the variance.
    """
    refuse_scale(d_k, correlation)
    return (d_k * (1 + abs(correlation)) + (correlation * d_k) ** 2) ** -0.5


@scale("scale-root-and-mean-added")
def root_and_mean(d_k, correlation=0.0):
    """You add the standard deviation and the mean; their squares add, and then the root is taken.

    Example: d_k=1, correlation=1: you give 0.414, right is 0.577.
    Why: E[s**2] = Var[s] + E[s]**2.
    Look at: where the root begins and ends.
    """
    refuse_scale(d_k, correlation)
    return 1 / (math.sqrt(d_k * (1 + correlation**2)) + abs(correlation) * d_k)


@scale("scale-exponent-interpolated", question="mup-scale")
def exponent_interpolated(d_k, correlation=0.0):
    """You move the exponent from -1/2 to -1 with the correlation; the scale is one over the root of a sum, not a power of d_k.

    Example: d_k=2, correlation=-0.5: you give 0.595, right is 0.535.
    Why: (1 + r**2) d_k + (r d_k)**2: for any r but 0 the second term wins in the end.
    Look at: E[s**2] as a variance and a squared mean.
    """
    refuse_scale(d_k, correlation)
    return float(d_k) ** -(0.5 + 0.5 * abs(correlation))


@scale("scale-roots-added")
def scales_mixed(d_k, correlation=0.0):
    """You mix the two scales, (1 - |r|) d_k ** -0.5 + |r| / d_k; mean squares add, not scales.

    Example: d_k=2, correlation=-0.5: you give 0.604, right is 0.535.
    Why: c is one over the root of the whole mean square, (1 + r**2) d_k + (r d_k)**2.
    Look at: E[s**2] as a variance and a squared mean.
    """
    refuse_scale(d_k, correlation)
    return (1 - abs(correlation)) * d_k**-0.5 + abs(correlation) / d_k


@scale("scale-pairs-counted-once")
def pairs_once(d_k, correlation=0.0):
    """You count the products of different terms once for each pair; the square of a sum has each of them twice.

    Example: d_k=2, correlation=-0.5: you give 0.555, right is 0.535.
    Why: E[s**2] = d_k (1 + 2 r**2) + d_k (d_k - 1) r**2: every i meets every other j, in both orders.
    Look at: d_k (d_k - 1) / 2.
    """
    refuse_scale(d_k, correlation)
    return (d_k * (1 + 2 * correlation**2) + d_k * (d_k - 1) / 2 * correlation**2) ** -0.5


@scale("scale-sum-as-one-term", question="mup-scale")
def as_one_term(d_k, correlation=0.0):
    """Your mean square grows with d_k**2 as a whole, as if all terms were the same number; without correlation it grows with d_k.

    Example: d_k=64: you give 1/64, right is 1/8.
    Why: only what the terms have in common, their mean r, adds up in step.
    Look at: which part of 1 + 2 r**2 comes with d_k**2.
    """
    refuse_scale(d_k, correlation)
    return (d_k**2 * (1 + 2 * correlation**2)) ** -0.5


# ---------------------------------------------------------------- unit_rms_scale: refusals


@scale("scale-width-of-one-refused")
def scale_of_one(d_k, correlation=0.0):
    """You refuse d_k = 1; a head of one component is possible, only less than one isn't.

    Example: `unit_rms_scale(1)` is 1.
    Why: the contract refuses a d_k below 1.
    Look at: `< 1` or `<= 1`.
    """
    refuse_width(d_k - 1)
    refuse_scale(d_k, correlation)
    return square(d_k, correlation) ** -0.5


@scale("scale-zero-width-accepted")
def scale_of_zero(d_k, correlation=0.0):
    """You refuse a negative d_k but not d_k = 0, where your division fails.

    Example: `unit_rms_scale(0)` raises ZeroDivisionError where a ValueError that names d_k is asked.
    Why: sizes are at least 1; the comparison is `d_k < 1`, not `d_k < 0`.
    Look at: the comparison.
    """
    refuse_scale(d_k or 1, correlation)
    return square(float(d_k), correlation) ** -0.5


@scale("scale-correlation-clipped")
def correlation_clipped(d_k, correlation=0.0):
    """You clip impossible correlations to -1 .. 1; a ValueError that names the correlation is asked.

    Example: `unit_rms_scale(4, 1.5)` gives what a correlation of 1 gives.
    Why: a silent wrong number travels on.
    Look at: `min`, `max` or `np.clip`.
    """
    refuse_width(d_k)
    return square(d_k, max(-1.0, min(1.0, correlation))) ** -0.5


@scale("scale-correlation-refused-below-alone")
def below_alone(d_k, correlation=0.0):
    """You refuse a correlation below -1 but accept one above 1.

    Example: `unit_rms_scale(4, 1.5)` gives a number where a ValueError is asked.
    Why: the bound is on the size of the correlation.
    Look at: `abs(correlation) > 1`.
    """
    refuse_scale(d_k, min(correlation, 0.0))
    return square(d_k, correlation) ** -0.5


@scale("scale-asserted")
def scale_asserted(d_k, correlation=0.0):
    """You use assert for impossible arguments; a ValueError is asked.

    Example: `unit_rms_scale(0)` raises AssertionError.
    Why: assertions are for your own mistakes, and `python -O` drops them.
    Look at: `if abs(correlation) > 1: raise ValueError("correlation ...")`, and the same for d_k.
    """
    assert abs(correlation) <= 1, "correlation"
    assert d_k >= 1, "d_k"
    return square(d_k, correlation) ** -0.5
