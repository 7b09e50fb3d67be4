"""What people get wrong in exercise 01: unit_rms_scale."""

from attngrade.misconceptions import misconception
from attngrade.misconceptions.variance_parts import refuse_width

# ---------------------------------------------------------------- unit_rms_scale


def refuse_scale(d_k, correlation):
    refuse_width(d_k)
    if abs(correlation) > 1:
        raise ValueError(f"correlation must lie in -1 .. 1, got {correlation}")


@misconception("scale-ignores-correlation", of="unit_rms_scale", question="mup-scale")
def correlation_ignored(d_k, correlation=0.0):
    """Your scale is d_k ** -0.5 whatever the correlation is.

    Example: d_k=1, correlation=1: you give 1, right is 3 ** -0.5 = 0.577.
    Why: aligned q and k make q . k a sum with a mean of correlation * d_k, which soon outgrows its scatter.
    Look at: E[q_i k_i] and E[(q_i k_i)**2] under correlation.
    """
    refuse_scale(d_k, correlation)
    return d_k**-0.5


@misconception("scale-from-the-variance-alone", of="unit_rms_scale", question="mup-scale")
def variance_only(d_k, correlation=0.0):
    """You make the variance of c * q . k equal to 1; the mean of its square must be 1, and with correlation there is a mean as well.

    Example: d_k=2, correlation=-0.5: you give 0.632, right is 0.535.
    Why: E[s**2] = Var[s] + E[s]**2, with Var[s] = (1 + r**2) d_k and E[s] = r d_k.
    Look at: the term (r d_k)**2: it is what makes the scale fall like 1/d_k.
    """
    refuse_scale(d_k, correlation)
    return (d_k * (1 + correlation**2)) ** -0.5


@misconception("scale-from-the-mean-alone", of="unit_rms_scale", question="mup-scale")
def mean_only(d_k, correlation=0.0):
    """With correlation you divide by the mean |r| d_k alone; the scatter around the mean counts as well.

    Example: d_k=1, correlation=0.5: you give 2, right is 0.816.
    Why: E[s**2] = Var[s] + E[s]**2; the second term wins for wide heads only.
    Look at: the variance (1 + r**2) d_k.
    """
    refuse_scale(d_k, correlation)
    return 1 / abs(correlation * d_k) if correlation else d_k**-0.5


@misconception("scale-one-over-d-k", of="unit_rms_scale", question="mup-scale")
def one_over_width(d_k, correlation=0.0):
    """Your scale is 1/d_k; without correlation scores scatter by sqrt(d_k), so d_k ** -0.5 undoes it.

    Example: d_k=64: you give 1/64, right is 1/8. The scaled scores would have standard deviation 1/8.
    Why: 1/d_k normalises a mean (or scores of aligned q and k), the root normalises the scatter of a sum.
    Look at: the exponent.
    """
    refuse_scale(d_k, correlation)
    return 1 / d_k


@misconception("scale-switches-to-one-over-d-k", of="unit_rms_scale", question="mup-scale")
def switched(d_k, correlation=0.0):
    """You switch to 1/d_k as soon as there is any correlation; the scale depends on how much there is.

    Example: d_k=2, correlation=-0.5: you give 0.5, right is 0.535.
    Why: 1/d_k is how it falls for wide heads; the exact value is 1 over the root of (1 + r**2) d_k + (r d_k)**2.
    Look at: the branch.
    """
    refuse_scale(d_k, correlation)
    return 1 / d_k if correlation else d_k**-0.5


@misconception("scale-variance-without-correlation", of="unit_rms_scale")
def plain_variance(d_k, correlation=0.0):
    """You add the squared mean but keep the variance of independent q and k, d_k; under correlation it is (1 + r**2) d_k.

    Example: d_k=1, correlation=1: you give 0.707, right is 0.577.
    Why: E[(q_i k_i)**2] = 1 + 2 r**2 for jointly normal numbers, so Var[q_i k_i] = 1 + r**2.
    Look at: the fourth moment: with r = 1 it is E[q_i**4] = 3.
    """
    refuse_scale(d_k, correlation)
    return (d_k + (correlation * d_k) ** 2) ** -0.5


@misconception("scale-variance-shrinks", of="unit_rms_scale")
def one_minus(d_k, correlation=0.0):
    """You use 1 - r**2 for the variance of a term; that is what is left of k once q is known. The product has 1 + r**2.

    Example: d_k=1, correlation=1: you give 1, right is 0.577.
    Why: E[(q_i k_i)**2] = 1 + 2 r**2, minus the squared mean r**2.
    Look at: the sign in front of correlation**2.
    """
    refuse_scale(d_k, correlation)
    return (d_k * (1 - correlation**2) + (correlation * d_k) ** 2) ** -0.5


@misconception("scale-second-moment-as-variance", of="unit_rms_scale")
def doubled(d_k, correlation=0.0):
    """You count the squared mean of each term twice: once in 1 + 2 r**2 and again in (r d_k)**2.

    Example: d_k=1, correlation=1: you give 0.5, right is 0.577.
    Why: 1 + 2 r**2 is the second moment of a term, its variance is 1 + r**2.
    Look at: d_k = 1, where E[s**2] must be 1 + 2 r**2.
    """
    refuse_scale(d_k, correlation)
    return (d_k * (1 + 2 * correlation**2) + (correlation * d_k) ** 2) ** -0.5


@misconception("scale-terms-independent-of-their-mean", of="unit_rms_scale", question="mup-scale")
def no_cross_terms(d_k, correlation=0.0):
    """You add the second moments of the terms; second moments of a sum also have the products of different terms.

    Example: d_k=2, correlation=-0.5: you give 0.577, right is 0.535.
    Why: E[s**2] = d_k (1 + 2 r**2) + d_k (d_k - 1) r**2: the terms have a mean, so their products don't average out.
    Look at: how fast your scale falls with d_k.
    """
    refuse_scale(d_k, correlation)
    return (d_k * (1 + 2 * correlation**2)) ** -0.5


@misconception("scale-correlation-not-squared", of="unit_rms_scale")
def not_squared(d_k, correlation=0.0):
    """Your second moment has |r| * d_k**2 in it; the squared mean is (r * d_k)**2.

    Example: d_k=7, correlation=0.2: you give 0.242, right is 1 / sqrt(7 * 1.04 + 1.96) = 0.329.
    Why: E[s] is r d_k, and all of it is squared.
    Look at: every power of correlation: each is 2.
    """
    refuse_scale(d_k, correlation)
    return (d_k * (1 + correlation**2) + abs(correlation) * d_k**2) ** -0.5


@misconception("scale-not-inverted", of="unit_rms_scale")
def inverted(d_k, correlation=0.0):
    """You return the root mean square itself; the scale is one over it.

    Example: d_k=64: you give 8, right is 1/8.
    Why: c multiplies the score.
    Look at: the sign of the exponent.
    """
    refuse_scale(d_k, correlation)
    return (d_k * (1 + correlation**2) + (correlation * d_k) ** 2) ** 0.5


@misconception("scale-without-the-root", of="unit_rms_scale")
def no_root(d_k, correlation=0.0):
    """You divide by the mean square; c is squared along with the score, so c is one over its root.

    Example: d_k=64: you give 1/64, right is 1/8.
    Why: E[(c s)**2] = c**2 E[s**2].
    Look at: the exponent -0.5.
    """
    refuse_scale(d_k, correlation)
    return 1 / (d_k * (1 + correlation**2) + (correlation * d_k) ** 2)


@misconception("scale-correlation-not-refused", of="unit_rms_scale")
def correlation_unchecked(d_k, correlation=0.0):
    """You accept correlations outside -1 .. 1.

    Example: `unit_rms_scale(4, 1.5)` gives a number where a ValueError is asked.
    Why: no two numbers correlate by more than 1.
    Look at: `if abs(correlation) > 1: raise ValueError("correlation ...")`.
    """
    refuse_width(d_k)
    return (d_k * (1 + correlation**2) + (correlation * d_k) ** 2) ** -0.5


@misconception("scale-correlation-refused-above-alone", of="unit_rms_scale")
def above_alone(d_k, correlation=0.0):
    """You refuse a correlation above 1 but accept one below -1.

    Example: `unit_rms_scale(4, -1.5)` gives a number where a ValueError is asked.
    Why: the bound is on the size of the correlation.
    Look at: `abs(correlation) > 1`.
    """
    refuse_scale(d_k, max(correlation, 0.0))
    return (d_k * (1 + correlation**2) + (correlation * d_k) ** 2) ** -0.5


@misconception("scale-negative-correlation-refused", of="unit_rms_scale")
def negative_refused(d_k, correlation=0.0):
    """You refuse negative correlations; everything from -1 to 1 is possible.

    Example: `unit_rms_scale(2, -0.5)` is 0.535.
    Why: q and k may point away from each other.
    Look at: the lower end of the range.
    """
    refuse_scale(d_k, correlation)
    if correlation < 0:
        raise ValueError("correlation must not be negative")
    return (d_k * (1 + correlation**2) + (correlation * d_k) ** 2) ** -0.5


@misconception("scale-full-correlation-refused", of="unit_rms_scale")
def full_refused(d_k, correlation=0.0):
    """You refuse a correlation of exactly 1 or -1; only more than that is impossible.

    Example: `unit_rms_scale(1, 1.0)` is 3 ** -0.5 = 0.577: q and k are the same number.
    Why: the contract refuses |correlation| > 1.
    Look at: `> 1` or `>= 1`.
    """
    refuse_scale(d_k, correlation)
    if abs(correlation) == 1:
        raise ValueError("correlation must lie between -1 and 1")
    return (d_k * (1 + correlation**2) + (correlation * d_k) ** 2) ** -0.5


@misconception("scale-width-not-refused", of="unit_rms_scale")
def scale_width_unchecked(d_k, correlation=0.0):
    """You don't refuse a d_k below 1.

    Example: `unit_rms_scale(0)` divides by zero, `unit_rms_scale(-4, 0.5)` gives a number.
    Why: a ValueError that names d_k tells the caller what is wrong.
    Look at: `if d_k < 1: raise ValueError("d_k ...")`.
    """
    refuse_scale(1, correlation)
    return (d_k * (1 + correlation**2) + (correlation * d_k) ** 2) ** -0.5


@misconception("scale-nothing-refused", of="unit_rms_scale")
def scale_nothing_refused(d_k, correlation=0.0):
    """You refuse nothing; a d_k below 1 and a correlation outside -1 .. 1 are a ValueError.

    Example: `unit_rms_scale(4, 1.5)` gives a number.
    Why: a silent wrong number travels on.
    Look at: `if abs(correlation) > 1: raise ValueError("correlation ...")`, and the same for d_k.
    """
    return (d_k * (1 + correlation**2) + (correlation * d_k) ** 2) ** -0.5
