"""What people get wrong in exercise 01 about z: more standard errors, more differences, more refusals."""

import math

import numpy as np
from attngrade.misconceptions import misconception
from attngrade.misconceptions.variance_z import central, checked, ratio, squared_error

__all__: list[str] = []  # filled by `wrong_z`: every misconception below


def wrong_z(name, **options):
    """A misconception of variance_z_score, exported."""

    def mark(code):
        __all__.append(code.__name__)
        return misconception(name, of="variance_z_score", **options)(code)

    return mark


def error(scores):
    return math.sqrt(squared_error(scores))


def above(scores, predicted_variance):
    return scores.var(ddof=1) - predicted_variance


@wrong_z("z-fourth-moment-as-a-squared-second")
def fourth_as_square(scores, predicted_variance):
    """Your m4 is m2**2: you square the mean of the squares, so the standard error is always 0; m4 is the mean of the fourth powers.

    Example: scores=[0, 0, 3]: your z is infinite, right is a number.
    Why: the standard error measures how much the squares scatter about their mean.
    Look at: `np.mean(d**4)` and `np.mean(d**2)**2`.
    """
    return ratio(above(checked(scores, predicted_variance), predicted_variance), 0.0)


@wrong_z("z-terms-added")
def terms_added(scores, predicted_variance):
    """You add m2**2 to m4; it is taken away.

    Example: scores=[1, -1]: your error is 1, right is 0, since both squared deviations are equal.
    Why: the scatter of the squares is Var[x**2] = E[x**4] - E[x**2]**2.
    Look at: the sign between m4 and m2**2.
    """
    scores = checked(scores, predicted_variance)
    m2, m4 = central(scores)
    return ratio(above(scores, predicted_variance), math.sqrt((m4 + m2**2) / scores.size))


@wrong_z("z-third-moment")
def third_moment(scores, predicted_variance):
    """You use the third central moment where the fourth is asked.

    Example: scores=[1, -1, 0.5, -0.5]: a third moment of 0 says nothing of the scatter of the squares.
    Why: the error of a mean of squares comes from the mean of fourth powers.
    Look at: the exponent.
    """
    scores = checked(scores, predicted_variance)
    m2, _ = central(scores)
    m3 = np.mean(np.abs(scores - scores.mean()) ** 3)
    return ratio(above(scores, predicted_variance), math.sqrt(max(m3 - m2**2, 0.0) / scores.size))


@wrong_z("z-fourth-moment-about-zero")
def fourth_about_zero(scores, predicted_variance):
    """Your fourth moment is raw, of the scores themselves; it is central, of the deviations from their mean, as m2 is.

    Example: adding 1000 to all scores changes your z.
    Why: the sample variance doesn't know where the scores lie, and neither does its error.
    Look at: `np.mean(scores**4)`.
    """
    scores = checked(scores, predicted_variance)
    m2, _ = central(scores)
    return ratio(above(scores, predicted_variance), math.sqrt(max(np.mean(scores**4) - m2**2, 0.0) / scores.size))


@wrong_z("z-second-moment-about-zero")
def second_about_zero(scores, predicted_variance):
    """You compare the mean of the squared scores with the prediction; the sample variance is that of the deviations, over n - 1.

    Example: adding 1000 to all scores makes your z huge.
    Why: a variance is a mean square about the mean.
    Look at: `scores.var(ddof=1)`.
    """
    scores = checked(scores, predicted_variance)
    return ratio(np.mean(scores**2) - predicted_variance, error(scores))


@wrong_z("z-mean-over-n-minus-one")
def mean_over_less(scores, predicted_variance):
    """You divide the sum of the scores by n - 1 for their mean; only the sample variance has n - 1.

    Example: scores=[0, 0, 3]: your mean is 1.5, right is 1.
    Why: n - 1 makes up for the mean that is estimated from the same scores; the mean itself is the sum over n.
    Look at: every n - 1: there is one.
    """
    scores = checked(scores, predicted_variance)
    n = scores.size
    deviations = scores - scores.sum() / (n - 1)
    m2, m4 = np.mean(deviations**2), np.mean(deviations**4)
    return ratio((deviations**2).sum() / (n - 1) - predicted_variance, math.sqrt(max(m4 - m2**2, 0.0) / n))


@wrong_z("z-about-the-median")
def about_the_median(scores, predicted_variance):
    """You take deviations from the median; all moments are about the mean.

    Example: scores=[0, 0, 3]: your deviations are [0, 0, 3], right are [-1, -1, 2].
    Why: a variance is the mean square about the mean.
    Look at: `np.median`.
    """
    scores = checked(scores, predicted_variance)
    deviations = scores - np.median(scores)
    m2, m4 = np.mean(deviations**2), np.mean(deviations**4)
    return ratio((deviations**2).sum() / (scores.size - 1) - predicted_variance, math.sqrt(max(m4 - m2**2, 0.0) / scores.size))


@wrong_z("z-prediction-as-a-deviation")
def prediction_squared(scores, predicted_variance):
    """You square the prediction as if it were a standard deviation; it is a variance already.

    Example: a prediction of 5 is compared as 25.
    Why: the name says it: predicted_variance.
    Look at: every power of predicted_variance: it is 1.
    """
    scores = checked(scores, predicted_variance)
    return ratio(above(scores, predicted_variance**2), error(scores))


@wrong_z("z-deviation-against-a-variance")
def deviation_against_variance(scores, predicted_variance):
    """You take the standard deviation of the scores and compare it with a variance.

    Example: scores=[0, 0, 3] have variance 3 and deviation 1.73; the prediction is a variance.
    Why: `np.std` is the root of what is asked.
    Look at: `std` where `var` belongs.
    """
    scores = checked(scores, predicted_variance)
    return ratio(scores.std(ddof=1) - predicted_variance, error(scores))


@wrong_z("z-multiplied-by-the-error")
def multiplied(scores, predicted_variance):
    """You multiply the difference by the standard error; z counts how many errors fit in it, so it is divided.

    Example: in a larger sample the error is smaller and z larger, not smaller.
    Why: z has no unit.
    Look at: the return line.
    """
    scores = checked(scores, predicted_variance)
    return float(above(scores, predicted_variance) * error(scores))


@wrong_z("z-error-times-the-root-of-n")
def error_times_root(scores, predicted_variance):
    """You multiply the scatter of a squared deviation by sqrt(n) (or z is divided by it once too often); it is divided: a mean of n is n times less uncertain.

    Example: z of a hundred scores is a hundredth of what is right.
    Why: Var[mean of n] = Var / n.
    Look at: where n stands.
    """
    scores = checked(scores, predicted_variance)
    return ratio(above(scores, predicted_variance), error(scores) * scores.size)


@wrong_z("z-kurtosis-as-it-is")
def kurtosis_plain(scores, predicted_variance):
    """You divide by the root of the kurtosis over n, without the variance: an error needs the unit of what it is the error of.

    Example: measured in another unit your z changes.
    Why: m4 - m2**2 = m2**2 (kurtosis - 1).
    Look at: the factor m2.
    """
    scores = checked(scores, predicted_variance)
    m2, m4 = central(scores)
    return ratio(above(scores, predicted_variance), math.sqrt(max(m4 / m2**2 - 1, 0.0) / scores.size) if m2 else 0.0)


@wrong_z("z-zero-error-is-the-difference")
def zero_is_difference(scores, predicted_variance):
    """Where the standard error is 0 you return the difference itself; the answer is an infinity with its sign, or 0 without a difference.

    Example: scores=[3, 3, 3], predicted_variance=0.5: you give -0.5, right is -inf.
    Why: any difference is infinitely many standard errors of 0.
    Look at: `or 1`, or a divisor that is replaced by 1.
    """
    scores = checked(scores, predicted_variance)
    return float(above(scores, predicted_variance) / (error(scores) or 1.0))


@wrong_z("z-zero-error-sign-turned")
def zero_sign_turned(scores, predicted_variance):
    """Where the standard error is 0 your infinity has the wrong sign: positive means that the sample varies more than predicted.

    Example: scores=[3, 3, 3], predicted_variance=0.5: you give inf, right is -inf.
    Why: the sign is that of the difference, sample less prediction.
    Look at: the branch for an error of 0.
    """
    scores = checked(scores, predicted_variance)
    z = ratio(above(scores, predicted_variance), error(scores))
    return -z if math.isinf(z) else z


@wrong_z("z-asserted")
def z_asserted(scores, predicted_variance):
    """You use assert for impossible arguments; a ValueError is asked.

    Example: `variance_z_score(np.array([1.5]), 1.0)` raises AssertionError.
    Why: assertions are for your own mistakes, and `python -O` drops them.
    Look at: `if scores.size < 2: raise ValueError("scores ...")`.
    """
    scores = np.asarray(scores, dtype=np.float64)
    assert scores.size >= 2, "scores"
    assert predicted_variance >= 0, "predicted_variance"
    return ratio(above(scores, predicted_variance), error(scores))


@wrong_z("z-negative-prediction-taken-for-zero")
def prediction_clamped(scores, predicted_variance):
    """You take a negative prediction for 0; it is a mistake of the caller's, and a ValueError that names it is asked.

    Example: `variance_z_score(scores, -1.0)` gives what a prediction of 0 gives.
    Why: a silent wrong number travels on.
    Look at: `max(predicted_variance, 0)`.
    """
    scores = checked(scores, 0.0)
    return ratio(above(scores, max(predicted_variance, 0.0)), error(scores))
