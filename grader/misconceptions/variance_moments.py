"""What people get wrong in exercise 01 about moments: more ways to lose a term, a square, a factor d_k or a refusal."""

import math

from attngrade.misconceptions import misconception
from attngrade.misconceptions.variance_parts import refuse_width

__all__: list[str] = []  # filled by `moments`: every misconception below


def moments(name, **options):
    """A misconception of score_moments, exported."""

    def mark(code):
        __all__.append(code.__name__)
        return misconception(name, of="score_moments", **options)(code)

    return mark


def refuse(d_k, var_q, var_k):
    refuse_width(d_k)
    if var_q < 0 or var_k < 0:
        raise ValueError(f"var_q and var_k must not be negative, got {var_q} and {var_k}")


def term(mean_q, var_q, mean_k, var_k):
    return var_q * var_k + var_q * mean_k**2 + var_k * mean_q**2


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


@moments("moments-any-zero-mean-taken-for-none", question="score-variance")
def any_zero_mean(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """As soon as one of the means is 0 you return d_k * var_q * var_k; the other mean still lets a variance through.

    Example: d_k=4, mean_q=0, mean_k=3, unit variances: you give 4, right is 40.
    Why: one zero mean makes the mean of the score 0 and takes one term out of its variance, not two.
    Look at: a shortcut that asks for mean_q * mean_k == 0, or for one mean alone; the formula needs no special case.
    """
    refuse(d_k, var_q, var_k)
    used = term(mean_q, var_q, mean_k, var_k) if mean_q * mean_k else var_q * var_k
    return d_k * mean_q * mean_k, d_k * used


@moments("moments-zero-mean-of-q-taken-for-none", question="score-variance")
def zero_mean_q(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """As soon as mean_q is 0 you return d_k * var_q * var_k; mean_k still lets the variance of q through.

    Example: d_k=4, mean_q=0, mean_k=3, unit variances: you give 4, right is 40.
    Why: mean_q = 0 takes the term var_k * mean_q**2 away; var_q * mean_k**2 stays.
    Look at: the special case for mean_q == 0; the formula needs none.
    """
    refuse(d_k, var_q, var_k)
    used = term(mean_q, var_q, mean_k, var_k) if mean_q else var_q * var_k
    return d_k * mean_q * mean_k, d_k * used


@moments("moments-zero-mean-of-k-taken-for-none", question="score-variance")
def zero_mean_k(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """As soon as mean_k is 0 you return d_k * var_q * var_k; mean_q still lets the variance of k through.

    Example: d_k=4, mean_q=3, mean_k=0, unit variances: you give 4, right is 40.
    Why: mean_k = 0 takes the term var_q * mean_k**2 away; var_k * mean_q**2 stays.
    Look at: the special case for mean_k == 0; the formula needs none.
    """
    refuse(d_k, var_q, var_k)
    used = term(mean_q, var_q, mean_k, var_k) if mean_k else var_q * var_k
    return d_k * mean_q * mean_k, d_k * used


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
