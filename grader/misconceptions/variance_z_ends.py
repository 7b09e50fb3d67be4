"""What people get wrong in exercise 01 about a z-score: where there is no standard error, digits, arguments, refusals."""

import math

import numpy as np
from attngrade.misconceptions import misconception
from attngrade.misconceptions.variance_z import checked, ratio, right, squared_error

__all__: list[str] = []  # filled by `wrong_z`: every misconception below


def wrong_z(name, **options):
    """A misconception of variance_z_score, exported."""

    def mark(code):
        __all__.append(code.__name__)
        return misconception(name, of="variance_z_score", **options)(code)

    return mark


# ---------------------------------------------------------------- no standard error


@wrong_z("z-zero-error-is-nan")
def zero_error_nan(scores, predicted_variance):
    """Where the standard error and the difference are both 0 you give NaN; the answer there is 0.

    Example: scores=[1, -1], predicted 2: both squared deviations are 1, s**2 is 2, z is 0.
    Why: no difference is no difference, whatever its error.
    Look at: the case 0 / 0.
    """
    scores = checked(scores, predicted_variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.float64(scores.var(ddof=1) - predicted_variance) / np.sqrt(squared_error(scores))


@wrong_z("z-zero-error-is-zero")
def zero_error_zero(scores, predicted_variance):
    """Where the standard error is 0 you always give 0; with a difference the answer is an infinity with its sign.

    Example: scores=[1, -1], predicted 9: s**2 is 2, below the prediction, so z is -inf.
    Why: a difference that can't be chance is infinitely many standard errors.
    Look at: the branch for an error of 0.
    """
    scores = checked(scores, predicted_variance)
    error = math.sqrt(squared_error(scores))
    return ratio(scores.var(ddof=1) - predicted_variance, error) if error else 0.0


@wrong_z("z-zero-error-is-always-nan")
def zero_error_always_nan(scores, predicted_variance):
    """Where the standard error is 0 you give NaN; the answer is an infinity with the sign of the difference, or 0 without one.

    Example: scores=[1, -1], predicted 9: s**2 is 2, below the prediction, so z is -inf.
    Why: a difference that can't be chance is infinitely many standard errors.
    Look at: the branch for an error of 0.
    """
    scores = checked(scores, predicted_variance)
    error = math.sqrt(squared_error(scores))
    return ratio(scores.var(ddof=1) - predicted_variance, error) if error else math.nan


@wrong_z("z-zero-error-has-no-sign")
def zero_error_unsigned(scores, predicted_variance):
    """Where the standard error is 0 you give +inf even if the sample lies below the prediction.

    Example: scores=[1, -1], predicted 9: s**2 is 2, so z is -inf.
    Why: z is signed, at infinity too.
    Look at: the sign of the difference in the branch for an error of 0.
    """
    scores = checked(scores, predicted_variance)
    z = right(scores, predicted_variance)
    return abs(z) if math.isinf(z) else z


@wrong_z("z-zero-error-never-zero")
def zero_error_never_zero(scores, predicted_variance):
    """Where the standard error is 0 you give an infinity even if there is no difference at all; then the answer is 0.

    Example: scores=[1, -1], predicted 2: s**2 is 2, so z is 0.
    Why: no difference is no difference, whatever its error.
    Look at: three cases: above, below, equal.
    """
    scores = checked(scores, predicted_variance)
    error = math.sqrt(squared_error(scores))
    difference = scores.var(ddof=1) - predicted_variance
    return ratio(difference, error) if error else math.copysign(math.inf, difference)


@wrong_z("z-zero-error-never-zero-positive", extends="z-zero-error-never-zero")
def zero_error_always_infinite(scores, predicted_variance):
    """Where the standard error is 0 you always give +inf; the answer has the sign of the difference, and is 0 where there is none.

    Example: scores=[1, -1], predicted 2: s**2 is 2, so z is 0; predicted 9: -inf.
    Why: z is signed, and no difference is no difference.
    Look at: three cases: above, below, equal.
    """
    scores = checked(scores, predicted_variance)
    error = math.sqrt(squared_error(scores))
    return ratio(scores.var(ddof=1) - predicted_variance, error) if error else math.inf


@wrong_z("z-zero-error-raises")
def zero_error_raises(scores, predicted_variance):
    """Where the standard error is 0 your division fails; the answer is an infinity with the sign of the difference, or 0 without one.

    Example: scores=[1, -1] always has equal squared deviations, so m4 = m2**2.
    Why: two scores, or a constant sample, are legal arguments.
    Look at: what happens before the division.
    """
    scores = checked(scores, predicted_variance)
    return float(scores.var(ddof=1) - predicted_variance) / math.sqrt(squared_error(scores))


@wrong_z("z-zero-error-refused")
def zero_error_refused(scores, predicted_variance):
    """You refuse samples whose standard error is 0; the answer is an infinity with the sign of the difference, or 0 without one.

    Example: scores=[1, -1], predicted 9: z is -inf.
    Why: two scores, or a constant sample, are legal arguments.
    Look at: the branch for an error of 0.
    """
    scores = checked(scores, predicted_variance)
    if squared_error(scores) == 0:
        raise ValueError("scores have no standard error")
    return right(scores, predicted_variance)


@wrong_z("z-epsilon")
def epsilon(scores, predicted_variance):
    """You add a small number to the standard error to avoid a division by zero; it falsifies small errors and hides the infinity.

    Example: scores=[1, -1], predicted 9: you give a huge number where -inf is right.
    Why: an error of 0 has an answer of its own; every other error is used as it is.
    Look at: the epsilon in the denominator.
    """
    scores = checked(scores, predicted_variance)
    return float((scores.var(ddof=1) - predicted_variance) / (math.sqrt(squared_error(scores)) + 1e-12))


@wrong_z("z-close-to-zero-taken-for-zero")
def close_to_zero(scores, predicted_variance):
    """You take a small standard error for 0 (`np.isclose`, or a fixed threshold); how small is small depends on the unit.

    Example: scores of size 1e-4 have variances of size 1e-8 and an error that passes for 0.
    Why: z doesn't change when scores and prediction are given in another unit.
    Look at: `== 0`.
    """
    scores = checked(scores, predicted_variance)
    error = math.sqrt(squared_error(scores))
    return ratio(scores.var(ddof=1) - predicted_variance, 0.0 if np.isclose(error, 0) else error)


# ---------------------------------------------------------------- digits, arguments, refusals


@wrong_z("z-one-pass")
def one_pass(scores, predicted_variance):
    """You expand the central moments into raw ones, E[x**4] - 4 E[x] E[x**3] + ...; far from 0 the digits cancel.

    Example: for scores near 1000 the fourth powers are 1e12, and float64 has 16 digits.
    Why: subtracting nearly equal numbers leaves rounding errors.
    Look at: `scores - scores.mean()` first, powers afterwards.
    """
    scores = checked(scores, predicted_variance)
    a, b, c, d = (np.mean(scores**power) for power in (1, 2, 3, 4))
    m2, m4 = b - a**2, d - 4 * a * c + 6 * a**2 * b - 3 * a**4
    difference = m2 * scores.size / (scores.size - 1) - predicted_variance
    return ratio(difference, math.sqrt(max(m4 - m2**2, 0.0) / scores.size))


@wrong_z("z-in-float32")
def z_in_float32(scores, predicted_variance):
    """You compute in float32, which leaves seven digits.

    Example: for scores near 1000 nothing of the variance is left to compare.
    Why: scores are float64, and a sum of fourth powers needs the digits.
    Look at: the dtype of the scores inside the function.
    """
    scores = checked(scores, predicted_variance).astype(np.float32)
    return right(scores, predicted_variance)


@wrong_z("z-changes-its-argument")
def in_place(scores, predicted_variance):
    """You subtract the mean from the caller's own array.

    Example: after the call the scores have mean 0.
    Why: no function changes an argument.
    Look at: `scores -= scores.mean()`: write `scores - scores.mean()`.
    """
    scores = checked(scores, predicted_variance)
    z = right(scores, predicted_variance)
    scores -= scores.mean()
    return z


@wrong_z("z-as-an-array")
def zero_rank(scores, predicted_variance):
    """You return an array of rank 0; a plain number is asked.

    Example: `np.where` and `np.asarray` give arrays even for one number.
    Why: a caller may format, compare or store it as a float.
    Look at: `float(...)` on the return line.
    """
    return np.asarray(right(checked(scores, predicted_variance), predicted_variance))


@wrong_z("z-one-score-accepted")
def one_score_accepted(scores, predicted_variance):
    """You accept a single score; a sample variance needs two.

    Example: `variance_z_score(np.array([1.5]), 1.0)` gives NaN where a ValueError is asked.
    Why: with ddof=1 one score divides by zero.
    Look at: `if scores.size < 2: raise ValueError("scores ...")`.
    """
    scores = checked(scores, predicted_variance, at_least=1)
    with np.errstate(all="ignore"):
        return right(scores, predicted_variance)


@wrong_z("z-too-few-scores-accepted")
def few_scores_accepted(scores, predicted_variance):
    """You accept fewer than two scores; a sample variance needs two.

    Example: `variance_z_score(np.array([1.5]), 1.0)` gives NaN where a ValueError is asked.
    Why: with ddof=1 one score divides by zero.
    Look at: `if scores.size < 2: raise ValueError("scores ...")`.
    """
    scores = checked(scores, predicted_variance, at_least=0)
    with np.errstate(all="ignore"):
        return right(scores, predicted_variance)


@wrong_z("z-negative-prediction-accepted")
def negative_accepted(scores, predicted_variance):
    """You accept a negative prediction.

    Example: `variance_z_score(scores, -1.0)` gives a number where a ValueError is asked.
    Why: no variance is negative, so the caller has made a mistake.
    Look at: `if predicted_variance < 0: raise ValueError("predicted_variance ...")`.
    """
    return right(checked(scores, 0.0), predicted_variance)


@wrong_z("z-zero-prediction-refused")
def zero_refused(scores, predicted_variance):
    """You refuse a prediction of 0; only a negative one is impossible.

    Example: a constant sample has variance 0, and predicting that is right.
    Why: the contract refuses negative variances.
    Look at: `< 0` or `<= 0`.
    """
    scores = checked(scores, predicted_variance)
    if predicted_variance == 0:
        raise ValueError("predicted_variance must be positive")
    return right(scores, predicted_variance)


@wrong_z("z-two-scores-refused")
def two_refused(scores, predicted_variance):
    """You refuse a sample of two scores; two are enough.

    Example: scores=[1, -1] has variance 2.
    Why: the contract refuses fewer than two.
    Look at: `< 2` or `<= 2`.
    """
    return right(checked(scores, predicted_variance, at_least=3), predicted_variance)


@wrong_z("z-nothing-refused")
def nothing_refused_in_z(scores, predicted_variance):
    """You refuse nothing; fewer than two scores and a negative prediction are a ValueError.

    Example: `variance_z_score(np.array([1.5]), 1.0)` gives NaN.
    Why: a silent NaN travels on.
    Look at: `if scores.size < 2: raise ValueError("scores ...")`.
    """
    scores = np.asarray(scores, dtype=np.float64)
    with np.errstate(all="ignore"):
        return right(scores, predicted_variance)
