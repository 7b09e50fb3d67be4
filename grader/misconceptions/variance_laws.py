"""What people get wrong in exercise 01 about the law of a score and its shape: other recipes, other refusals. Compared by their statistics."""

import numpy as np
from attngrade.misconceptions import misconception

__all__: list[str] = []  # filled by `draws`: every misconception below


def draws(name, **options):
    """A misconception of sample_scores, exported."""

    def mark(code):
        __all__.append(code.__name__)
        return misconception(name, of="sample_scores", at="statistics", **options)(code)

    return mark


def refuse_sample(n, d_k):
    if n < 0:
        raise ValueError(f"n must not be negative, got {n}")
    if d_k < 1:
        raise ValueError(f"d_k must be at least 1, got {d_k}")


def right(rng, n, d_k, scale):
    return scale * (rng.standard_normal((n, d_k)) * rng.standard_normal((n, d_k))).sum(axis=-1)


# ---------------------------------------------------------------- the law of one score


@draws("draws-length-without-its-root")
def squared_length(rng, n, d_k, scale=1.0):
    """You multiply a normal number by the squared length of q, a chi-square variable; given q the score is normal with deviation |q|, its root.

    Example: at d_k=3 the variance is 15, right is 3.
    Why: Var[q . k given q] = |q|**2, so the deviation is |q|.
    Look at: `np.sqrt(rng.chisquare(d_k, n))`.
    """
    refuse_sample(n, d_k)
    return scale * rng.chisquare(d_k, n) * rng.standard_normal(n)


@draws("draws-length-without-its-root-over-root-d-k")
def squared_length_rescaled(rng, n, d_k, scale=1.0):
    """You multiply a normal number by the squared length of q over sqrt(d_k); given q the deviation is |q|, the root of a chi-square variable.

    Example: at d_k=3 the variance is 5, right is 3; at d_k=1 it is 3, right is 1.
    Why: dividing by sqrt(d_k) brings |q|**2 near the size of |q|, but its square is d_k + 2 on average, and it scatters more.
    Look at: `np.sqrt(rng.chisquare(d_k, n))`, and no division.
    """
    refuse_sample(n, d_k)
    return scale * rng.chisquare(d_k, n) / np.sqrt(d_k) * rng.standard_normal(n)


@draws("draws-difference-of-squares-not-halved")
def not_halved(rng, n, d_k, scale=1.0):
    """You draw a difference of two chi-square variables and don't halve it: q_i k_i = (a**2 - b**2) / 2 for independent standard normal a, b.

    Example: at d_k=3 the variance is 12, right is 3.
    Why: with q = (a + b) / sqrt(2) and k = (a - b) / sqrt(2) the product is half the difference.
    Look at: the factor 1/2.
    """
    refuse_sample(n, d_k)
    return scale * (rng.chisquare(d_k, n) - rng.chisquare(d_k, n))


@draws("draws-components-added")
def components_added(rng, n, d_k, scale=1.0):
    """You add q and k where they are multiplied: your scores are sums of 2 d_k normal numbers.

    Example: at d_k=3 the variance is 6, right is 3, and the scores are normal.
    Why: q . k is the sum of the products.
    Look at: the operator between q and k.
    """
    refuse_sample(n, d_k)
    return scale * (rng.standard_normal((n, d_k)) + rng.standard_normal((n, d_k))).sum(axis=-1)


@draws("draws-gaussian-of-deviation-d-k", extends="draws-gaussian-shortcut")
def gaussian_of_width(rng, n, d_k, scale=1.0):
    """You draw normal numbers with d_k for their standard deviation; d_k is the variance of a score, and scores of small heads aren't normal.

    Example: at d_k=3 the variance is 9, right is 3.
    Why: `rng.normal` takes the deviation; and whatever it takes, a sum of d_k products has heavier tails.
    Look at: q and k, drawn and multiplied.
    """
    refuse_sample(n, d_k)
    return scale * d_k * rng.standard_normal(n)


@draws("draws-of-one-component")
def one_component(rng, n, d_k, scale=1.0):
    """d_k doesn't reach your scores: each is one product of two numbers.

    Example: at d_k=64 the variance is 1, right is 64.
    Why: q . k has d_k terms.
    Look at: the shapes that you ask of `rng`: (n, d_k) for both.
    """
    refuse_sample(n, d_k)
    return right(rng, n, 1, scale)


@draws("draws-one-number-per-query")
def one_number_per_query(rng, n, d_k, scale=1.0):
    """All components of a query (or of a key) are the same number in your draws: one of the two arrays has the shape (n, 1), or one product is multiplied by sqrt(d_k).

    Example: at d_k=2 the variance is right, and the tails are too heavy.
    Why: NumPy stretches (n, 1) to (n, d_k) without a word; a sum of d_k independent products comes closer to a normal number.
    Look at: the shapes that you ask of `rng`.
    """
    refuse_sample(n, d_k)
    return scale * (rng.standard_normal((n, 1)) * rng.standard_normal((n, d_k))).sum(axis=-1)


@draws("draws-too-long-by-one")
def too_long(rng, n, d_k, scale=1.0):
    """Your dot products have one component more than d_k.

    Example: at d_k=3 the variance is 4, right is 3.
    Why: q and k have d_k components.
    Look at: the shapes that you ask of `rng`, or the bounds of your loop.
    """
    refuse_sample(n, d_k)
    return right(rng, n, d_k + 1, scale)


@draws("draws-shifted")
def shifted(rng, n, d_k, scale=1.0):
    """Your components have mean 1: the scores have mean d_k and three times the variance.

    Example: at d_k=3 the mean is 3, right is 0.
    Why: standard normal means mean 0 and variance 1.
    Look at: the arguments of `rng.normal`: the first one is the mean.
    """
    refuse_sample(n, d_k)
    return scale * (rng.normal(1, 1, (n, d_k)) * rng.normal(1, 1, (n, d_k))).sum(axis=-1)


@draws("draws-widened-by-root-d-k")
def widened_by_root(rng, n, d_k, scale=1.0):
    """You multiply by scale * sqrt(d_k); `scale` multiplies the score as it is.

    Example: at d_k=3 and scale 1 the variance is 9, right is 3.
    Why: the score grows with d_k by itself.
    Look at: every factor beside the score.
    """
    refuse_sample(n, d_k)
    return right(rng, n, d_k, scale * d_k**0.5)


# ---------------------------------------------------------------- shape and refusals


@draws("draws-as-a-row")
def as_a_row(rng, n, d_k, scale=1.0):
    """You return shape (1, n); a vector of shape (n,) is asked.

    Example: `sample_scores(rng, 5, 3).shape` is (1, 5).
    Why: a batch axis of length 1 is an axis.
    Look at: `keepdims`, `[None]` or a reshape at the end.
    """
    refuse_sample(n, d_k)
    return right(rng, n, d_k, scale)[None]


@draws("draws-squeezed")
def squeezed(rng, n, d_k, scale=1.0):
    """For n=1 your result has no axis at all: `squeeze` took the axis of the draws with it.

    Example: `sample_scores(rng, 1, 3).shape` is (), right is (1,).
    Why: n draws are n entries, for n = 1 as well.
    Look at: `squeeze()` without an axis.
    """
    refuse_sample(n, d_k)
    return np.squeeze(right(rng, n, d_k, scale))


@draws("draws-squeezed-to-a-number")
def squeezed_to_a_number(rng, n, d_k, scale=1.0):
    """For n=1 you return a plain number: `squeeze` took the axis of the draws with it, and arithmetic made a number of what was left.

    Example: `sample_scores(rng, 1, 3)` is a float, right is an array of shape (1,).
    Why: n draws are n entries, for n = 1 as well.
    Look at: `squeeze()` without an axis; `squeeze(-1)` or an index takes the one that you mean.
    """
    refuse_sample(n, d_k)
    return np.squeeze(right(rng, n, d_k, scale))[()]


@draws("draws-of-one-component-refused")
def one_component_refused(rng, n, d_k, scale=1.0):
    """You refuse d_k = 1; a head of one component is possible, only less than one isn't.

    Example: `sample_scores(rng, 5, 1)` has five entries.
    Why: the contract refuses a d_k below 1.
    Look at: `< 1` or `<= 1`.
    """
    refuse_sample(n, d_k - 1)
    return right(rng, n, d_k, scale)


@draws("draws-negative-count-taken-for-none")
def negative_count(rng, n, d_k, scale=1.0):
    """You answer a negative n with no scores; a ValueError is asked.

    Example: `sample_scores(rng, -3, 4)` gives an empty array.
    Why: a negative number of draws is a mistake of the caller's; a loop over `range(n)` never sees it.
    Look at: `if n < 0: raise ValueError("n ...")`.
    """
    refuse_sample(max(n, 0), d_k)
    return right(rng, max(n, 0), d_k, scale)


@draws("draws-single-draw-refused")
def single_refused(rng, n, d_k, scale=1.0):
    """You refuse n = 1; a single draw is possible.

    Example: `sample_scores(rng, 1, 3)` has one entry.
    Why: the contract refuses a negative n.
    Look at: `n < 0`.
    """
    refuse_sample(n, d_k)
    if n < 2:
        raise ValueError(f"n must be at least 2, got {n}")
    return right(rng, n, d_k, scale)
