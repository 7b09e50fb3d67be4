"""What people get wrong in exercise 01 about the standard error of a sample variance."""

import math

import numpy as np
from attngrade.misconceptions import misconception

__all__: list[str] = []  # filled by `wrong_z`: every misconception below


def wrong_z(name, **options):
    """A misconception of variance_z_score, exported."""

    def mark(code):
        __all__.append(code.__name__)
        return misconception(name, of="variance_z_score", **options)(code)

    return mark


def checked(scores, predicted_variance, at_least=2):
    scores = np.asarray(scores, dtype=np.float64)
    if scores.size < at_least:
        raise ValueError(f"scores must hold at least {at_least} values, got {scores.size}")
    if predicted_variance < 0:
        raise ValueError(f"predicted_variance must not be negative, got {predicted_variance}")
    return scores


def central(scores):
    deviations = scores - scores.mean()
    return np.mean(deviations**2), np.mean(deviations**4)


def squared_error(scores):
    m2, m4 = central(scores)
    return max(m4 - m2**2, 0.0) / scores.size


def ratio(difference, error):
    if error == 0:
        return math.copysign(math.inf, difference) if difference else 0.0
    return float(difference / error)


def right(scores, predicted_variance):
    return ratio(scores.var(ddof=1) - predicted_variance, math.sqrt(squared_error(scores)))


# ---------------------------------------------------------------- another standard error


@wrong_z("z-gaussian-error")
def gaussian_error(scores, predicted_variance):
    """You use the standard error for Gaussian samples, s**2 * sqrt(2 / (n - 1)); scores of small heads are far from Gaussian.

    Example: for normal components q . k has excess kurtosis 6/d_k; at d_k=1 the true error is twice as large as yours.
    Why: the variance of a sample variance is (m4 - m2**2) / n, and m4 = 3 m2**2 holds for normal numbers alone.
    Look at: the sample's own fourth central moment.
    """
    scores = checked(scores, predicted_variance)
    s2 = scores.var(ddof=1)
    return ratio(s2 - predicted_variance, s2 * math.sqrt(2 / (scores.size - 1)))


@wrong_z("z-gaussian-error-n", extends="z-gaussian-error")
def gaussian_error_n(scores, predicted_variance):
    """You use the standard error for Gaussian samples, about s**2 * sqrt(2 / n); scores of small heads are far from Gaussian.

    Example: for normal components q . k has excess kurtosis 6/d_k; at d_k=1 the true error is twice as large as yours.
    Why: the variance of a sample variance is (m4 - m2**2) / n, and m4 = 3 m2**2 holds for normal numbers alone.
    Look at: the sample's own fourth central moment.
    """
    scores = checked(scores, predicted_variance)
    s2 = scores.var(ddof=1)
    return ratio(s2 - predicted_variance, s2 * math.sqrt(2 / scores.size))


@wrong_z("z-gaussian-error-of-the-prediction", extends="z-gaussian-error")
def gaussian_error_predicted(scores, predicted_variance):
    """Your standard error comes from the prediction, predicted * sqrt(2 / (n - 1)), as if the scores were Gaussian.

    Example: with a prediction of 0 your error is 0.
    Why: the error asked for is the sample's own, sqrt((m4 - m2**2) / n).
    Look at: m2 and m4, taken from the scores.
    """
    scores = checked(scores, predicted_variance)
    return ratio(scores.var(ddof=1) - predicted_variance, predicted_variance * math.sqrt(2 / (scores.size - 1)))


@wrong_z("z-excess-kurtosis")
def excess_kurtosis(scores, predicted_variance):
    """You take 3 away from the kurtosis before you use it (or 3 m2**2 from m4); the standard error has m4 - m2**2.

    Example: for normal numbers your error is about 0, right is m2 * sqrt(2 / n).
    Why: Var[(x - mean)**2] = m4 - m2**2, that is m2**2 * (kurtosis - 1) with the plain kurtosis.
    Look at: which kurtosis it is: the plain one is 3 for normal numbers, the excess 0.
    """
    scores = checked(scores, predicted_variance)
    m2, m4 = central(scores)
    return ratio(scores.var(ddof=1) - predicted_variance, math.sqrt(max(m4 - 3 * m2**2, 0.0) / scores.size))


@wrong_z("z-fourth-moment-alone")
def fourth_alone(scores, predicted_variance):
    """Your standard error is sqrt(m4 / n); m2**2 has to be taken away from m4 first.

    Example: scores=[1, -1]: your error is 0.707, right is 0, since both squared deviations are equal.
    Why: the scatter of the squares is Var[x**2] = E[x**4] - E[x**2]**2.
    Look at: m4 - m2**2.
    """
    scores = checked(scores, predicted_variance)
    return ratio(scores.var(ddof=1) - predicted_variance, math.sqrt(central(scores)[1] / scores.size))


@wrong_z("z-second-moment-not-squared")
def second_unsquared(scores, predicted_variance):
    """You take m2 away from m4; it has to be squared first.

    Example: z changes when scores and prediction are given in another unit.
    Why: m4 has the unit of a score to the fourth, and so has m2**2.
    Look at: m4 - m2**2.
    """
    scores = checked(scores, predicted_variance)
    m2, m4 = central(scores)
    return ratio(scores.var(ddof=1) - predicted_variance, math.sqrt(max(m4 - m2, 0.0) / scores.size))


@wrong_z("z-raw-moments")
def raw_moments(scores, predicted_variance):
    """The moments in your standard error are raw ones, of the scores themselves; they must be central, of deviations from the mean.

    Example: z changes when 1000 is added to every score.
    Why: a variance doesn't depend on where the scores lie, and neither does its error.
    Look at: `scores - scores.mean()` before any power.
    """
    scores = checked(scores, predicted_variance)
    error = max(np.mean(scores**4) - np.mean(scores**2) ** 2, 0.0) / scores.size
    return ratio(scores.var(ddof=1) - predicted_variance, math.sqrt(error))


@wrong_z("z-about-zero")
def about_zero(scores, predicted_variance):
    """You take the mean of the scores to be 0 and use plain squares; all moments must be about the sample's own mean.

    Example: scores=[3, 3, 3] has variance 0, yours is 9 or more.
    Why: the law has mean 0 only where q and k have; a sample never has exactly.
    Look at: `scores - scores.mean()` before any power.
    """
    scores = checked(scores, predicted_variance)
    m2, m4 = np.mean(scores**2), np.mean(scores**4)
    return ratio(m2 * scores.size / (scores.size - 1) - predicted_variance, math.sqrt(max(m4 - m2**2, 0.0) / scores.size))


@wrong_z("z-about-zero-by-n", extends="z-about-zero")
def about_zero_n(scores, predicted_variance):
    """You take the mean of the scores to be 0 and use mean squares; all moments must be about the sample's own mean, and s**2 over n - 1.

    Example: scores=[3, 3, 3] has variance 0, yours is 9.
    Why: the law has mean 0 only where q and k have; a sample never has exactly.
    Look at: `scores - scores.mean()` before any power.
    """
    scores = checked(scores, predicted_variance)
    m2, m4 = np.mean(scores**2), np.mean(scores**4)
    return ratio(m2 - predicted_variance, math.sqrt(max(m4 - m2**2, 0.0) / scores.size))


@wrong_z("z-about-the-prediction")
def about_the_prediction(scores, predicted_variance):
    """Your standard error has the predicted variance in it, m4 - predicted**2; the sample's own m2 belongs there.

    Example: the larger the prediction, the smaller your error, until the root has no value.
    Why: the error describes how far the sample's variance scatters, whatever was predicted.
    Look at: m4 - m2**2.
    """
    scores = checked(scores, predicted_variance)
    _, m4 = central(scores)
    return ratio(scores.var(ddof=1) - predicted_variance, math.sqrt(max(m4 - predicted_variance**2, 0.0) / scores.size))


@wrong_z("z-unbiased-variance-in-the-error")
def unbiased_in_error(scores, predicted_variance):
    """The square in your standard error is s**4, with s**2 over n - 1; m2 is the biased moment, over n.

    Example: scores=[0, 0, 3]: m2 is 2 and s**2 is 3; only m4 - m2**2 is a variance of squares.
    Why: m4 and m2 must be averages of the same kind, or the difference isn't a variance.
    Look at: `ddof` in each place: 1 for s**2 in the difference, 0 in the error.
    """
    scores = checked(scores, predicted_variance)
    _, m4 = central(scores)
    s2 = scores.var(ddof=1)
    return ratio(s2 - predicted_variance, math.sqrt(max(m4 - s2**2, 0.0) / scores.size))


@wrong_z("z-unbiased-moments")
def unbiased_moments(scores, predicted_variance):
    """Both moments in your standard error are sums over n - 1; they are biased ones, over n.

    Example: scores=[0, 0, 3]: m2 is 2, yours is 3.
    Why: the contract fixes m2 and m4 as plain averages; only s**2 has n - 1.
    Look at: `ddof` in each place.
    """
    scores = checked(scores, predicted_variance)
    m2, m4 = (moment * scores.size / (scores.size - 1) for moment in central(scores))
    return ratio(scores.var(ddof=1) - predicted_variance, math.sqrt(max(m4 - m2**2, 0.0) / scores.size))


@wrong_z("z-error-not-over-n")
def not_over_n(scores, predicted_variance):
    """Your standard error isn't divided by sqrt(n): it is the scatter of one squared deviation, not of their average.

    Example: z stays about as it is when the sample grows; it should grow like sqrt(n).
    Why: the average of n squares scatters sqrt(n) times less than one square.
    Look at: sqrt((m4 - m2**2) / n).
    """
    scores = checked(scores, predicted_variance)
    return ratio(scores.var(ddof=1) - predicted_variance, math.sqrt(squared_error(scores) * scores.size))


@wrong_z("z-error-over-n-not-its-root")
def over_n_outside(scores, predicted_variance):
    """You divide by n outside the root; n belongs under it.

    Example: with n=101 your z is ten times too large.
    Why: sqrt((m4 - m2**2) / n) is the root of a variance of an average.
    Look at: the brackets of the root.
    """
    scores = checked(scores, predicted_variance)
    return ratio(scores.var(ddof=1) - predicted_variance, math.sqrt(squared_error(scores) / scores.size))


@wrong_z("z-error-over-n-minus-one")
def over_n_minus_one(scores, predicted_variance):
    """Your standard error divides by n - 1; it is sqrt((m4 - m2**2) / n).

    Example: with 3 scores your error is sqrt(3/2) times too large.
    Why: n - 1 belongs to s**2 alone.
    Look at: the denominators, one by one.
    """
    scores = checked(scores, predicted_variance)
    n = scores.size
    return ratio(scores.var(ddof=1) - predicted_variance, math.sqrt(squared_error(scores) * n / (n - 1)))


@wrong_z("z-divisors-swapped")
def divisors_swapped(scores, predicted_variance):
    """Your divisors are swapped: the sample variance is over n and the squared deviations' own variance over n - 1; it is the other way round.

    Example: scores=[0, 0, 3]: s**2 is 3, yours is 2; and your error is sqrt(3/2) times too large.
    Why: s**2 is the unbiased estimate that is compared with the prediction; m2 and m4 in its error are plain averages.
    Look at: `ddof` in each place: 1 for s**2, 0 in the error.
    """
    scores = checked(scores, predicted_variance)
    n = scores.size
    return ratio(scores.var() - predicted_variance, math.sqrt(squared_error(scores) * n / (n - 1)))


@wrong_z("z-exact-normal-correction")
def textbook(scores, predicted_variance):
    """Your standard error is the textbook's for known moments, (m4 - m2**2 (n - 3) / (n - 1)) / n; the exercise asks for (m4 - m2**2) / n.

    Example: scores=[1, -1]: yours isn't 0, right is 0.
    Why: both estimate the same thing; the contract fixes the simpler one.
    Look at: the factor (n - 3) / (n - 1).
    """
    scores = checked(scores, predicted_variance)
    m2, m4 = central(scores)
    n = scores.size
    return ratio(scores.var(ddof=1) - predicted_variance, math.sqrt(max(m4 - m2**2 * (n - 3) / (n - 1), 0.0) / n))


@wrong_z("z-error-without-the-root")
def without_root(scores, predicted_variance):
    """You divide by the variance of s**2; a standard error is its root.

    Example: z changes when scores and prediction are given in another unit.
    Why: difference and standard error have the same unit, so that z has none.
    Look at: the root over (m4 - m2**2) / n.
    """
    scores = checked(scores, predicted_variance)
    return ratio(scores.var(ddof=1) - predicted_variance, squared_error(scores))


@wrong_z("z-of-the-mean")
def of_the_mean(scores, predicted_variance):
    """Your standard error is that of the mean, s / sqrt(n); the error of the variance is asked.

    Example: z changes when scores and prediction are given in another unit.
    Why: squares of deviations scatter by their own variance, m4 - m2**2.
    Look at: sqrt((m4 - m2**2) / n).
    """
    scores = checked(scores, predicted_variance)
    s2 = scores.var(ddof=1)
    return ratio(s2 - predicted_variance, math.sqrt(s2 / scores.size))


# ---------------------------------------------------------------- another difference


@wrong_z("z-biased-variance")
def biased_variance(scores, predicted_variance):
    """Your sample variance divides by n (`np.var` as it comes); `ddof=1` is asked.

    Example: scores=[0, 0, 3]: you take 2, right is 3.
    Why: deviations from the sample's own mean are a little too small, and n - 1 makes up for it.
    Look at: `scores.var(ddof=1)`.
    """
    scores = checked(scores, predicted_variance)
    return ratio(scores.var() - predicted_variance, math.sqrt(squared_error(scores)))


@wrong_z("z-reversed")
def reversed_sign(scores, predicted_variance):
    """Your sign is turned: z is positive where the sample varies more than predicted.

    Example: scores=[0, 0, 3], predicted 1: the sample has 3, so z must be positive.
    Why: "how far above the prediction" is sample minus prediction.
    Look at: the order of the difference.
    """
    scores = checked(scores, predicted_variance)
    return ratio(predicted_variance - scores.var(ddof=1), math.sqrt(squared_error(scores)))


@wrong_z("z-absolute")
def absolute_z(scores, predicted_variance):
    """Your z has lost its sign.

    Example: a prediction above the sample's variance must give a negative z.
    Why: too much and too little variance are different findings.
    Look at: the absolute value.
    """
    scores = checked(scores, predicted_variance)
    return abs(right(scores, predicted_variance))


@wrong_z("z-relative")
def relative(scores, predicted_variance):
    """You divide by the prediction; the unit of z is the standard error.

    Example: a relative error of 0.1 is nothing with 10 scores and a lot with 10,000.
    Why: only the standard error knows how large the sample is.
    Look at: sqrt((m4 - m2**2) / n).
    """
    scores = checked(scores, predicted_variance)
    return ratio(scores.var(ddof=1) - predicted_variance, predicted_variance)


@wrong_z("z-of-standard-deviations")
def deviations_compared(scores, predicted_variance):
    """You compare standard deviations; variances are asked, and the error belongs to them.

    Example: scores=[0, 0, 3], predicted 1: the difference is 3 - 1, not sqrt(3) - 1.
    Why: sqrt((m4 - m2**2) / n) is the standard error of the variance.
    Look at: `std` in place of `var`.
    """
    scores = checked(scores, predicted_variance)
    return ratio(scores.std(ddof=1) - math.sqrt(predicted_variance), math.sqrt(squared_error(scores)))


@wrong_z("z-difference-alone")
def difference_alone(scores, predicted_variance):
    """You return the difference of the variances without dividing by its standard error.

    Example: z changes when scores and prediction are given in another unit.
    Why: how far off a sample is can be judged in standard errors alone.
    Look at: the division by sqrt((m4 - m2**2) / n).
    """
    scores = checked(scores, predicted_variance)
    return float(scores.var(ddof=1) - predicted_variance)


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
