"""What people get wrong in exercise 02 about the softmax: more ways to shift, to treat -inf, and to turn the axes."""

import numpy as np
from attngrade.misconceptions import misconception
from attngrade.solutions.exercise02_softmax_jacobian import narrow, softmax, widen

__all__: list[str] = []  # filled by `wrong_softmax`: every misconception below


def wrong_softmax(name, **options):
    """A misconception of softmax, exported; what overflows in it does so quietly."""

    def mark(code):
        __all__.append(code.__name__)
        return misconception(name, of="softmax", **options)(code)

    return mark


def shared_out(weights, z, axis):
    with np.errstate(all="ignore"):
        return narrow(weights / weights.sum(axis=axis, keepdims=True), z)


@wrong_softmax("softmax-shifted-by-the-minimum")
def shifted_by_minimum(z, axis=-1):
    """You take away the minimum; then every exponent is positive, and large ones overflow. The maximum makes the largest exponent 0.

    Example: z=[1e300, 0, 3] gives NaN, and an entry of -inf makes all of them NaN.
    Why: exp overflows upwards; downwards it only becomes 0.
    Look at: `max` in place of `min`.
    """
    x = widen(z)
    with np.errstate(all="ignore"):
        return shared_out(np.exp(x - x.min(axis=axis, keepdims=True)), z, axis)


@wrong_softmax("softmax-shifted-by-the-first-entry")
def shifted_by_first(z, axis=-1):
    """You take away the first entry; only the maximum makes sure that no exponent is positive.

    Example: z=[-1000, 1000] overflows, and a first entry of -inf makes everything NaN.
    Why: any constant cancels, but only the largest score bounds the exponents.
    Look at: `max`.
    """
    x = widen(z)
    with np.errstate(all="ignore"):
        return shared_out(np.exp(x - np.take(x, [0], axis=axis)), z, axis)


@wrong_softmax("softmax-shift-in-the-sum-alone")
def shift_in_the_sum(z, axis=-1):
    """You shift in the sum and not in the numerator: exp(z) / sum(exp(z - max)).

    Example: z=[0, 0] happens to be right; [0, ln 2] gives [2/3, 4/3], right is [1/3, 2/3].
    Why: the shift cancels only if numerator and denominator have it.
    Look at: the two exponentials.
    """
    x = widen(z)
    with np.errstate(all="ignore"):
        return narrow(np.exp(x) / np.exp(x - x.max(axis=axis, keepdims=True)).sum(axis=axis, keepdims=True), z)


@wrong_softmax("softmax-shift-in-the-numerator-alone")
def shift_in_the_numerator(z, axis=-1):
    """You shift in the numerator and not in the sum: exp(z - max) / sum(exp(z)).

    Example: z=[0, ln 2] gives [1/6, 1/3], right is [1/3, 2/3].
    Why: the shift cancels only if numerator and denominator have it.
    Look at: the two exponentials.
    """
    x = widen(z)
    with np.errstate(all="ignore"):
        return narrow(np.exp(x - x.max(axis=axis, keepdims=True)) / np.exp(x).sum(axis=axis, keepdims=True), z)


@wrong_softmax("softmax-log-of-an-unshifted-sum")
def unshifted_logarithm(z, axis=-1):
    """You return exp(z - log(sum(exp(z)))) without a shift: the sum overflows to infinity, or underflows to 0, before its logarithm is taken.

    Example: z=[1000, 1001] gives [0, 0], right is [0.269, 0.731].
    Why: log(sum(exp(z))) = max + log(sum(exp(z - max))), and only the right side is finite.
    Look at: the exponentials inside the logarithm.
    """
    x = widen(z)
    with np.errstate(all="ignore"):
        return narrow(np.exp(x - np.log(np.exp(x).sum(axis=axis, keepdims=True))), z)


@wrong_softmax("softmax-nan-made-zero")
def nan_made_zero(z, axis=-1):
    """You let exp overflow and replace what comes of it (`np.nan_to_num`); the weights of large scores are then 0.

    Example: z=[1000, 1001] gives [0, 0], right is [0.269, 0.731].
    Why: NaN says that the digits are gone; no replacement brings them back.
    Look at: `z - z.max(axis=axis, keepdims=True)` before exp.
    """
    with np.errstate(all="ignore"):
        weights = np.exp(widen(z))
        return narrow(np.nan_to_num(weights / weights.sum(axis=axis, keepdims=True)), z)


@wrong_softmax("softmax-divided-by-the-largest-size")
def divided_by_size(z, axis=-1):
    """You divide the scores by their largest size so that exp can't overflow; that changes their differences.

    Example: z=[0, ln 2] gives [0.269, 0.731], right is [1/3, 2/3].
    Why: only a shift leaves the softmax unchanged; a factor makes it softer or sharper.
    Look at: what is done to z before exp.
    """
    x = widen(z)
    with np.errstate(all="ignore"):
        size = np.abs(x).max(axis=axis, keepdims=True)
        return shared_out(np.exp(x / np.where(size > 0, size, 1)), z, axis)


@wrong_softmax("softmax-standardised")
def standardised(z, axis=-1):
    """You standardise the scores (mean 0, deviation 1) before exp; the softmax takes them as they are.

    Example: z=[0, ln 2] gives [0.119, 0.881], right is [1/3, 2/3].
    Why: only a shift leaves the softmax unchanged; a factor makes it softer or sharper.
    Look at: what is done to z before exp.
    """
    x = widen(z)
    with np.errstate(all="ignore"):
        deviation = x.std(axis=axis, keepdims=True)
        x = (x - x.mean(axis=axis, keepdims=True)) / np.where(deviation > 0, deviation, 1)
        return shared_out(np.exp(x), z, axis)


@wrong_softmax("softmax-shares-of-the-scores")
def shares_of_scores(z, axis=-1):
    """You divide the scores by their sum, without exp.

    Example: z=[1, 3] gives [0.25, 0.75], right is [0.119, 0.881].
    Why: weights are proportional to exp(z), so that negative scores have positive weights too.
    Look at: exp.
    """
    with np.errstate(all="ignore"):
        return shared_out(widen(z), z, axis)


@wrong_softmax("softmax-sigmoid")
def sigmoid(z, axis=-1):
    """You return 1 / (1 + exp(-z)), a sigmoid for each score; the softmax makes them share a sum of 1.

    Example: z=[0, 0, 0, 0] gives 0.5 each, right is 0.25.
    Why: raising one score takes weight from all others.
    Look at: the sum over the axis.
    """
    with np.errstate(all="ignore"):
        return narrow(1 / (1 + np.exp(-widen(z))), z)


@wrong_softmax("softmax-euclidean-length")
def euclidean_length(z, axis=-1):
    """You divide the exponentials by their Euclidean length; the weights have to sum to 1.

    Example: z=[0, 0, 0, 0] gives 0.5 each, right is 0.25.
    Why: the softmax divides by the plain sum.
    Look at: `np.linalg.norm`, or a square in the normaliser.
    """
    x = widen(z)
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return narrow(weights / np.sqrt((weights**2).sum(axis=axis, keepdims=True)), z)


@wrong_softmax("softmax-minus-infinity-as-the-lowest-number")
def infinity_as_lowest(z, axis=-1):
    """You replace -inf by the lowest number of the dtype (`finfo.min`, or `np.nan_to_num`); beside a score as low as that the hidden entry gets weight.

    Example: z=[lowest, -inf] gives [0.5, 0.5], right is [1, 0].
    Why: -inf is smaller than every number, and exp of it is exactly 0.
    Look at: what stands for -inf.
    """
    x = np.asarray(z)
    return softmax(np.where(np.isneginf(x), np.finfo(x.dtype).min, x), axis)


@wrong_softmax("softmax-minus-infinity-as-zero")
def infinity_as_zero(z, axis=-1):
    """You replace -inf by 0 before exp; the hidden entry then has the weight of a score of 0.

    Example: z=[0, -inf] gives [0.5, 0.5], right is [1, 0].
    Why: the weight is to be 0, not the score; exp(-inf) is 0 already.
    Look at: what stands for -inf, and whether it is put in before or after exp.
    """
    x = np.asarray(z)
    return softmax(np.where(np.isneginf(x), x.dtype.type(0), x), axis)


@wrong_softmax("softmax-minus-infinity-left-out")
def infinity_left_out(z, axis=-1):
    """You leave the entries of -inf out: the result has fewer entries than z.

    Example: z=[0, -inf] gives [1], right is [1, 0].
    Why: a hidden entry keeps its place, with weight 0.
    Look at: `z[np.isfinite(z)]`.
    """
    x = np.asarray(z)
    return softmax(x[~np.isneginf(x)]) if np.isneginf(x).any() else softmax(x, axis)


@wrong_softmax("softmax-minus-infinity-refused")
def infinity_refused(z, axis=-1):
    """You refuse scores of -inf; they are legal, and get weight exactly 0.

    Example: z=[0, -inf] must give [1, 0].
    Why: -inf is how attention hides an entry.
    Look at: `np.isfinite` in your checks: NaN and +inf are strange, -inf isn't.
    """
    if not np.isfinite(z).all():
        raise ValueError("z must be finite")
    return softmax(z, axis)


@wrong_softmax("softmax-middle-axes-forgotten")
def middle_axes_forgotten(z, axis=-1):
    """You know the first axis and the last; any axis between them is taken for the last.

    Example: for shape (2, 3, 5) and axis=1 the weights sum to 1 along the last axis.
    Why: `axis` is any axis, counted from either end.
    Look at: `if axis == 0: ... z.T`; every reduction of NumPy takes `axis` itself.
    """
    return softmax(z, 0 if axis in (0, -np.ndim(z)) else -1)


@wrong_softmax("softmax-negative-axes-forgotten")
def negative_axes_forgotten(z, axis=-1):
    """You take every negative axis for the last one; -2 is the one before it.

    Example: for shape (2, 3, 5) and axis=-2 the weights sum to 1 along the last axis.
    Why: a negative axis counts from the end.
    Look at: `axis % z.ndim`, or hand `axis` on as it is.
    """
    return softmax(z, axis if axis >= 0 else -1)


@wrong_softmax("softmax-axis-moved-by-transposition")
def axis_transposed(z, axis=-1):
    """For any axis but the last you take `z.T`, which turns all axes round; only for two axes is that a swap.

    Example: for shape (2, 3, 5) and axis=1 the weights sum to 1 along the first axis.
    Why: `z.T` of three axes is (5, 3, 2): its last axis is the first of z.
    Look at: `np.moveaxis(z, axis, -1)`, or hand `axis` on as it is.
    """
    return softmax(z, -1 if axis in (-1, np.ndim(z) - 1) else 0)


@wrong_softmax("softmax-two-axes-at-most")
def two_axes_at_most(z, axis=-1):
    """You handle vectors and matrices; an array with more axes fails.

    Example: z of shape (2, 3, 5) must give (2, 3, 5).
    Why: `softmax` takes any number of axes.
    Look at: `axis` and `keepdims` in place of indices and `[:, None]`.
    """
    if np.ndim(z) > 2:
        raise ValueError("z must have one or two axes")
    return softmax(z, axis)


@wrong_softmax("softmax-axis-moved-the-same-way-twice")
def axis_moved_twice(z, axis=-1):
    """You bring `axis` to the end and then move it the same way once more; the way back has source and destination the other way round.

    Example: for shape (2, 3, 5) and axis=0 you return the shape (5, 2, 3). Two axes change places either way, so a matrix shows nothing.
    Why: after the first move the axis stands at -1, and another one has its old place.
    Look at: the last `np.moveaxis`, which goes from -1 to `axis`; a permutation is undone by its `np.argsort`, not by itself.
    """
    return np.moveaxis(np.moveaxis(softmax(z, axis), axis, -1), axis, -1)


@wrong_softmax("softmax-axis-moved-to-the-front-twice")
def axis_moved_to_the_front_twice(z, axis=-1):
    """You bring `axis` to the front and then move it the same way once more; the way back has source and destination the other way round.

    Example: for shape (2, 3, 5) and the last axis you return the shape (3, 5, 2). Two axes change places either way, so a matrix shows nothing.
    Why: after the first move the axis stands at 0, and another one has its old place.
    Look at: the last `np.moveaxis`, which goes from 0 to `axis`; a permutation is undone by its `np.argsort`, not by itself.
    """
    return np.moveaxis(np.moveaxis(softmax(z, axis), axis, 0), axis, 0)


@wrong_softmax("softmax-rows-in-the-order-of-memory")
def rows_in_memory_order(z, axis=-1):
    """You take the rows in the order in which they lie in memory and put them back in the order of the axes.

    Example: for shape (2, 3, 5) and axis=0 every weight is right, and most of them stand in the wrong place.
    Why: after `swapaxes` an array may lie in Fortran order; order="A" (or "K") then counts the first axis fastest, and an array that is built anew counts the last.
    Look at: `order=` in `reshape`, `ravel` and `flatten`: leave it out both ways.
    """
    turned = np.swapaxes(np.asarray(z), axis, -1)
    rows = softmax(turned.reshape((-1, turned.shape[-1]), order="A"))
    return np.swapaxes(rows.reshape(turned.shape), axis, -1).copy()
