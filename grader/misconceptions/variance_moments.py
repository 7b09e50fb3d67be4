"""What people get wrong in exercise 01 about moments and scale: more ways to lose a term, a square, a factor d_k or a refusal."""

import math

from attngrade.misconceptions import misconception

__all__: list[str] = []  # filled by `moments` and `scale`: every misconception below


def moments(name, **options):
    """A misconception of score_moments, exported."""

    def mark(code):
        __all__.append(code.__name__)
        return misconception(name, of="score_moments", **options)(code)

    return mark


def scale(name, **options):
    """A misconception of unit_rms_scale, exported."""

    def mark(code):
        __all__.append(code.__name__)
        return misconception(name, of="unit_rms_scale", **options)(code)

    return mark


def refuse_width(d_k):
    if d_k < 1:
        raise ValueError(f"d_k must be at least 1, got {d_k}")


def refuse(d_k, var_q, var_k):
    refuse_width(d_k)
    if var_q < 0 or var_k < 0:
        raise ValueError(f"var_q and var_k must not be negative, got {var_q} and {var_k}")


def refuse_scale(d_k, correlation):
    refuse_width(d_k)
    if abs(correlation) > 1:
        raise ValueError(f"correlation must lie in -1 .. 1, got {correlation}")


def term(mean_q, var_q, mean_k, var_k):
    return var_q * var_k + var_q * mean_k**2 + var_k * mean_q**2


def square(d_k, correlation):
    """The right mean square of q . k."""
    return d_k * (1 + correlation**2) + (correlation * d_k) ** 2


# ---------------------------------------------------------------- score_moments: terms and factors


@moments("moments-squared-mean-of-the-sum-taken-away", question="score-variance")
def squared_mean_of_sum(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """From d_k second moments of one term you take the squared mean of the whole sum away; the second moment of a sum also has the products of different terms.

    Example: d_k=4, mean_q=0.5, mean_k=-3, unit variances: you give 14, right is 41.
    Why: E[s**2] is d_k E[x**2] + d_k (d_k - 1) E[x]**2, so what is left is d_k times the variance of one term, E[x**2] - E[x]**2.
    Look at: the squared mean: of one term, taken d_k times, or of the sum, taken from the second moment of the sum.
    """
    refuse(d_k, var_q, var_k)
    mean = d_k * mean_q * mean_k
    return mean, d_k * (var_q + mean_q**2) * (var_k + mean_k**2) - mean**2


@moments("moments-sum-of-q-scatters-by-d-k-squared", question="score-variance")
def sum_of_q_squared(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You give sum(q) the variance d_k**2 var_q; d_k independent numbers have a sum with d_k times the variance of one.

    Example: d_k=4, mean_k=3, unit variances: you give 148, right is 40.
    Why: the factor d_k**2 belongs to one number taken d_k times; independent numbers cancel in part.
    Look at: the term with mean_k**2, which has one d_k like the others.
    """
    refuse(d_k, var_q, var_k)
    return d_k * mean_q * mean_k, d_k * var_k * (var_q + mean_q**2) + d_k**2 * mean_k**2 * var_q


@moments("moments-sum-of-k-scatters-by-d-k-squared", question="score-variance")
def sum_of_k_squared(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You give sum(k) the variance d_k**2 var_k; d_k independent numbers have a sum with d_k times the variance of one.

    Example: d_k=4, mean_q=3, unit variances: you give 148, right is 40.
    Why: the factor d_k**2 belongs to one number taken d_k times; independent numbers cancel in part.
    Look at: the term with mean_q**2, which has one d_k like the others.
    """
    refuse(d_k, var_q, var_k)
    return d_k * mean_q * mean_k, d_k * var_q * (var_k + mean_k**2) + d_k**2 * mean_q**2 * var_k


@moments("moments-squared-mean-added", question="score-variance")
def squared_mean_added(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """Your variance of a term is var_q * var_k plus the squared mean of the product; a mean lets the other side's variance through, it isn't a variance.

    Example: d_k=1, mean_q=2, mean_k=3, unit variances: you give 37, right is 14.
    Why: (var_q + mean_q**2) (var_k + mean_k**2) - mean_q**2 mean_k**2 leaves var_q mean_k**2 + var_k mean_q**2.
    Look at: the product, multiplied out.
    """
    refuse(d_k, var_q, var_k)
    return d_k * mean_q * mean_k, d_k * (var_q * var_k + (mean_q * mean_k) ** 2)


@moments("moments-product-of-variances-missing", question="score-variance")
def product_missing(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """Your variance has the two terms with a mean but not var_q * var_k, which is there without any mean.

    Example: d_k=4 with zero means: you give 0, right is 4.
    Why: with both means 0 the score still scatters.
    Look at: (var_q + mean_q**2) (var_k + mean_k**2) - mean_q**2 mean_k**2, multiplied out: three terms are left.
    """
    refuse(d_k, var_q, var_k)
    return d_k * mean_q * mean_k, d_k * (var_q * mean_k**2 + var_k * mean_q**2)


@moments("moments-mean-terms-doubled", question="score-variance")
def mean_terms_doubled(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """Your terms with a mean come with a factor 2.

    Example: d_k=1, mean_k=3, unit variances: you give 19, right is 10.
    Why: the middle terms of (a + b)(c + d) come once each; a 2 belongs to the square of a sum.
    Look at: E[q_i**2] E[k_i**2], multiplied out.
    """
    refuse(d_k, var_q, var_k)
    return d_k * mean_q * mean_k, d_k * (var_q * var_k + 2 * (var_q * mean_k**2 + var_k * mean_q**2))


@moments("moments-mean-terms-subtracted", question="score-variance")
def means_subtracted(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You take the terms with a mean away; they are added: a mean on one side makes the scores scatter more.

    Example: d_k=1, mean_k=3, unit variances: you give -8, right is 10.
    Why: q_i k_i = (3 + noise) q_i, and the 3 makes it three times as large.
    Look at: the signs; a variance is never negative.
    """
    refuse(d_k, var_q, var_k)
    return d_k * mean_q * mean_k, d_k * (var_q * var_k - var_q * mean_k**2 - var_k * mean_q**2)


@moments("moments-root-of-d-k", question="score-variance")
def root_of_width(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """Your variance grows like sqrt(d_k); that is how the standard deviation grows.

    Example: d_k=64: you give 8, right is 64.
    Why: variances of independent terms add, so d_k of them make d_k times one.
    Look at: the power of d_k.
    """
    refuse(d_k, var_q, var_k)
    return d_k * mean_q * mean_k, math.sqrt(d_k) * term(mean_q, var_q, mean_k, var_k)


@moments("moments-mean-with-d-k-twice")
def mean_width_twice(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """Your mean is (d_k mean_q) (d_k mean_k), the product of two sums; q . k is a sum of d_k products.

    Example: d_k=4, mean_q=0.5, mean_k=-3: you give -24, right is -6.
    Why: q_i meets k_i alone.
    Look at: the factor d_k in the mean.
    """
    refuse(d_k, var_q, var_k)
    return d_k**2 * mean_q * mean_k, d_k * term(mean_q, var_q, mean_k, var_k)


@moments("moments-mean-without-its-sign")
def mean_unsigned(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """Your mean has lost its sign.

    Example: d_k=4, mean_q=0.5, mean_k=-3: you give 6, right is -6.
    Why: q and k that point away from each other have negative scores.
    Look at: `abs`, or a root of a square.
    """
    refuse(d_k, var_q, var_k)
    return abs(d_k * mean_q * mean_k), d_k * term(mean_q, var_q, mean_k, var_k)


@moments("moments-variances-zero-by-default")
def variances_zero(d_k, mean_q=0.0, var_q=0.0, mean_k=0.0, var_k=0.0):
    """Your default variances are 0; components are standard unless the caller says otherwise, so they are 1.

    Example: `score_moments(7)` gives (0, 0), right is (0, 7).
    Why: means are 0 by default, variances 1.
    Look at: the def line.
    """
    refuse(d_k, var_q, var_k)
    return d_k * mean_q * mean_k, d_k * term(mean_q, var_q, mean_k, var_k)


@moments("moments-as-a-dictionary")
def as_dictionary(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You return a dictionary; several results come as a tuple.

    Example: `score_moments(4)` gives {"mean": 0.0, "variance": 4.0} where (0.0, 4.0) is asked.
    Why: a caller unpacks `mean, variance = score_moments(...)`, which would give him the keys.
    Look at: the return line.
    """
    refuse(d_k, var_q, var_k)
    return {"mean": d_k * mean_q * mean_k, "variance": d_k * term(mean_q, var_q, mean_k, var_k)}


# ---------------------------------------------------------------- score_moments: refusals


@moments("moments-width-of-one-refused")
def width_of_one(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You refuse d_k = 1; a head of one component is possible, only less than one isn't.

    Example: `score_moments(1)` is (0, 1).
    Why: the contract refuses a d_k below 1.
    Look at: `< 1` or `<= 1`.
    """
    refuse_width(d_k - 1)
    refuse(d_k, var_q, var_k)
    return d_k * mean_q * mean_k, d_k * term(mean_q, var_q, mean_k, var_k)


@moments("moments-var-q-unchecked")
def var_q_unchecked(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You refuse a negative var_k but not a negative var_q.

    Example: `score_moments(4, var_q=-1.0)` gives a variance of -4.
    Why: both are variances.
    Look at: the check of var_q.
    """
    refuse(d_k, 0.0, var_k)
    return d_k * mean_q * mean_k, d_k * term(mean_q, var_q, mean_k, var_k)


@moments("moments-variances-refused-only-together")
def refused_together(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You refuse negative variances only if both are negative; one is enough.

    Example: `score_moments(4, var_q=-1.0)` gives a variance of -4.
    Why: each of them is a mistake of its own.
    Look at: `and` where `or` belongs.
    """
    refuse(d_k, max(var_q, var_k), max(var_q, var_k))
    return d_k * mean_q * mean_k, d_k * term(mean_q, var_q, mean_k, var_k)


@moments("moments-sign-of-the-product-checked")
def product_checked(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You look at the sign of a product or of the result; two negative variances give a positive one.

    Example: `score_moments(2, 1.0, -2.0, 1.0, -3.0)` has two impossible arguments, and var_q * var_k = 6.
    Why: each argument is to be possible by itself.
    Look at: `if var_q < 0 or var_k < 0`.
    """
    refuse(d_k, var_q * var_k, 0.0)
    return d_k * mean_q * mean_k, d_k * term(mean_q, var_q, mean_k, var_k)


@moments("moments-negative-variance-taken-for-zero")
def variance_clamped(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You take a negative variance for 0; it is a mistake of the caller's, and a ValueError that names it is asked.

    Example: `score_moments(4, var_q=-1.0)` gives a variance of 0.
    Why: a silent wrong number travels on.
    Look at: `max(var_q, 0)`.
    """
    refuse_width(d_k)
    return d_k * mean_q * mean_k, d_k * term(mean_q, max(var_q, 0.0), mean_k, max(var_k, 0.0))


@moments("moments-negative-means-refused")
def means_refused(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You refuse negative means; a mean may have any sign, only a variance is never negative.

    Example: `score_moments(4, mean_q=0.5, mean_k=-3.0)` is (-6, 41).
    Why: components scatter around any number.
    Look at: the checks at the top.
    """
    refuse(d_k, var_q, var_k)
    if mean_q < 0 or mean_k < 0:
        raise ValueError("mean_q and mean_k must not be negative")
    return d_k * mean_q * mean_k, d_k * term(mean_q, var_q, mean_k, var_k)


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
