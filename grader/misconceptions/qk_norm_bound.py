"""What people get wrong in exercise 05: logit_bound."""

import torch
from attngrade.misconceptions import misconception
from attngrade.solutions.exercise05_qk_norm import logit_bound

# ---------------------------------------------------------------- logit_bound


def _with_bound(bound):
    """logit_bound with another formula; ``bound`` takes both gains in float64."""

    def function(q_gain, k_gain):
        logit_bound(q_gain, k_gain)  # for its refusals
        return float(bound(q_gain.double(), k_gain.double()))

    return function


@misconception("bound-without-root-dh", of="logit_bound")
def bound_without_root_dh(q_gain, k_gain):
    """Your bound is the largest product of gains alone; it lacks the factor sqrt(Dh).

    Example: gains of one, Dh = 64: right is 8, yours is 1.
    Why: both normed vectors have length sqrt(Dh), so their dot product reaches Dh, and the scale leaves sqrt(Dh).
    Look at: the length of x / rms(x).
    """
    return _with_bound(lambda a, b: (a * b).abs().max())(q_gain, k_gain)


@misconception("bound-with-dh", of="logit_bound")
def bound_with_dh(q_gain, k_gain):
    """Your bound has the factor Dh; the scale 1 / sqrt(Dh) of the logits is forgotten.

    Example: gains of one, Dh = 64: right is 8, yours is 64.
    Why: the dot product reaches Dh, and the logit is that divided by sqrt(Dh).
    Look at: the power of Dh, one half.
    """
    return _with_bound(lambda a, b: len(a) * (a * b).abs().max())(q_gain, k_gain)


@misconception("bound-divided-by-root-dh", of="logit_bound")
def bound_divided_by_root_dh(q_gain, k_gain):
    """Your bound is divided by sqrt(Dh); it is multiplied by it.

    Example: gains of one, Dh = 64: right is 8, yours is 1/8.
    Why: that would be the bound for vectors of length 1; after RMS norm they have length sqrt(Dh).
    Look at: the length of x / rms(x).
    """
    return _with_bound(lambda a, b: (a * b).abs().max() / len(a) ** 0.5)(q_gain, k_gain)


@misconception("bound-of-separate-maxima", of="logit_bound")
def bound_of_separate_maxima(q_gain, k_gain):
    """Your bound multiplies the largest q_gain by the largest k_gain, though they may stand at different places.

    Example: q_gain = (5, 1), k_gain = (1, 4): right is sqrt(2) * 5, yours is sqrt(2) * 20, which no input reaches.
    Why: component i of the query only meets component i of the key, so the products q_gain_i * k_gain_i count.
    Look at: multiply first, then take the maximum.
    """
    return _with_bound(lambda a, b: len(a) ** 0.5 * a.abs().max() * b.abs().max())(q_gain, k_gain)


@misconception("bound-of-signed-maxima", of="logit_bound", extends="bound-of-separate-maxima")
def bound_of_signed_maxima(q_gain, k_gain):
    """Your bound multiplies the largest q_gain by the largest k_gain, without signs and without looking at their places.

    Example: q_gain = (-5, 1), k_gain = (1, 4): right is sqrt(2) * 5, yours is sqrt(2) * 4.
    Why: component i of the query only meets component i of the key, and a negative gain of 5 is as large as a positive one.
    Look at: multiply first, then the absolute value, then the maximum.
    """
    return _with_bound(lambda a, b: len(a) ** 0.5 * a.max() * b.max())(q_gain, k_gain)


@misconception("bound-without-absolute-value", of="logit_bound")
def bound_without_absolute_value(q_gain, k_gain):
    """Your bound takes the largest product with its sign; a large negative product counts as much.

    Example: q_gain = (1, -3), k_gain = (1, 2): right is sqrt(2) * 6, yours is sqrt(2) * 1.
    Why: turning the key around turns the sign of the logit, and |logit| is bounded.
    Look at: abs before max.
    """
    return _with_bound(lambda a, b: len(a) ** 0.5 * (a * b).max())(q_gain, k_gain)


@misconception("bound-absolute-value-too-late", of="logit_bound", extends="bound-without-absolute-value")
def bound_absolute_value_too_late(q_gain, k_gain):
    """Your bound takes the absolute value after the maximum; a large negative product has lost by then.

    Example: q_gain = (1, -3), k_gain = (1, 2): right is sqrt(2) * 6, yours is sqrt(2) * 1.
    Why: max compares signed numbers, so -6 loses against 1.
    Look at: abs before max.
    """
    return _with_bound(lambda a, b: len(a) ** 0.5 * (a * b).max().abs())(q_gain, k_gain)


@misconception("bound-by-the-sum", of="logit_bound")
def bound_by_the_sum(q_gain, k_gain):
    """Your bound adds up all products of gains; the best input puts everything on the largest one.

    Example: gains of one, Dh = 64: right is 8, yours is 64 over or times some root.
    Why: the length of q and k is fixed as a whole: sqrt(Dh) on every component at once is not possible.
    Look at: max, not sum.
    """
    return _with_bound(lambda a, b: (a * b).abs().sum())(q_gain, k_gain)


@misconception("bound-by-the-sum-over-root", of="logit_bound", extends="bound-by-the-sum")
def bound_by_the_sum_over_root(q_gain, k_gain):
    """Your bound spreads q and k over all components (a sum over sqrt(Dh), or sqrt(Dh) times a mean); other directions reach further.

    Example: q_gain = (3, 0.1), k_gain = (1, 1): right is sqrt(2) * 3 = 4.24, yours is 3.1 / sqrt(2) = 2.19.
    Why: the length sqrt(Dh) may lie on one component alone, the one with the largest product.
    Look at: max, not sum.
    """
    return _with_bound(lambda a, b: (a * b).abs().sum() / len(a) ** 0.5)(q_gain, k_gain)


@misconception("bound-by-the-sum-times-root", of="logit_bound", extends="bound-by-the-sum")
def bound_by_the_sum_times_root(q_gain, k_gain):
    """Your bound adds up all products of gains and multiplies by sqrt(Dh); no input comes near it.

    Example: gains of one, Dh = 64: right is 8, yours is 512.
    Why: the length of q and k is fixed as a whole; the best input spends it on the largest product.
    Look at: max, not sum.
    """
    return _with_bound(lambda a, b: len(a) ** 0.5 * (a * b).abs().sum())(q_gain, k_gain)


@misconception("bound-by-lengths", of="logit_bound")
def bound_by_lengths(q_gain, k_gain):
    """Your bound multiplies the lengths of the two gain vectors; that is an upper bound and not the least one.

    Example: gains of one, Dh = 4: right is 2, yours is 4 times a root of 4.
    Why: the gains act on each component, so only the largest product counts, not their lengths.
    Look at: q_gain * k_gain, then the largest in size.
    """
    return _with_bound(lambda a, b: len(a) ** 0.5 * a.norm() * b.norm())(q_gain, k_gain)


@misconception("bound-by-lengths-over-root", of="logit_bound", extends="bound-by-lengths")
def bound_by_lengths_over_root(q_gain, k_gain):
    """Your bound is |q_gain| * |k_gain| / sqrt(Dh), as if the gains were the vectors themselves.

    Example: q_gain = (3, 0.1), k_gain = (1, 0.1): right is sqrt(2) * 3 = 4.24, yours is 2.13.
    Why: the gains stretch each component of a vector that may point anywhere.
    Look at: q_gain * k_gain, then the largest in size.
    """
    return _with_bound(lambda a, b: a.norm() * b.norm() / len(a) ** 0.5)(q_gain, k_gain)


@misconception("bound-by-length-of-products", of="logit_bound")
def bound_by_length_of_products(q_gain, k_gain):
    """Your bound takes the length of the vector of products; the largest product alone decides.

    Example: gains of one, Dh = 4: right is 2, yours is 4.
    Why: a weighted dot product of two vectors of fixed length is largest where both lie on the largest weight.
    Look at: the infinity norm (max), not the 2-norm.
    """
    return _with_bound(lambda a, b: len(a) ** 0.5 * (a * b).norm())(q_gain, k_gain)


@misconception("bound-without-gains", of="logit_bound", question="qk-norm")
def bound_without_gains(q_gain, k_gain):
    """Your bound is sqrt(Dh) whatever the gains are; they multiply it.

    Example: q_gain = 3, k_gain = 1, Dh = 1: right is 3, yours is 1.
    Why: sqrt(Dh) is the bound for gains of one; gains are weights too, and nothing bounds them.
    Look at: max |q_gain_i * k_gain_i|.
    """
    return _with_bound(lambda a, b: len(a) ** 0.5)(q_gain, k_gain)


@misconception("bound-from-the-query-gain", of="logit_bound")
def bound_from_the_query_gain(q_gain, k_gain):
    """Your bound looks at q_gain only.

    Example: q_gain = (1, 1), k_gain = (2, 2): right is sqrt(2) * 2.
    Why: both gains multiply the logit.
    Look at: q_gain * k_gain.
    """
    return _with_bound(lambda a, b: len(a) ** 0.5 * a.abs().max())(q_gain, k_gain)


@misconception("bound-with-the-smallest", of="logit_bound")
def bound_with_the_smallest(q_gain, k_gain):
    """Your bound takes the smallest product of gains; the largest decides.

    Example: q_gain = (3, 0.1), k_gain = (1, 1): right is sqrt(2) * 3.
    Why: q and k may point along the component with the largest product.
    Look at: max, not min.
    """
    return _with_bound(lambda a, b: len(a) ** 0.5 * (a * b).abs().min())(q_gain, k_gain)


@misconception("bound-with-the-root-of-the-gains", of="logit_bound")
def bound_with_the_root_of_the_gains(q_gain, k_gain):
    """Your bound puts the gains under the root; only Dh stands there.

    Example: q_gain = k_gain = (4,): right is 16, yours is 4.
    Why: the logit is linear in each gain: doubling one doubles the bound.
    Look at: what the square root covers.
    """
    return _with_bound(lambda a, b: (len(a) * (a * b).abs().max()).sqrt())(q_gain, k_gain)


@misconception("bound-squares-the-product", of="logit_bound")
def bound_squares_the_product(q_gain, k_gain):
    """Your bound squares the product of gains.

    Example: q_gain = (3,), k_gain = (1,): right is 3, yours is 9.
    Why: the logit is linear in each gain: doubling one doubles the bound.
    Look at: the power of q_gain * k_gain.
    """
    return _with_bound(lambda a, b: len(a) ** 0.5 * (a * b).square().max())(q_gain, k_gain)


@misconception("bound-as-a-tensor", of="logit_bound")
def bound_as_a_tensor(q_gain, k_gain):
    """Your bound is a tensor; a number is asked, a Python or NumPy float.

    Example: logit_bound(q_gain, k_gain) must be 8.0, not tensor(8.).
    Why: a tensor would drag the graph of the gains along and prints, compares and serialises differently.
    Look at: .item() or float(...) at the end.
    """
    return torch.tensor(logit_bound(q_gain, k_gain), dtype=q_gain.dtype)


@misconception("bound-for-any-gains", of="logit_bound")
def bound_for_any_gains(q_gain, k_gain):
    """Your bound doesn't look at the shapes of the gains: what broadcasts passes, the rest is torch's RuntimeError.

    Example: q_gain of shape (3,) and k_gain of shape (1,): asked is a ValueError that names one of them.
    Why: both gains are (Dh,), one number per component.
    Look at: rank and length of both, before computing.
    """
    return (max(q_gain.shape[-1:], default=1) ** 0.5) * (q_gain.double() * k_gain.double()).abs().max().item()


@misconception("bound-for-a-k-gain-of-one-number", of="logit_bound")
def bound_for_a_k_gain_of_one(q_gain, k_gain):
    """Your bound accepts a k_gain of a single number beside a longer q_gain; one number per component is asked of both.

    Example: q_gain of shape (3,) and k_gain of shape (1,): asked is a ValueError that names one of them.
    Why: both gains are (Dh,); a single one is a different model.
    Look at: the condition under which you refuse k_gain: a length of 1 passes it.
    """
    return logit_bound(q_gain, k_gain.expand(len(q_gain)) if q_gain.dim() == 1 and k_gain.shape == (1,) else k_gain)


@misconception("bound-for-either-gain-of-one-number", of="logit_bound")
def bound_for_either_gain_of_one(q_gain, k_gain):
    """Your bound accepts a gain of a single number, q_gain or k_gain, beside a longer one; one number per component is asked of both.

    Example: q_gain of shape (3,) and k_gain of shape (1,), or the other way round: asked is a ValueError that names one of them.
    Why: both gains are (Dh,); a single one is a different model.
    Look at: the condition under which you refuse: two lengths that broadcast pass it, and they have to be equal.
    """
    if q_gain.dim() == k_gain.dim() == 1 and 1 in (len(q_gain), len(k_gain)):
        q_gain, k_gain = torch.broadcast_tensors(q_gain, k_gain)
    return logit_bound(q_gain, k_gain)


@misconception("bound-for-gains-of-any-rank", of="logit_bound")
def bound_for_gains_of_any_rank(q_gain, k_gain):
    """Your bound only asks that both gains have the same shape; each must be a vector, (Dh,).

    Example: two gains of shape (2, 3): asked is a ValueError that names one of them.
    Why: a gain has one axis, and with two the width Dh is anybody's guess.
    Look at: q_gain.dim() == 1.
    """
    if q_gain.shape != k_gain.shape:
        raise ValueError("q_gain and k_gain differ in shape")
    return (max(q_gain.shape[-1:], default=1) ** 0.5) * (q_gain.double() * k_gain.double()).abs().max().item()


@misconception("assert-in-the-bound", of="logit_bound")
def assert_in_the_bound(q_gain, k_gain):
    """Your bound refuses with assert; a ValueError is asked.

    Example: gains of different length end in an AssertionError.
    Why: asserts vanish under `python -O`, and callers can't tell a wrong argument from a broken program.
    Look at: assert; write `if ...: raise ValueError("q_gain ...")`.
    """
    assert q_gain.dim() == 1 and q_gain.shape == k_gain.shape
    return logit_bound(q_gain, k_gain)
