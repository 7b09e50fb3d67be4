"""What people get wrong in exercise 05: logit_bound and saturation."""

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


# ---------------------------------------------------------------- saturation


def _probabilities(logits):
    if logits.dim() == 0:
        raise ValueError("logits has rank 0")
    return logits.double().softmax(-1)


def _jacobian(p):
    return torch.diag_embed(p) - p[..., :, None] * p[..., None, :]


def _frobenius(p):
    return _jacobian(p).square().sum((-2, -1)).sqrt()


@misconception("saturation-sums", of="saturation")
def saturation_sums(logits):
    """Your saturation adds the norms of all rows; the mean is asked.

    Example: the same row twice must give the same number as once, yours is doubled.
    Why: a sum grows with batch, heads and tokens and says nothing about how alive the gradient is.
    Look at: the last step, mean.
    """
    return _frobenius(_probabilities(logits)).sum().item()


@misconception("saturation-of-the-largest-row", of="saturation")
def saturation_of_the_largest_row(logits):
    """Your saturation takes the largest norm of all rows; the mean is asked.

    Example: one soft row among a hundred saturated ones must not hide them.
    Why: the mean says how much of the attention can still learn.
    Look at: the last step, mean.
    """
    return _frobenius(_probabilities(logits)).max().item()


@misconception("saturation-of-the-median-row", of="saturation")
def saturation_of_the_median_row(logits):
    """Your saturation takes the median of the rows; the mean is asked.

    Example: for norms 0, 0 and 0.3 right is 0.1, yours is 0.
    Why: the number is defined as the mean over all rows.
    Look at: the last step, mean.
    """
    return _frobenius(_probabilities(logits)).median().item()


@misconception("saturation-of-the-first-row", of="saturation")
def saturation_of_the_first_row(logits):
    """Your saturation only looks at the first row (or batch element, or head).

    Example: changing the last row must change the number, yours stays.
    Why: the mean runs over all rows, whatever axes come before the last.
    Look at: an index [0] or a shape that is unpacked too early.
    """
    return _frobenius(_probabilities(logits)).flatten()[0].item()


@misconception("saturation-squared", of="saturation")
def saturation_squared(logits):
    """Your saturation averages squared norms; the root is missing.

    Example: p = (0.5, 0.5): the Jacobian has four entries of size 0.25, so right is 0.5, yours is 0.25.
    Why: the Frobenius norm is the root of the sum of squares, taken for each row.
    Look at: sqrt before the mean.
    """
    return _frobenius(_probabilities(logits)).square().mean().item()


@misconception("saturation-root-of-the-mean", of="saturation")
def saturation_root_of_the_mean(logits):
    """Your saturation averages the squares over the rows and takes the root last; each row's root comes before the mean.

    Example: rows of norm 0.5 and 0: right is 0.25, yours is 0.354.
    Why: the mean of norms is asked, not the norm of all Jacobians together.
    Look at: the order of sqrt and mean.
    """
    return _frobenius(_probabilities(logits)).square().mean().sqrt().item()


@misconception("saturation-of-all-rows-together", of="saturation")
def saturation_of_all_rows_together(logits):
    """Your saturation takes one norm over the Jacobians of all rows at once; a norm per row and then the mean is asked.

    Example: the same row twice must give the same number as once, yours grows by sqrt(2).
    Why: torch.linalg.norm without an axis flattens everything.
    Look at: the axes of the norm, (-2, -1).
    """
    return _frobenius(_probabilities(logits)).square().sum().sqrt().item()


@misconception("saturation-of-the-mean-row", of="saturation")
def saturation_of_the_mean_row(logits):
    """Your saturation averages the probabilities (or the Jacobians) over the rows first and then takes one norm.

    Example: rows (1, 0) and (0, 1) are both one-hot, so right is 0; their mean (0.5, 0.5) gives 0.5.
    Why: averaging makes saturated rows look soft.
    Look at: norm first, mean last.
    """
    p = _probabilities(logits)
    return _frobenius(p.reshape(-1, p.shape[-1]).mean(0)).item()


@misconception("saturation-of-the-mean-jacobian", of="saturation", extends="saturation-of-the-mean-row")
def saturation_of_the_mean_jacobian(logits):
    """Your saturation averages the Jacobians over the rows first and then takes one norm.

    Example: two rows whose Jacobians differ in sign cancel each other in the mean.
    Why: the mean of norms is asked, not the norm of the mean.
    Look at: norm first, mean last.
    """
    jacobians = _jacobian(_probabilities(logits))
    return jacobians.reshape(-1, *jacobians.shape[-2:]).mean(0).square().sum().sqrt().item()


@misconception("saturation-over-queries", of="saturation")
def saturation_over_queries(logits):
    """Your saturation takes the softmax down the columns, over the queries; it runs over the last axis, the keys.

    Example: logits (T_q, T_k): each row sums to 1 after the softmax, not each column.
    Why: a query spreads its attention over the keys.
    Look at: dim=-1.
    """
    return _frobenius(_probabilities(logits if logits.dim() < 2 else logits.transpose(-2, -1))).mean().item()


@misconception("softmax-down-the-columns", of="saturation")
def softmax_down_the_columns(logits):
    """Your softmax runs down the columns (dim=-2) while the Jacobian is built along the rows; both belong to the last axis.

    Example: logits (T_q, T_k): each row sums to 1 after the softmax, not each column.
    Why: a query spreads its attention over the keys.
    Look at: dim=-1 in the softmax.
    """
    if logits.dim() == 0:
        raise ValueError("logits has rank 0")
    return _frobenius(logits.double().softmax(-2 if logits.dim() > 1 else -1)).mean().item()


@misconception("saturation-over-axis-0", of="saturation")
def saturation_over_axis_0(logits):
    """Your saturation takes the softmax over the first axis; it runs over the last one, the keys.

    Example: logits (B, H, T_q, T_k): axis 0 is the batch.
    Why: a query spreads its attention over the keys.
    Look at: dim=-1.
    """
    return _frobenius(_probabilities(logits if logits.dim() < 2 else logits.movedim(0, -1))).mean().item()


@misconception("saturation-of-one-long-row", of="saturation")
def saturation_of_one_long_row(logits):
    """Your saturation flattens the logits and takes one softmax over all of them; every row has a softmax of its own.

    Example: two rows of zeros, 2 keys each: right is 0.5, yours is that of four keys, 0.433.
    Why: a query spreads its attention over its own keys.
    Look at: flatten or view(-1) before the softmax.
    """
    return _frobenius(_probabilities(logits.flatten() if logits.dim() else logits)).mean().item()


@misconception("saturation-of-the-diagonal", of="saturation", question="softmax-jacobian")
def saturation_of_the_diagonal(logits):
    """Your saturation only counts the diagonal p_i (1 - p_i); the entries -p_i p_j beside it belong to the norm too.

    Example: p = (0.5, 0.5): right is 0.5, yours is 0.354.
    Why: raising one logit lowers the probability of all others.
    Look at: diag(p) - p p^T as a whole.
    """
    p = _probabilities(logits)
    return (p * (1 - p)).square().sum(-1).sqrt().mean().item()


@misconception("saturation-without-the-outer-product", of="saturation", question="softmax-jacobian")
def saturation_without_the_outer_product(logits):
    """Your Jacobian is diag(p) alone; p p^T is still to be subtracted.

    Example: a one-hot row must give 0, yours gives 1.
    Why: the derivative of the normaliser is what kills the gradient of a saturated row.
    Look at: diag(p) - p p^T.
    """
    return _probabilities(logits).square().sum(-1).sqrt().mean().item()


@misconception("saturation-plus-the-outer-product", of="saturation", question="softmax-jacobian")
def saturation_plus_the_outer_product(logits):
    """Your Jacobian adds p p^T; it is subtracted.

    Example: a one-hot row must give 0, yours gives 2.
    Why: raising one logit lowers the probability of all others.
    Look at: the sign in diag(p) - p p^T.
    """
    p = _probabilities(logits)
    return (torch.diag_embed(p) + p[..., :, None] * p[..., None, :]).square().sum((-2, -1)).sqrt().mean().item()


@misconception("saturation-of-the-outer-product", of="saturation")
def saturation_of_the_outer_product(logits):
    """Your saturation is the norm of p p^T; the Jacobian is diag(p) - p p^T.

    Example: a one-hot row must give 0, yours gives 1.
    Why: the derivative of p_i by its own logit is p_i (1 - p_i).
    Look at: diag(p).
    """
    return _probabilities(logits).square().sum(-1).mean().item()


@misconception("saturation-by-the-trace", of="saturation")
def saturation_by_the_trace(logits):
    """Your saturation is 1 - sum(p^2), the trace of the Jacobian; its Frobenius norm is asked.

    Example: three equal keys: right is 0.471, yours is 0.667.
    Why: the trace only sees the diagonal.
    Look at: the root of the sum of all squared entries.
    """
    return (1 - _probabilities(logits).square().sum(-1)).mean().item()


@misconception("saturation-by-the-largest-eigenvalue", of="saturation")
def saturation_by_the_largest_eigenvalue(logits):
    """Your saturation is the spectral norm of the Jacobian; the Frobenius norm is asked.

    Example: three equal keys: right is 0.471, yours is 0.333.
    Why: the Frobenius norm counts every direction, the spectral norm only the strongest.
    Look at: ord=2 where "fro" belongs.
    """
    return torch.linalg.eigvalsh(_jacobian(_probabilities(logits))).abs().amax(-1).mean().item()


@misconception("saturation-by-absolute-sum", of="saturation")
def saturation_by_absolute_sum(logits):
    """Your saturation adds up the sizes of the Jacobian's entries; the Frobenius norm adds their squares and takes the root.

    Example: p = (0.5, 0.5): right is 0.5, yours is 1.
    Why: the two measures differ by up to the number of keys.
    Look at: abs().sum() where square().sum().sqrt() belongs.
    """
    return _jacobian(_probabilities(logits)).abs().sum((-2, -1)).mean().item()


@misconception("saturation-by-mean-square-entry", of="saturation")
def saturation_by_mean_square_entry(logits):
    """Your saturation averages the squared entries of the Jacobian under the root; the Frobenius norm sums them.

    Example: p = (0.5, 0.5): right is 0.5, yours is 0.25.
    Why: a mean makes the number shrink with the number of keys squared.
    Look at: sum over both axes of the Jacobian, mean only over the rows.
    """
    return _jacobian(_probabilities(logits)).square().mean((-2, -1)).sqrt().mean().item()


@misconception("saturation-by-entropy", of="saturation")
def saturation_by_entropy(logits):
    """Your saturation is the entropy of the rows; the norm of the softmax Jacobian is asked.

    Example: two equal keys: right is 0.5, yours is log(2) = 0.693.
    Why: both fall to 0 for one-hot rows, but only the Jacobian is what the gradient is multiplied by.
    Look at: diag(p) - p p^T.
    """
    p = _probabilities(logits)
    return -(torch.special.xlogy(p, p)).sum(-1).mean().item()


@misconception("saturation-by-the-largest-weight", of="saturation")
def saturation_by_the_largest_weight(logits):
    """Your saturation is the mean of the largest weights; the norm of the softmax Jacobian is asked.

    Example: a one-hot row must give 0, yours gives 1.
    Why: the number shows how much gradient is left.
    Look at: diag(p) - p p^T.
    """
    return _probabilities(logits).amax(-1).mean().item()


@misconception("saturation-by-what-is-left", of="saturation")
def saturation_by_what_is_left(logits):
    """Your saturation is one minus the largest weight; the norm of the softmax Jacobian is asked.

    Example: three equal keys: right is 0.471, yours is 0.667.
    Why: both fall to 0 for one-hot rows, but only the Jacobian is what the gradient is multiplied by.
    Look at: diag(p) - p p^T.
    """
    return (1 - _probabilities(logits).amax(-1)).mean().item()


@misconception("saturation-of-the-log-softmax", of="saturation")
def saturation_of_the_log_softmax(logits):
    """Your Jacobian is that of the log-softmax; the softmax's own is asked.

    Example: a one-hot row must give 0, yours doesn't.
    Why: d log p_i / d z_j = delta_ij - p_j; times p_i it is the softmax's.
    Look at: log_softmax where softmax is meant.
    """
    p = _probabilities(logits)
    return (torch.eye(p.shape[-1], dtype=p.dtype) - p[..., None, :]).square().sum((-2, -1)).sqrt().mean().item()


@misconception("saturation-after-two-softmaxes", of="saturation")
def saturation_after_two_softmaxes(logits):
    """Your saturation takes the softmax of a softmax; the logits go through it once.

    Example: logits (0, 1000) are one-hot, so right is 0; yours is 0.393.
    Why: a second softmax sees numbers between 0 and 1 and makes every row soft.
    Look at: where the softmax is applied.
    """
    return _frobenius(_probabilities(logits).softmax(-1)).mean().item()


@misconception("saturation-scales-the-logits", of="saturation")
def saturation_scales_the_logits(logits):
    """Your saturation divides the logits by a root of their width before the softmax; they are scaled already.

    Example: logits (0, 4): yours looks softer than they are.
    Why: the scale 1 / sqrt(Dh) belongs to the logits' making, and the last axis here counts keys.
    Look at: a division before the softmax.
    """
    return _frobenius(_probabilities(logits / max(1, logits.shape[-1]) ** 0.5 if logits.dim() else logits)).mean().item()


@misconception("saturation-without-shift", of="saturation")
def saturation_without_shift(logits):
    """Your softmax doesn't subtract the row's maximum, so large logits overflow: exp(800) is inf, and inf/inf nan.

    Example: a row (800, 801): right is 0.393, yours is nan.
    Why: saturation is measured exactly where logits are large.
    Look at: subtract the maximum of each row before exp, or use softmax.
    """
    if logits.dim() == 0:
        raise ValueError("logits has rank 0")
    e = logits.double().exp()
    return _frobenius(e / e.sum(-1, keepdim=True)).mean().item()


@misconception("saturation-with-one-shift", of="saturation")
def saturation_with_one_shift(logits):
    """Your softmax subtracts one maximum for all rows; rows far below it become 0/0 = nan.

    Example: rows (800, 801) and (0, 1): the second is lost.
    Why: each row needs its own maximum: max over the last axis, with keepdim.
    Look at: max() without an axis.
    """
    if logits.dim() == 0:
        raise ValueError("logits has rank 0")
    e = (logits.double() - logits.double().max()).exp()
    return _frobenius(e / e.sum(-1, keepdim=True)).mean().item()


@misconception("saturation-root-of-a-negative", of="saturation")
def saturation_root_of_a_negative(logits):
    """Your saturation takes the root of a difference that rounding pushes below 0 for nearly one-hot rows: nan.

    Example: a row with a gap of 20: sum(p^2) - 2 sum(p^3) + sum(p^2)^2 comes out as about -1e-16.
    Why: the terms are near 1 and cancel; what is left is rounding.
    Look at: clamp(min=0) before the root, or build the Jacobian.
    """
    p = _probabilities(logits)
    s = p.square().sum(-1)
    return (s - 2 * p.pow(3).sum(-1) + s * s).sqrt().mean().item()


@misconception("saturation-in-the-dtype-of-the-logits", of="saturation")
def saturation_in_the_dtype_of_the_logits(logits):
    """Your saturation runs in the dtype of the logits: squares of small probabilities vanish in float16.

    Example: 811 equal float16 logits: each p^2 is 1.5e-6, next to float16's smallest number.
    Why: exponentials, squares and sums belong in float32 at least.
    Look at: logits.float() or .double() before the softmax.
    """
    if logits.dim() == 0:
        raise ValueError("logits has rank 0")
    p = logits.softmax(-1)
    s = p.square().sum(-1)
    return (s - 2 * p.pow(3).sum(-1) + s * s).clamp(min=0).sqrt().mean().item()


@misconception("saturation-float64-through-float32", of="saturation")
def saturation_float64_through_float32(logits):
    """Your saturation converts to float32, so float64 logits lose half of their digits.

    Example: float64 logits: yours agrees with the right number to 7 digits; asked are 9.
    Why: .float() widens float16 and narrows float64.
    Look at: logits.double().
    """
    if logits.dim() == 0:
        raise ValueError("logits has rank 0")
    return _frobenius(logits.float().softmax(-1)).mean().item()


@misconception("saturation-as-a-tensor", of="saturation")
def saturation_as_a_tensor(logits):
    """Your saturation is a tensor; a number is asked, a Python or NumPy float.

    Example: saturation(logits) must be 0.41, not tensor(0.41).
    Why: a number is for looking at; a tensor would keep the graph alive.
    Look at: .item() or float(...) at the end.
    """
    return _frobenius(_probabilities(logits)).mean()


@misconception("saturation-row-by-row", of="saturation")
def saturation_row_by_row(logits):
    """Your saturation returns one number per row; their mean is asked.

    Example: logits (3, 4) must give one float.
    Why: the number sums up all rows, batch and heads included.
    Look at: mean() without an axis, at the end.
    """
    return _frobenius(_probabilities(logits))


@misconception("saturation-in-place", of="saturation")
def saturation_in_place(logits):
    """Your saturation writes into the logits: the caller's tensor is changed by the call.

    Example: after saturation(logits), logits itself is shifted.
    Why: -=, sub_ and exp_ work in place, and .double() of a float64 tensor is that same tensor.
    Look at: operations with an underscore, and augmented assignments.
    """
    if logits.dim() == 0:
        raise ValueError("logits has rank 0")
    z = logits.double()
    z -= z.max(-1, keepdim=True).values
    return _frobenius(_probabilities(z)).mean().item()


@misconception("saturation-in-place-in-every-dtype", of="saturation", extends="saturation-in-place")
def saturation_in_place_in_every_dtype(logits):
    """Your saturation shifts the caller's logits in place, whatever their dtype.

    Example: after saturation(logits), each row of logits has its maximum at 0.
    Why: -= and sub_ write into the argument; z - z.max(...) makes a new tensor.
    Look at: operations with an underscore, and augmented assignments.
    """
    if logits.dim() == 0:
        raise ValueError("logits has rank 0")
    logits -= logits.max(-1, keepdim=True).values
    return _frobenius(_probabilities(logits)).mean().item()


@misconception("saturation-of-a-number", of="saturation")
def saturation_of_a_number(logits):
    """Your saturation accepts logits of rank 0, a single number without a row.

    Example: saturation(torch.tensor(0.5)): asked is a ValueError that names logits.
    Why: there is no axis of keys to take a softmax over.
    Look at: logits.dim() == 0.
    """
    return _frobenius(logits.double().reshape(-1).softmax(-1) if logits.dim() == 0 else _probabilities(logits)).mean().item()


@misconception("saturation-of-four-axes-only", of="saturation")
def saturation_of_four_axes_only(logits):
    """Your saturation only works on logits of rank 4; any rank from 1 on is allowed.

    Example: saturation(torch.zeros(5)) must be 0.4, yours raises an error.
    Why: the rows are everything before the last axis, however many axes that is.
    Look at: B, H, T_q, T_k = logits.shape, or fixed axis numbers.
    """
    if logits.dim() != 4:
        raise ValueError("logits must have rank 4")
    return _frobenius(_probabilities(logits)).mean().item()
