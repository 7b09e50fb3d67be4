"""What people get wrong in exercise 01: the moments here; the scale, the draws and the z-score in the files variance_*."""

import math

import numpy as np
from attngrade.misconceptions import misconception
from attngrade.misconceptions.variance_draws import *  # noqa: F403
from attngrade.misconceptions.variance_draws_forms import *  # noqa: F403
from attngrade.misconceptions.variance_errors import *  # noqa: F403
from attngrade.misconceptions.variance_laws import *  # noqa: F403
from attngrade.misconceptions.variance_moments import *  # noqa: F403
from attngrade.misconceptions.variance_parts import refuse_width
from attngrade.misconceptions.variance_scale import *  # noqa: F403
from attngrade.misconceptions.variance_scale_terms import *  # noqa: F403
from attngrade.misconceptions.variance_z import *  # noqa: F403
from attngrade.misconceptions.variance_z_ends import *  # noqa: F403


def refuse(d_k, var_q, var_k):
    refuse_width(d_k)
    if var_q < 0:
        raise ValueError(f"var_q must not be negative, got {var_q}")
    if var_k < 0:
        raise ValueError(f"var_k must not be negative, got {var_k}")


def right(d_k, mean_q, var_q, mean_k, var_k):
    return d_k * mean_q * mean_k, d_k * (var_q * var_k + var_q * mean_k**2 + var_k * mean_q**2)


# ---------------------------------------------------------------- score_moments


@misconception("moments-without-means", of="score_moments", question="score-variance")
def without_means(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """Your variance is d_k * var_q * var_k whatever the means are: two terms are missing.

    Example: d_k=4, mean_k=3, unit variances: you give 4, right is 40.
    Why: Var[q_i k_i] = var_q var_k + var_q mean_k**2 + var_k mean_q**2. A key of mean 3 passes q on three times as large.
    Look at: E[q_i**2] E[k_i**2] - (E[q_i] E[k_i])**2, multiplied out.
    """
    refuse(d_k, var_q, var_k)
    return d_k * mean_q * mean_k, d_k * var_q * var_k


@misconception("moments-one-mean-term-missing-k", of="score_moments", question="score-variance")
def only_the_mean_of_q(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """Your variance has the term var_k * mean_q**2 but not its mirror image var_q * mean_k**2.

    Example: d_k=4, mean_k=3, unit variances: you give 4, right is 40.
    Why: q and k play the same part in q . k, so the formula stays the same when they are exchanged.
    Look at: what mean_k does to the variance when mean_q is 0.
    """
    refuse(d_k, var_q, var_k)
    return d_k * mean_q * mean_k, d_k * (var_q * var_k + var_k * mean_q**2)


@misconception("moments-one-mean-term-missing-q", of="score_moments", question="score-variance")
def only_the_mean_of_k(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """Your variance has the term var_q * mean_k**2 but not its mirror image var_k * mean_q**2.

    Example: d_k=4, mean_q=3, unit variances: you give 4, right is 40.
    Why: q and k play the same part in q . k, so the formula stays the same when they are exchanged.
    Look at: what mean_q does to the variance when mean_k is 0.
    """
    refuse(d_k, var_q, var_k)
    return d_k * mean_q * mean_k, d_k * (var_q * var_k + var_q * mean_k**2)


@misconception("moments-means-beside-their-own-variance", of="score_moments", question="score-variance")
def means_swapped(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You multiply each squared mean by the variance of its own side; it belongs to the variance of the other side.

    Example: d_k=1, mean_q=3, var_q=0.5, var_k=2: you give 5.5, right is 19.
    Why: with q_i = 3 + noise, q_i k_i = 3 k_i + noise k_i: the mean of q multiplies k, hence var_k.
    Look at: which factor stands beside mean_q**2.
    """
    refuse(d_k, var_q, var_k)
    return d_k * mean_q * mean_k, d_k * (var_q * var_k + var_q * mean_q**2 + var_k * mean_k**2)


@misconception("moments-of-a-second-moment", of="score_moments", question="score-variance")
def term_second_moment(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You return the second moment of each term, E[q_i**2] E[k_i**2], where its variance is asked: the squared mean still has to go.

    Example: d_k=1, mean_q=2, mean_k=3, unit variances: you give 50, right is 14.
    Why: Var[X] = E[X**2] - E[X]**2, and E[q_i k_i] is mean_q * mean_k.
    Look at: the term mean_q**2 * mean_k**2, which must cancel.
    """
    refuse(d_k, var_q, var_k)
    return d_k * mean_q * mean_k, d_k * (var_q + mean_q**2) * (var_k + mean_k**2)


@misconception("moments-second-moment-of-the-sum", of="score_moments", question="score-variance")
def sum_second_moment(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You return E[(q . k)**2] where the variance of q . k is asked: the squared mean has to go.

    Example: d_k=1, mean_q=2, mean_k=3, unit variances: you give 50, right is 14.
    Why: Var[s] = E[s**2] - E[s]**2.
    Look at: whether your variance grows with d_k**2 when both means are non-zero.
    """
    refuse(d_k, var_q, var_k)
    mean, variance = right(d_k, mean_q, var_q, mean_k, var_k)
    return mean, variance + mean**2


@misconception("moments-standard-deviation", of="score_moments", question="score-variance")
def standard_deviation(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You return the standard deviation where the variance is asked.

    Example: d_k=64: you give 8, right is 64.
    Why: sqrt(d_k) is how far scores typically lie from 0; their variance is d_k.
    Look at: the root at the end.
    """
    refuse(d_k, var_q, var_k)
    mean, variance = right(d_k, mean_q, var_q, mean_k, var_k)
    return mean, math.sqrt(variance)


@misconception("moments-variance-read-as-deviation", of="score_moments")
def variances_squared(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You square var_q and var_k as if they were standard deviations; they are variances already.

    Example: d_k=1, var_q=4: you give 16, right is 4.
    Why: Var[q_i k_i] = var_q * var_k for zero means.
    Look at: every power of var_q and var_k: each is 1.
    """
    refuse(d_k, var_q, var_k)
    return right(d_k, mean_q, var_q**2, mean_k, var_k**2)


@misconception("moments-variances-added", of="score_moments", question="score-variance")
def variances_added(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You add the variances of q and k within a term; a product of independent zero-mean numbers has the product of the variances.

    Example: d_k=1 with unit variances: you give 2, right is 1.
    Why: variances add for a sum of independent terms; q_i k_i is a product, and E[(q_i k_i)**2] = E[q_i**2] E[k_i**2].
    Look at: the variance of one term.
    """
    refuse(d_k, var_q, var_k)
    return d_k * mean_q * mean_k, d_k * (var_q + var_k)


@misconception("moments-d-k-squared", of="score_moments", question="score-variance")
def width_squared(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """Your variance grows like d_k**2, as if all d_k terms were the same number; independent terms add their variances.

    Example: d_k=7: you give 49, right is 7.
    Why: Var[d X] = d**2 Var[X] is for one X taken d times; here there are d_k independent terms.
    Look at: the power of d_k in the variance.
    """
    refuse(d_k, var_q, var_k)
    mean, variance = right(d_k, mean_q, var_q, mean_k, var_k)
    return mean, d_k * variance


@misconception("moments-of-one-term", of="score_moments", question="score-variance")
def one_term(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You return the moments of one term q_i k_i; q . k is a sum of d_k of them.

    Example: d_k=7: your variance is 1, right is 7.
    Why: means add, and so do the variances of independent terms.
    Look at: where d_k enters.
    """
    refuse(d_k, var_q, var_k)
    return right(1, mean_q, var_q, mean_k, var_k)


@misconception("moments-of-an-average", of="score_moments")
def average(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You return the moments of the average of the terms; a dot product is their sum.

    Example: d_k=4: your variance is 0.25, right is 4.
    Why: dividing a sum by d_k divides its variance by d_k**2.
    Look at: the division by d_k.
    """
    refuse(d_k, var_q, var_k)
    mean, variance = right(d_k, mean_q, var_q, mean_k, var_k)
    return mean / d_k, variance / d_k**2


@misconception("moments-of-the-scaled-score", of="score_moments")
def scaled(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You return the moments of q . k / sqrt(d_k); the score before any scale is asked.

    Example: d_k=64: your variance is 1, right is 64.
    Why: the exercise is about what the scale has to undo.
    Look at: the division by sqrt(d_k) or d_k.
    """
    refuse(d_k, var_q, var_k)
    mean, variance = right(d_k, mean_q, var_q, mean_k, var_k)
    return mean / math.sqrt(d_k), variance / d_k


@misconception("moments-variance-of-one-term", of="score_moments", question="score-variance")
def variance_of_one_term(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """Your mean counts d_k terms but your variance counts one: the variances of the terms add up as well.

    Example: d_k=7: your variance is 1, right is 7.
    Why: the terms are independent, so Var[q . k] is d_k times the variance of one term.
    Look at: the factor d_k in the variance.
    """
    refuse(d_k, var_q, var_k)
    mean, variance = right(d_k, mean_q, var_q, mean_k, var_k)
    return mean, variance / d_k


@misconception("moments-mean-of-one-term", of="score_moments")
def mean_of_one_term(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """Your mean is mean_q * mean_k, that of one term; q . k has d_k terms.

    Example: d_k=4, mean_q=0.5, mean_k=-3: you give -1.5, right is -6.
    Why: the mean of a sum is the sum of the means.
    Look at: the factor d_k in the mean.
    """
    refuse(d_k, var_q, var_k)
    mean, variance = right(d_k, mean_q, var_q, mean_k, var_k)
    return mean / d_k, variance


@misconception("moments-mean-always-zero", of="score_moments")
def mean_zero(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """Your mean is 0 whatever the means of q and k are.

    Example: d_k=1, mean_q=2, mean_k=3: you give 0, right is 6.
    Why: E[q_i k_i] = mean_q * mean_k for independent components.
    Look at: the first number that you return.
    """
    refuse(d_k, var_q, var_k)
    _, variance = right(d_k, mean_q, var_q, mean_k, var_k)
    return 0.0, variance


@misconception("moments-mean-added", of="score_moments")
def means_added(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """Your mean adds mean_q and mean_k; the mean of a product of independent numbers is the product of their means.

    Example: d_k=1, mean_q=2, mean_k=3: you give 5, right is 6.
    Why: E[XY] = E[X] E[Y] for independent X and Y.
    Look at: the first number that you return.
    """
    refuse(d_k, var_q, var_k)
    _, variance = right(d_k, mean_q, var_q, mean_k, var_k)
    return d_k * (mean_q + mean_k), variance


@misconception("moments-means-not-squared", of="score_moments", question="score-variance")
def means_not_squared(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """The means enter your variance unsquared; a factor a multiplies a variance by a**2.

    Example: d_k=1, mean_k=3, unit variances: you give 4, right is 10.
    Why: Var[a X] = a**2 Var[X], so var_q comes with mean_k**2 (and can never be reduced by a negative mean).
    Look at: the powers of the means.
    """
    refuse(d_k, var_q, var_k)
    return d_k * mean_q * mean_k, d_k * (var_q * var_k + var_q * mean_k + var_k * mean_q)


@misconception("moments-variances-ignored", of="score_moments")
def variances_ignored(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """var_q and var_k don't reach your result: you return d_k whatever they are.

    Example: d_k=1, var_q=4: you give 1, right is 4.
    Why: d_k is the answer for unit variances alone; q . k is proportional to the size of q.
    Look at: the arguments that you never use.
    """
    refuse(d_k, var_q, var_k)
    return d_k * mean_q * mean_k, d_k * (1.0 + mean_k**2 + mean_q**2)


@misconception("moments-always-d-k", of="score_moments", extends="moments-variances-ignored")
def always_d_k(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You return (0, d_k) whatever the means and variances are: that is the answer for standard components alone.

    Example: d_k=1, var_q=4: your variance is 1, right is 4.
    Why: zero means and unit variances are the defaults, and the other four arguments may change them.
    Look at: the arguments that you never use.
    """
    refuse(d_k, var_q, var_k)
    return 0.0, float(d_k)


@misconception("moments-swapped", of="score_moments")
def order_swapped(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You return (variance, mean); the order that is asked for is (mean, variance).

    Example: d_k=4: you give (4, 0), right is (0, 4).
    Why: a caller unpacks `mean, variance = score_moments(...)`.
    Look at: the return line.
    """
    refuse(d_k, var_q, var_k)
    return right(d_k, mean_q, var_q, mean_k, var_k)[::-1]


@misconception("moments-as-a-list", of="score_moments")
def as_list(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You return a list; several results come as a tuple.

    Example: `score_moments(4)` gives [0.0, 4.0] where (0.0, 4.0) is asked.
    Why: the contract of all exercises: a tuple for several results.
    Look at: the brackets on the return line.
    """
    refuse(d_k, var_q, var_k)
    return list(right(d_k, mean_q, var_q, mean_k, var_k))


@misconception("moments-as-an-array", of="score_moments")
def as_array(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You return one array; two plain numbers in a tuple are asked.

    Example: `score_moments(4)` gives array([0., 4.]) where (0.0, 4.0) is asked.
    Why: the contract of all exercises: a tuple for several results.
    Look at: the return line.
    """
    refuse(d_k, var_q, var_k)
    return np.array(right(d_k, mean_q, var_q, mean_k, var_k))


@misconception("moments-variance-alone", of="score_moments")
def variance_alone(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You return the variance alone; the tuple (mean, variance) is asked.

    Example: `score_moments(4)` gives 4.0 where (0.0, 4.0) is asked.
    Why: the mean is half of the answer, and it isn't 0 when both means are not.
    Look at: the return line.
    """
    refuse(d_k, var_q, var_k)
    return right(d_k, mean_q, var_q, mean_k, var_k)[1]


@misconception("moments-arguments-in-another-order", of="score_moments")
def another_order(d_k, mean_q=0.0, mean_k=0.0, var_q=1.0, var_k=1.0):
    """Your parameters stand as (mean_q, mean_k, var_q, var_k); the order is mean_q, var_q, mean_k, var_k.

    Example: `score_moments(3, -2.0, 0.5, 1.5, 3.0)`: the second number after d_k is var_q.
    Why: callers may pass the arguments by position.
    Look at: the def line.
    """
    refuse(d_k, var_q, var_k)
    return right(d_k, mean_q, var_q, mean_k, var_k)


@misconception("moments-nothing-refused", of="score_moments")
def nothing_refused(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You compute moments for impossible arguments; a d_k below 1 and a negative variance are a ValueError.

    Example: `score_moments(-3)` gives a variance of -3.
    Why: a silent wrong number travels on; an error that names the parameter stops where the mistake is.
    Look at: `if d_k < 1: raise ValueError("d_k ...")`, and the same for var_q and var_k.
    """
    return right(d_k, mean_q, var_q, mean_k, var_k)


@misconception("moments-width-not-refused", of="score_moments")
def width_not_refused(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You refuse negative variances but no d_k below 1.

    Example: `score_moments(-3)` gives a variance of -3.
    Why: a dot product of fewer than one term doesn't exist.
    Look at: `if d_k < 1: raise ValueError("d_k ...")`.
    """
    refuse(1, var_q, var_k)
    return right(d_k, mean_q, var_q, mean_k, var_k)


@misconception("moments-zero-width-accepted", of="score_moments")
def zero_width(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You refuse a negative d_k but accept d_k = 0.

    Example: `score_moments(0)` gives numbers where a ValueError is asked.
    Why: sizes are at least 1; the comparison is `d_k < 1`, not `d_k < 0`.
    Look at: the comparison.
    """
    refuse(d_k or 1, var_q, var_k)
    return right(d_k, mean_q, var_q, mean_k, var_k)


@misconception("moments-variance-not-refused", of="score_moments")
def variance_not_refused(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You accept a negative variance.

    Example: `score_moments(4, var_q=-1.0)` gives a variance of -4.
    Why: a variance is a mean of squares; a negative one is a mistake of the caller's that you must name.
    Look at: `if var_q < 0: raise ValueError("var_q ...")`, and the same for var_k.
    """
    refuse_width(d_k)
    return right(d_k, mean_q, var_q, mean_k, var_k)


@misconception("moments-one-variance-unchecked", of="score_moments")
def one_variance_unchecked(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You refuse a negative var_q but not a negative var_k.

    Example: `score_moments(4, var_k=-0.5)` gives a variance of -2.
    Why: both are variances.
    Look at: the check of var_k.
    """
    refuse(d_k, var_q, 0.0)
    return right(d_k, mean_q, var_q, mean_k, var_k)


@misconception("moments-zero-variance-refused", of="score_moments")
def zero_variance_refused(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You refuse a variance of 0; a component that never varies is possible, only a negative variance isn't.

    Example: `score_moments(2, var_q=0.0, var_k=2.0)` is (0, 0).
    Why: the contract refuses negative variances.
    Look at: `< 0` or `<= 0`.
    """
    refuse(d_k, var_q, var_k)
    if not var_q or not var_k:
        raise ValueError("var_q and var_k must be positive")
    return right(d_k, mean_q, var_q, mean_k, var_k)


@misconception("moments-asserted", of="score_moments")
def asserted(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    """You use assert for impossible arguments; a ValueError is asked.

    Example: `score_moments(0)` raises AssertionError.
    Why: assertions are for your own mistakes, and `python -O` drops them.
    Look at: `if d_k < 1: raise ValueError("d_k ...")`.
    """
    assert d_k >= 1, "d_k"
    assert var_q >= 0, "var_q"
    assert var_k >= 0, "var_k"
    return right(d_k, mean_q, var_q, mean_k, var_k)
