"""What people get wrong in exercise 02: the softmax here; the Jacobian, its product and its norm and results that share memory, in files beside this one."""

import numpy as np
from attngrade.misconceptions import misconception
from attngrade.misconceptions.softmax_jacobian_entries import *  # noqa: F403
from attngrade.misconceptions.softmax_jacobian_matrix import *  # noqa: F403
from attngrade.misconceptions.softmax_jacobian_norm import *  # noqa: F403
from attngrade.misconceptions.softmax_jacobian_product import *  # noqa: F403
from attngrade.misconceptions.softmax_jacobian_shift import *  # noqa: F403
from attngrade.misconceptions.softmax_jacobian_state import *  # noqa: F403
from attngrade.misconceptions.softmax_jacobian_terms import *  # noqa: F403
from attngrade.misconceptions.softmax_jacobian_vjp import *  # noqa: F403
from attngrade.misconceptions.softmax_jacobian_winner import *  # noqa: F403


def wide(z):
    z = np.asarray(z)
    return z.astype(np.result_type(z.dtype, np.float32))


def back(result, z):
    return result.astype(np.asarray(z).dtype)


def normalised(weights, axis):
    with np.errstate(all="ignore"):
        return weights / weights.sum(axis=axis, keepdims=True)


def right(z, axis=-1):
    x = wide(z)
    return back(normalised(np.exp(x - x.max(axis=axis, keepdims=True)), axis), z)


@misconception("softmax-no-shift", of="softmax")
def no_shift(z, axis=-1):
    """You take exp of the scores as they are; from about 709 on (88 in float32, 11 in float16) it overflows, and inf / inf is NaN.

    Example: z=[1000, 1001] gives NaN, right is [0.269, 0.731].
    Why: exp(z - c) / sum(exp(z - c)) is the same for every constant c; with c = max(z) the largest exponent is 0.
    Look at: `z - z.max(axis=axis, keepdims=True)` before exp.
    """
    with np.errstate(all="ignore"):
        return back(normalised(np.exp(wide(z)), axis), z)


@misconception("softmax-maximum-of-everything", of="softmax")
def global_maximum(z, axis=-1):
    """You take away the maximum of the whole array; every row needs its own.

    Example: [[1000, 1001], [0, 1]]: the second row underflows to 0 / 0, right is [0.269, 0.731] twice.
    Why: exp(0 - 1001) is 0, so a row of small scores has nothing left to normalise.
    Look at: `axis` and `keepdims` in the maximum.
    """
    x = wide(z)
    with np.errstate(all="ignore"):
        return back(normalised(np.exp(x - x.max()), axis), z)


@misconception("softmax-sum-of-everything", of="softmax")
def global_sum(z, axis=-1):
    """You divide by the sum over the whole array; the weights must sum to 1 along the axis.

    Example: for shape (3, 4) all twelve weights together sum to 1.
    Why: each row is a distribution of its own.
    Look at: `axis` and `keepdims` in the sum.
    """
    x = wide(z)
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return back(weights / weights.sum(), z)


@misconception("softmax-of-everything", of="softmax")
def of_everything(z, axis=-1):
    """You normalise over the whole array at once; maximum and sum run along one axis.

    Example: for shape (3, 4) all twelve weights together sum to 1.
    Why: each row is a distribution of its own.
    Look at: `axis` and `keepdims` in the maximum and in the sum.
    """
    x = wide(z)
    weights = np.exp(x - x.max())
    return back(weights / weights.sum(), z)


@misconception("softmax-axis-ignored", of="softmax")
def axis_ignored(z, axis=-1):
    """You always normalise along the last axis, whatever `axis` says.

    Example: for shape (3, 4) and axis=0 the columns don't sum to 1.
    Why: `axis` names the axis along which the weights sum to 1.
    Look at: every `-1` in the function.
    """
    return right(z, -1)


@misconception("softmax-axis-not-moved-back", of="softmax")
def axis_not_moved_back(z, axis=-1):
    """You bring `axis` to the end and leave it there; the result has its axes in another order.

    Example: for shape (3, 4) and axis=0 you return the shape (4, 3).
    Why: the result has the shape of z, entry for entry.
    Look at: a second `np.moveaxis` at the end, from -1 to `axis`.
    """
    return np.moveaxis(right(z, axis), axis, -1)


@misconception("softmax-axis-moved-back-to-the-front", of="softmax")
def axis_moved_to_the_front(z, axis=-1):
    """You bring `axis` to the end and put it back at the front, wherever it came from.

    Example: for shape (3, 4) and the last axis you return the shape (4, 3).
    Why: the result has the shape of z, entry for entry; only axis 0 comes from the front.
    Look at: the second `swapaxes` or `moveaxis`: from -1 to `axis`, not to 0.
    """
    return np.swapaxes(np.swapaxes(right(z, axis), axis, -1), 0, -1)


@misconception("softmax-reshaped-instead-of-moved", of="softmax")
def reshaped(z, axis=-1):
    """You reshape so that the last axis has the length of `axis`; that mixes entries of different rows unless `axis` is the last.

    Example: for shape (3, 4) and axis=0 you cut the twelve numbers into four runs of three neighbours.
    Why: reshape keeps the order in memory; `np.moveaxis` moves an axis.
    Look at: `reshape(-1, z.shape[axis])`.
    """
    x = wide(z)
    return right(x.reshape(-1, x.shape[axis])).reshape(x.shape).astype(np.asarray(z).dtype)


@misconception("softmax-first-axis-by-default", of="softmax")
def first_axis(z, axis=0):
    """Your default axis is 0; it is the last one, -1.

    Example: for shape (3, 4) without an axis the columns sum to 1, the rows don't.
    Why: scores of one query lie along the last axis.
    Look at: the def line.
    """
    return right(z, axis)


@misconception("softmax-axis-one-by-default", of="softmax")
def second_axis(z, axis=1):
    """Your default axis is 1; it is the last one, -1.

    Example: a vector has no axis 1, and in shape (2, 3, 5) axis 1 isn't the last.
    Why: scores of one query lie along the last axis.
    Look at: the def line.
    """
    return right(z, axis)


@misconception("softmax-maximum-along-the-last-axis", of="softmax")
def maximum_last(z, axis=-1):
    """Your maximum runs along the last axis even if another one is named; it must run along the axis of the sum.

    Example: for columns of very different size and axis=0 the small column underflows.
    Why: the shift must be one constant within everything that is summed together.
    Look at: the axis of `max`.
    """
    x = wide(z)
    with np.errstate(all="ignore"):
        return back(normalised(np.exp(x - x.max(axis=-1, keepdims=True)), axis), z)


@misconception("softmax-sum-along-the-last-axis", of="softmax")
def sum_last(z, axis=-1):
    """Your sum runs along the last axis even if another one is named; it must run along the axis of the maximum.

    Example: z of shape (2, 3), all zero, axis=0: you give 1/3 everywhere, right is 1/2.
    Why: the weights along the named axis have to add up to one.
    Look at: the axis of `sum`.
    """
    x = wide(z)
    return back(normalised(np.exp(x - x.max(axis=axis, keepdims=True)), -1), z)


@misconception("softmax-lost-axis", of="softmax")
def lost_axis(z, axis=-1):
    """Your sum loses its axis and is broadcast along the wrong one (keepdims).

    Example: for shape (4, 4) row i is divided by the sum of row j; other shapes don't fit at all.
    Why: NumPy lines shapes up from the right, so (4,) meets the columns.
    Look at: `keepdims=True`.
    """
    x = wide(z)
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return back(weights / weights.sum(axis=axis), z)


@misconception("softmax-shifted-by-the-mean", of="softmax")
def mean_shift(z, axis=-1):
    """You take away the mean; only the maximum makes sure that no exponent is positive.

    Example: z=[1e300, 0, 3] still overflows.
    Why: the largest score may lie far above the mean.
    Look at: `max` in place of `mean`.
    """
    x = wide(z)
    with np.errstate(all="ignore"):
        return back(normalised(np.exp(x - x.mean(axis=axis, keepdims=True)), axis), z)


@misconception("softmax-shifted-by-the-size", of="softmax")
def size_shift(z, axis=-1):
    """You take away the largest absolute value; for rows of negative scores everything underflows.

    Example: z=[-1000, -1001] gives 0 / 0.
    Why: the largest exponent must be 0, so the largest score itself is taken away, with its sign.
    Look at: the `abs`.
    """
    x = wide(z)
    with np.errstate(all="ignore"):
        return back(normalised(np.exp(x - np.abs(x).max(axis=axis, keepdims=True)), axis), z)


@misconception("softmax-shifted-by-the-finite-size", of="softmax", extends="softmax-shifted-by-the-size")
def shifted_by_finite_size(z, axis=-1):
    """You take away the largest absolute value (of the finite scores); for rows of negative scores everything underflows.

    Example: z=[-1000, -1001]: exp(-2000) / 0 is NaN, right is [0.731, 0.269].
    Why: the largest exponent should be 0, so the maximum is wanted, whatever its sign.
    Look at: the `abs`.
    """
    x = wide(z)
    with np.errstate(all="ignore"):
        return back(normalised(np.exp(x - np.abs(np.where(np.isfinite(x), x, 0)).max(axis=axis, keepdims=True)), axis), z)


@misconception("softmax-clipped", of="softmax")
def clipped(z, axis=-1):
    """You clip the scores so that exp can't overflow; scores beyond the edge become equal.

    Example: z=[1000, 1001] gives [0.5, 0.5], right is [0.269, 0.731].
    Why: only differences count, and a shift by the maximum keeps them all.
    Look at: `np.clip`.
    """
    return back(normalised(np.exp(np.clip(wide(z), -80, 80)), axis), z)


@misconception("softmax-epsilon", of="softmax")
def epsilon(z, axis=-1):
    """You add a small number to the sum; after the shift the sum is at least 1, and the weights no longer sum to 1.

    Example: with 1e-8 the weights are off in the eighth digit; nine are asked.
    Why: the largest term of the sum is exp(0) = 1, so nothing has to be protected.
    Look at: the epsilon.
    """
    x = wide(z)
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return back(weights / (weights.sum(axis=axis, keepdims=True) + 1e-8), z)


@misconception("softmax-epsilon-of-a-millionth", of="softmax", extends="softmax-epsilon")
def epsilon_of_a_millionth(z, axis=-1):
    """You add a small number to the sum; after the shift the sum is at least 1, and the weights no longer sum to 1.

    Example: with 1e-6 the weights are off in the sixth digit; nine are asked.
    Why: the largest term of the sum is exp(0) = 1, so nothing has to be protected.
    Look at: the epsilon.
    """
    x = wide(z)
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return back(weights / (weights.sum(axis=axis, keepdims=True) + 1e-6), z)


@misconception("softmax-plus-one", of="softmax")
def plus_one(z, axis=-1):
    """Your sum has an extra 1 in it (a silent extra score); the weights then sum to less than 1.

    Example: z=[0, 0, 0, 0] gives 1/5 each, right is 1/4.
    Why: the softmax divides by the sum of the exponentials and nothing else.
    Look at: the denominator.
    """
    x = wide(z)
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return back(weights / (1 + weights.sum(axis=axis, keepdims=True)), z)


@misconception("softmax-twice", of="softmax")
def twice(z, axis=-1):
    """You apply the softmax to its own result.

    Example: z=[0, ln 2] gives [0.417, 0.583], right is [1/3, 2/3].
    Why: weights lie between 0 and 1, so a second softmax makes them nearly equal.
    Look at: every call of softmax.
    """
    return right(right(z, axis), axis)


@misconception("softmax-base-two", of="softmax")
def base_two(z, axis=-1):
    """You take powers of 2; the softmax takes powers of e.

    Example: z=[0, ln 2] gives [0.382, 0.618], right is [1/3, 2/3].
    Why: 2**z is exp(z ln 2): the scores are multiplied by 0.693.
    Look at: `exp2`.
    """
    x = wide(z)
    return back(normalised(np.exp2(x - x.max(axis=axis, keepdims=True)), axis), z)


@misconception("softmax-scores-scaled", of="softmax")
def scores_scaled(z, axis=-1):
    """You divide the scores by the root of their number; the softmax takes them as they are.

    Example: z=[0, ln 2] gives [0.380, 0.620], right is [1/3, 2/3].
    Why: a scale like d_k ** -0.5 belongs to the scores of attention and is applied before.
    Look at: every factor beside z.
    """
    x = wide(z) / wide(z).dtype.type(np.sqrt(np.shape(z)[axis]))
    return back(normalised(np.exp(x - x.max(axis=axis, keepdims=True)), axis), z)


@misconception("softmax-sign-turned", of="softmax")
def minimum(z, axis=-1):
    """You give the largest weight to the smallest score.

    Example: z=[0, ln 2] gives [2/3, 1/3], right is [1/3, 2/3].
    Why: exp grows with z.
    Look at: the sign of the exponent.
    """
    x = wide(z)
    return back(normalised(np.exp(x.min(axis=axis, keepdims=True) - x), axis), z)


@misconception("softmax-logarithm", of="softmax")
def logarithm(z, axis=-1):
    """You return the logarithms of the weights.

    Example: z=[0, 0, 0, 0] gives -1.386 each, right is 0.25.
    Why: weights are positive and sum to 1.
    Look at: the return line.
    """
    x = wide(z)
    shifted = x - x.max(axis=axis, keepdims=True)
    return back(shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True)), z)


@misconception("softmax-unnormalised", of="softmax")
def unnormalised(z, axis=-1):
    """You return the exponentials without dividing by their sum.

    Example: z=[0, 0, 0, 0] gives 1 each, right is 0.25.
    Why: weights sum to 1.
    Look at: the return line.
    """
    x = wide(z)
    return back(np.exp(x - x.max(axis=axis, keepdims=True)), z)


@misconception("softmax-minus-infinity-is-nan", of="softmax")
def infinity_times_zero(z, axis=-1):
    """An entry of -inf makes your weights NaN; it must get weight 0 and leave the others alone.

    Example: z=[0, -inf] gives NaN, right is [1, 0].
    Why: -inf minus a finite maximum is -inf, and exp of it is 0; a mean, a minimum or a product with -inf is not finite.
    Look at: every operation on z before exp.
    """
    x = wide(z)
    gone = np.isneginf(x).any(axis=axis, keepdims=True)
    return back(np.where(gone, np.nan, wide(right(z, axis))), z)


@misconception("softmax-minus-infinity-as-a-number", of="softmax")
def infinity_as_number(z, axis=-1):
    """You replace -inf by a finite number; where all other scores are smaller still, the hidden entry wins.

    Example: z=[-1e300, -inf, -1e300] gives weight to the entry of -inf, right is [0.5, 0, 0.5].
    Why: -inf is smaller than every score, and exp of it is exactly 0.
    Look at: the number that stands for -inf.
    """
    x = wide(z)
    return back(wide(right(np.where(np.isneginf(x), x.dtype.type(-1e9), x), axis)), z)


@misconception("softmax-in-float16", of="softmax")
def in_float16(z, axis=-1):
    """With float16 scores you sum in float16, which ends at 65504.

    Example: 80,000 equal scores have a sum of 80,000, which is inf there, and all weights are 0.
    Why: sums, exponentials and normalisers run in float32; the result is cast back once.
    Look at: the dtype of the exponentials.
    """
    z = np.asarray(z)
    with np.errstate(all="ignore"):
        weights = np.exp(z - z.max(axis=axis, keepdims=True))
        return weights / weights.sum(axis=axis, keepdims=True)


@misconception("softmax-always-float64", of="softmax")
def always_float64(z, axis=-1):
    """You return float64 whatever came in.

    Example: float32 scores give float64 weights.
    Why: a result has the dtype of its input.
    Look at: `.astype(z.dtype)` at the end.
    """
    return wide(right(np.asarray(z, dtype=np.float64), axis))


@misconception("softmax-float16-becomes-float32", of="softmax")
def not_cast_back(z, axis=-1):
    """float16 scores come back as float32: the result isn't cast back.

    Example: `softmax(z).dtype` is float32 for float16 z.
    Why: compute wide, return what came in.
    Look at: `.astype(z.dtype)` at the end.
    """
    return right(wide(z), axis)


@misconception("softmax-always-float32", of="softmax")
def always_float32(z, axis=-1):
    """You compute in float32 whatever came in: seven digits are left of float64 scores, and 1e300 is infinite.

    Example: z=[1e300, 1e300, -1e300] gives NaN.
    Why: float64 scores ask for float64 arithmetic.
    Look at: every float32 in the function.
    """
    with np.errstate(all="ignore"):
        x = np.asarray(z).astype(np.float32)
        return back(normalised(np.exp(x - x.max(axis=axis, keepdims=True)), axis), z)


@misconception("softmax-changes-its-argument", of="softmax")
def in_place(z, axis=-1):
    """You write into the caller's own array.

    Example: after the call z holds shifted scores.
    Why: no function changes an argument.
    Look at: `z -= ...` or `out=z`.
    """
    result = right(z, axis)
    z -= z.max(axis=axis, keepdims=True)
    return result


@misconception("softmax-one-hot", of="softmax")
def one_hot(z, axis=-1):
    """You give all the weight to the largest score; that is the argmax.

    Example: z=[0, ln 2] gives [0, 1], right is [1/3, 2/3].
    Why: the softmax is soft: weights are proportional to exp(z).
    Look at: what happens between the maximum and the result.
    """
    x = wide(z)
    return back(normalised((x == x.max(axis=axis, keepdims=True)).astype(x.dtype), axis), z)


@misconception("softmax-divided-by-the-maximum", of="softmax")
def divided(z, axis=-1):
    """You divide by the maximum where it has to be taken away; that changes all differences.

    Example: z=[1000, 1001] gives [0.4998, 0.5002], right is [0.269, 0.731].
    Why: exp(z - c) has the factor exp(-c) everywhere, and it cancels; exp(z / c) has no such factor.
    Look at: `z / z.max()`.
    """
    x = wide(z)
    with np.errstate(all="ignore"):
        return back(normalised(np.exp(x / x.max(axis=axis, keepdims=True)), axis), z)
