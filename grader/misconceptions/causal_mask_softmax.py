"""What people get wrong in exercise 03: masked_softmax, its axis, its maximum and its denominator."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.causal_mask_parts import widened
from attngrade.solutions import exercise03_causal_mask as right


@misconception("softmax-over-queries", of="masked_softmax")
def weights_over_queries(scores, mask):
    """Your weights are normalised over the queries, not over the keys: columns sum to 1 instead of rows.

    Example: zero scores (2, 3), nothing hidden: you return 1/2 everywhere, and 1/3 is right.
    Why: each query shares its weight among the keys, which are the last axis.
    Look at: the `dim` of the softmax (or of the sum): -1.
    """
    right.mask_scores(scores, mask)
    dim = -2 if scores.ndim > 1 else -1
    mask = mask.expand(scores.shape)
    logits = widened(scores).masked_fill(~mask, float("-inf"))
    logits = logits.masked_fill(~mask.any(dim, keepdim=True), 0.0)
    return logits.softmax(dim).masked_fill(~mask, 0.0).to(scores.dtype)


@misconception("softmax-over-axis-one", of="masked_softmax")
def over_axis_one(scores, mask):
    """Your softmax runs along axis 1, whatever that is: with (B, H, T_q, T_k) it normalises over the heads.

    Example: zero scores (2, 3, 4, 5), nothing hidden: you return 1/3 everywhere, and 1/5 is right.
    Why: axis 1 is the last one only for scores of two axes; the keys are always at -1.
    Look at: `dim=1` where `dim=-1` is meant.
    """
    right.mask_scores(scores, mask)
    mask = mask.expand(scores.shape)
    logits = widened(scores).masked_fill(~mask, float("-inf"))
    logits = logits.masked_fill(~mask.any(1, keepdim=True), 0.0)
    return logits.softmax(1).masked_fill(~mask, 0.0).to(scores.dtype)


@misconception("no-maximum-subtracted", of="masked_softmax", question="softmax-jacobian")
def no_maximum(scores, mask):
    """You exponentiate the scores as they are: large ones overflow, and very low ones underflow to 0 / 0.

    Example: float32 scores [[150, 150]]: exp(150) is infinite there, and [[0.5, 0.5]] is right.
    Why: exp overflows at 88.7 in float32. Subtracting the largest visible score changes no weight and keeps every exponent at or below 0.
    Look at: `torch.exp(scores)` without a maximum.
    """
    e = right.mask_scores(widened(scores), mask).exp()
    total = e.sum(-1, keepdim=True)
    return (e / torch.where(total > 0, total, 1.0)).to(scores.dtype)


@misconception("one-maximum-for-all-rows", of="masked_softmax")
def one_maximum(scores, mask):
    """You subtract the largest score of the whole tensor from every row: rows far below it underflow to nothing.

    Example: scores [[800, 800], [0, 0]]: exp(0 - 800) is 0 even in float64, so row 1 is lost; [[0.5, 0.5], [0.5, 0.5]] is right.
    Why: each row is a softmax of its own, so each subtracts its own maximum.
    Look at: `.max()` without a `dim`: it has to be `amax(-1, keepdim=True)`.
    """
    hidden = right.mask_scores(widened(scores), mask)
    top = hidden.max()
    e = (hidden - torch.where(top > float("-inf"), top, 0.0)).exp()
    total = e.sum(-1, keepdim=True)
    return (e / torch.where(total > 0, total, 1.0)).to(scores.dtype)


@misconception("maximum-of-the-hidden", of="masked_softmax")
def maximum_of_hidden(scores, mask):
    """You subtract the largest score of the row, hidden ones included: a large hidden score makes the visible ones underflow.

    Example: scores [[0, 1e4]], mask [[True, False]]: exp(0 - 1e4) is 0, so the visible key gets nothing; [[1, 0]] is right.
    Why: the weights have to be those of the visible keys, however large the hidden scores are: take the maximum after hiding.
    Look at: the line with `max`: it has to see the masked scores.
    """
    right.mask_scores(scores, mask)
    wide = widened(scores)
    e = (wide - wide.amax(-1, keepdim=True)).exp() * mask
    total = e.sum(-1, keepdim=True)
    return (e / torch.where(total > 0, total, 1.0)).to(scores.dtype)


@misconception("maximum-of-the-hidden-to-nan", of="masked_softmax")
def maximum_of_hidden_nan(scores, mask):
    """You subtract the largest score of the row, hidden ones included, and divide by a sum that may be 0.

    Example: scores [[0, 1e4]], mask [[True, False]]: exp(0 - 1e4) is 0, so you divide 0 by 0; [[1, 0]] is right.
    Why: take the maximum after hiding, and look after rows that see nothing: their sum is 0 as well.
    Look at: the line with `max`, and the division.
    """
    right.mask_scores(scores, mask)
    wide = widened(scores)
    e = (wide - wide.amax(-1, keepdim=True)).exp() * mask
    return (e / e.sum(-1, keepdim=True)).to(scores.dtype)


def with_epsilon(scores, mask, epsilon, shift=lambda top: top):
    hidden = right.mask_scores(widened(scores), mask)
    top = shift(hidden.amax(-1, keepdim=True))
    e = (hidden - torch.where(top > float("-inf"), top, 0.0)).exp()
    return (e / (e.sum(-1, keepdim=True) + epsilon)).to(scores.dtype)


@misconception("epsilon-in-the-denominator", of="masked_softmax")
def epsilon(scores, mask):
    """You add a small number to the denominator to avoid 0 / 0: the weights no longer sum to 1.

    Example: one visible key has to get exactly 1; with 1e-6 added it gets 0.999999.
    Why: in float64 the tolerance is 1e-9, and the empty row, which the number is there for, is easily found by its mask instead.
    Look at: the `+ 1e-6` beside the sum.
    """
    return with_epsilon(scores, mask, 1e-6)


@misconception("small-epsilon-in-the-denominator", of="masked_softmax")
def small_epsilon(scores, mask):
    """You add 1e-8 to the denominator to avoid 0 / 0: the weights no longer sum to 1, which float64 shows.

    Example: one visible key has to get exactly 1; with 1e-8 added it gets 0.99999999.
    Why: in float64 the tolerance is 1e-9, and the empty row, which the number is there for, is easily found by its mask instead.
    Look at: the `+ 1e-8` beside the sum.
    """
    return with_epsilon(scores, mask, 1e-8)


@misconception("epsilon-beside-a-fixed-maximum", of="masked_softmax")
def epsilon_detached(scores, mask):
    """You add a small number to the denominator to avoid 0 / 0: the weights no longer sum to 1.

    Example: one visible key has to get exactly 1; with 1e-6 added it gets 0.999999.
    Why: in float64 the tolerance is 1e-9, and the empty row, which the number is there for, is easily found by its mask instead.
    Look at: the `+ 1e-6` beside the sum.
    """
    return with_epsilon(scores, mask, 1e-6, torch.Tensor.detach)


@misconception("one-in-the-denominator", of="masked_softmax")
def plus_one(scores, mask):
    """You add 1 to the denominator, which makes empty rows 0 and every other row sum to less than 1.

    Example: scores [[0]], nothing hidden: you return [[0.5]], and [[1]] is right.
    Why: that's another function (a softmax with one more key that nobody sees). Here the visible keys share exactly 1.
    Look at: the `1 +` in the sum.
    """
    return with_epsilon(scores, mask, 1.0)


@misconception("exponentials-not-normalised", of="masked_softmax")
def not_normalised(scores, mask):
    """You return the exponentials without dividing by their sum.

    Example: scores [[0, 0]], nothing hidden: you return [[1, 1]], and [[0.5, 0.5]] is right.
    Why: weights are shares: the visible keys of a row share 1.
    Look at: the missing division.
    """
    hidden = right.mask_scores(widened(scores), mask)
    top = hidden.amax(-1, keepdim=True).detach()
    return (hidden - torch.where(top > float("-inf"), top, 0.0)).exp().to(scores.dtype)


@misconception("softmax-twice", of="masked_softmax")
def twice(scores, mask):
    """You take the softmax twice: the second one sees weights between 0 and 1, and flattens them.

    Example: scores [[0, 5, 10]]: you return about [[0.21, 0.21, 0.57]], and [[0.00005, 0.0067, 0.9933]] is right.
    Why: a softmax of probabilities can't be far from even.
    Look at: two calls of softmax on the way.
    """
    return right.masked_softmax(right.masked_softmax(scores, mask), mask)


@misconception("logarithms-of-weights", of="masked_softmax")
def logarithms(scores, mask):
    """You return the logarithms of the weights.

    Example: scores [[0, 0]], nothing hidden: you return [[-0.69, -0.69]], and [[0.5, 0.5]] is right.
    Why: hidden keys get the weight 0, and the visible ones share 1.
    Look at: `log_softmax`.
    """
    return right.mask_scores(widened(scores), mask).log_softmax(-1).to(scores.dtype)
