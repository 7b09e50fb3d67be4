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
