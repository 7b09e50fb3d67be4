"""What people get wrong in exercise 05: saturation, over what it is averaged."""

import torch
from attngrade.misconceptions import misconception
from attngrade.solutions.exercise05_qk_norm import saturation

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
    return saturation(logits.flatten() if logits.dim() else logits)


@misconception("saturation-of-one-row-per-entry-of-the-first-axis", of="saturation")
def saturation_of_one_row_per_entry(logits):
    """Your saturation takes all that lies behind the first axis for one row; only the last axis is a row.

    Example: logits of shape (2, 3, 5): you take two softmaxes over 15 numbers each; right are six over 5.
    Why: a query spreads its attention over its own keys, whatever axes stand in front.
    Look at: `reshape(len(logits), -1)` or `flatten(1)`; `reshape(-1, logits.shape[-1])` keeps rows whole.
    """
    return saturation(logits.flatten(1) if logits.dim() > 2 else logits)


@misconception("saturation-of-all-queries-of-a-head", of="saturation")
def saturation_of_all_queries(logits):
    """Your saturation takes the last two axes, queries and keys, for one row; only the last axis is a row.

    Example: two rows of zeros, 2 keys each: right is 0.5, yours is that of four keys, 0.433.
    Why: a query spreads its attention over its own keys.
    Look at: `flatten(-2)` or `dim=(-2, -1)` before or in the softmax.
    """
    return saturation(logits.flatten(-2) if logits.dim() > 1 else logits)
