"""What people get wrong in exercise 03: masked_softmax, what is hidden and rows where everything is."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.causal_mask_parts import filled, lowest, widened
from attngrade.solutions import exercise03_causal_mask as right

# ---------------------------------------------------------------- masked_softmax


@misconception("empty-rows-are-nan", of="masked_softmax", question="empty-row")
def empty_nan(scores, mask):
    """A row that sees nothing comes out as NaN; it has to be all zeros.

    Example: scores [[1, 2]], mask [[False, False]]: you return [[nan, nan]], and [[0, 0]] is right.
    Why: the softmax of a row of -inf subtracts -inf from -inf. One NaN row spoils the loss and every gradient.
    Look at: rows without a visible key before the softmax: give them something finite, and set their weights to 0 after it.
    """
    return right.mask_scores(widened(scores), mask).softmax(-1).to(scores.dtype)


@misconception("empty-rows-looked-after-only-together", of="masked_softmax", question="empty-row")
def only_together(scores, mask):
    """You look after rows that see nothing only if every row is such a row; a single one among others comes out as NaN.

    Example: mask [[False, False], [True, True]]: your row 0 is [nan, nan], and [0, 0] is right.
    Why: each row is a softmax of its own, so each has to be looked at.
    Look at: `mask.any()` without an axis: it has to be `mask.any(-1, keepdim=True)`.
    """
    weights = right.mask_scores(widened(scores), mask).softmax(-1).to(scores.dtype)
    return weights if mask.any() else right.masked_softmax(scores, mask)


@misconception("empty-rows-are-nan-by-addition", of="masked_softmax", question="empty-row")
def empty_nan_added(scores, mask):
    """A row that sees nothing comes out as NaN, and so does its gradient; both have to be all zeros.

    Example: scores [[1, 2]], mask [[False, False]]: you return [[nan, nan]], and [[0, 0]] is right.
    Why: the softmax of a row of -inf subtracts -inf from -inf. One NaN row spoils the loss and every gradient.
    Look at: rows without a visible key before the softmax: give them something finite, and set their weights to 0 after it.
    """
    right.mask_scores(scores, mask)
    return biased(scores, mask).softmax(-1).to(scores.dtype)


def biased(scores, mask):
    wide = widened(scores)
    return wide + torch.zeros(mask.shape, dtype=wide.dtype, device=wide.device).masked_fill(~mask, float("-inf"))


@misconception("empty-rows-repaired-too-late", of="masked_softmax", question="empty-row")
def weights_repaired_late(scores, mask):
    """You replace the NaN of a row that sees nothing after the softmax: the weights are right, and the gradient is NaN.

    Example: mask [[False, False]]: the weights are 0, and the gradient of the scores is NaN where it has to be 0.
    Why: backward still runs through the softmax of -inf, 0 times NaN is NaN, and a bias that was added passes it on. Prevent the NaN instead.
    Look at: `nan_to_num` or `torch.where(isnan, ...)` after the softmax: put something finite into such rows before it.
    """
    right.mask_scores(scores, mask)
    return biased(scores, mask).softmax(-1).nan_to_num(0.0).to(scores.dtype)


@misconception("empty-rows-share-evenly", of="masked_softmax", question="empty-row")
def share_evenly(scores, mask):
    """A row that sees nothing gives every key the same weight; it has to be all zeros.

    Example: scores [[1, 2]], mask [[False, False]]: you return [[0.5, 0.5]], and [[0, 0]] is right.
    Why: with the lowest finite number in place of -inf all scores of such a row are equal, and a softmax of equal scores is even.
    Look at: `torch.finfo(...).min`: set the hidden weights to 0 after the softmax.
    """
    wide = widened(scores)
    return filled(wide, mask, lowest(wide)).softmax(-1).to(scores.dtype)


@misconception("hidden-weights-from-minus-a-billion", of="masked_softmax", question="finite-mask-value")
def from_minus_billion(scores, mask):
    """You hide with a large negative number, such as -1e9: a row that sees nothing shares its weight evenly, and a lower visible score loses.

    Example: scores [[1, 2]], mask [[False, False]]: you return [[0.5, 0.5]], and [[0, 0]] is right.
    Why: a large number is only large beside others; -inf is below everything.
    Look at: the value that you fill in, and rows without a visible key.
    """
    return filled(widened(scores), mask, -1e9).softmax(-1).to(scores.dtype)


@misconception("minus-a-billion-added", of="masked_softmax", question="finite-mask-value")
def billion_added(scores, mask):
    """You add -1e9 to hidden scores: a hidden score larger than that still wins.

    Example: scores [[0, 1e30]], mask [[True, False]]: you give all the weight to the hidden key, and [[1, 0]] is right.
    Why: the weights have to be those of the visible keys however large the hidden scores are, so replace instead of adding.
    Look at: `scores + (1 - mask) * -1e9`: choose with `masked_fill` or `torch.where` and -inf.
    """
    right.mask_scores(scores, mask)
    wide = widened(scores)
    return (wide + (~mask).to(wide.dtype) * -1e9).softmax(-1).to(scores.dtype)


@misconception("minus-ten-thousand-added", of="masked_softmax", question="finite-mask-value")
def ten_thousand_added(scores, mask):
    """You add -1e4 to hidden scores: a hidden score larger than that still wins.

    Example: scores [[0, 1e5]], mask [[True, False]]: you give all the weight to the hidden key, and [[1, 0]] is right.
    Why: the weights have to be those of the visible keys however large the hidden scores are, so replace instead of adding.
    Look at: `scores + (1 - mask) * -1e4`: choose with `masked_fill` or `torch.where` and -inf.
    """
    right.mask_scores(scores, mask)
    wide = widened(scores)
    return (wide + (~mask).to(wide.dtype) * -1e4).softmax(-1).to(scores.dtype)


@misconception("minus-a-billion-then-emptied", of="masked_softmax", question="finite-mask-value")
def billion_emptied(scores, mask):
    """You hide with a large negative number, such as -1e9, and set hidden weights to 0 afterwards: a visible score below it gets no weight.

    Example: scores [[0.5, -1e10, 1]], only the middle one visible: you return zeros, and [[0, 1, 0]] is right.
    Why: the hidden keys took all the weight before you emptied them; -inf is below everything.
    Look at: the value that you fill in.
    """
    return filled(widened(scores), mask, -1e9).softmax(-1).masked_fill(~mask, 0.0).to(scores.dtype)


@misconception("minus-ten-thousand-then-emptied", of="masked_softmax", extends="minus-a-billion-then-emptied", question="finite-mask-value")
def ten_thousand_emptied(scores, mask):
    """You hide with -1e4 and set hidden weights to 0 afterwards: a visible score below it gets no weight.

    Example: scores [[0.5, -1e10, 1]], only the middle one visible: you return zeros, and [[0, 1, 0]] is right.
    Why: the hidden keys took all the weight before you emptied them; -inf is below everything.
    Look at: the value that you fill in.
    """
    return filled(widened(scores), mask, -1e4).softmax(-1).masked_fill(~mask, 0.0).to(scores.dtype)


@misconception("mask-after-the-softmax", of="masked_softmax", question="causal-mask-place")
def weights_after_softmax(scores, mask):
    """You take the softmax of all the scores and set the hidden weights to 0 afterwards: rows no longer sum to 1.

    Example: scores [[0, 0]], mask [[True, False]]: you return [[0.5, 0]], and [[1, 0]] is right.
    Why: the hidden keys are still in the denominator. Hide the scores before the softmax, and they never were there.
    Look at: the order of masking and softmax.
    """
    right.mask_scores(scores, mask)
    return (widened(scores).softmax(-1) * mask).to(scores.dtype)


@misconception("renormalised-after-the-softmax", of="masked_softmax", question="causal-mask-place")
def weights_renormalised(scores, mask):
    """You take the softmax of all the scores, set hidden weights to 0 and divide by what is left: with a large hidden score nothing is left.

    Example: scores [[0, 1e4]], mask [[True, False]]: the visible weight underflows to 0, and [[1, 0]] is right.
    Why: on paper this is the same number, but exp(0 - 1e4) is 0 in every float dtype: the visible scores are lost before you divide.
    Look at: the maximum that the softmax subtracts: it has to be that of the visible scores.
    """
    right.mask_scores(scores, mask)
    weights = widened(scores).softmax(-1) * mask
    total = weights.sum(-1, keepdim=True)
    return (weights / torch.where(total > 0, total, 1.0)).to(scores.dtype)


@misconception("renormalised-to-nan", of="masked_softmax", question="causal-mask-place")
def renormalised_nan(scores, mask):
    """You take the softmax of all the scores, set hidden weights to 0 and divide by what is left, which may be nothing: 0 / 0 is NaN.

    Example: scores [[0, 1e4]], mask [[True, False]]: you return [[nan, nan]], and [[1, 0]] is right.
    Why: exp(0 - 1e4) is 0 in every float dtype, and a row that sees nothing has nothing left either.
    Look at: the maximum that the softmax subtracts (it has to be that of the visible scores), and rows without a visible key.
    """
    right.mask_scores(scores, mask)
    weights = widened(scores).softmax(-1) * mask
    return (weights / weights.sum(-1, keepdim=True)).to(scores.dtype)


@misconception("hidden-scores-set-to-zero", of="masked_softmax", question="causal-mask-place")
def zeroed_scores(scores, mask):
    """You multiply the scores by the mask before the softmax: a hidden key keeps the weight of a score of 0.

    Example: scores [[0, 5]], mask [[True, False]]: you return [[0.5, 0.5]], and [[1, 0]] is right.
    Why: exp(0) is 1, not 0. A hidden key needs the score -inf.
    Look at: `scores * mask`.
    """
    return filled(widened(scores), mask, 0.0).softmax(-1).to(scores.dtype)


@misconception("hidden-scores-set-to-zero-then-emptied", of="masked_softmax", question="causal-mask-place")
def zeroed_then_emptied(scores, mask):
    """You set hidden scores to 0 and take their weights away after the softmax: what is left of a row no longer sums to 1.

    Example: scores [[0, 5]], mask [[True, False]]: you return [[0.5, 0]], and [[1, 0]] is right.
    Why: exp(0) is 1, so hidden keys are in the sum that you divide by, whether you drop them afterwards or not.
    Look at: `scores * mask` before the softmax and `weights * mask` behind it: -inf before it does both.
    """
    return filled(widened(scores), mask, 0.0).softmax(-1).masked_fill(~mask, 0.0).to(scores.dtype)


@misconception("hidden-exponentials-in-the-sum", of="masked_softmax", question="causal-mask-place")
def hidden_in_the_sum(scores, mask):
    """You set hidden scores to 0, sum all the exponentials and drop the hidden ones from the numerator alone: rows no longer sum to 1.

    Example: scores [[0, 5]], mask [[True, False]]: you return [[0.5, 0]], and [[1, 0]] is right. Visible scores far below 0 end in NaN: exp(0 - maximum) overflows.
    Why: a hidden key has to be missing from the sum that everything is divided by, too.
    Look at: the order of two lines: the mask comes first, then the sum.
    """
    wide = filled(widened(scores), mask, 0.0)
    if not wide.shape[-1]:
        return right.masked_softmax(scores, mask)
    top = wide.masked_fill(~mask, float("-inf")).amax(-1, keepdim=True)
    exponentials = (wide - top.masked_fill(top == float("-inf"), 0.0).detach()).exp()
    return (exponentials * mask / exponentials.sum(-1, keepdim=True)).to(scores.dtype)


@misconception("mask-not-used-in-the-softmax", of="masked_softmax", question="causal-mask-place")
def mask_unused(scores, mask):
    """Your weights are the softmax of all the scores: the mask has no effect.

    Example: scores [[0, 0]], mask [[True, False]]: you return [[0.5, 0.5]], and [[1, 0]] is right.
    Why: hidden keys get exactly 0.
    Look at: the result of masking: is it the one that goes into the softmax?
    """
    right.mask_scores(scores, mask)
    return widened(scores).softmax(-1).to(scores.dtype)


@misconception("softmax-of-the-hidden", of="masked_softmax", question="mask-polarity")
def of_hidden(scores, mask):
    """Your weights are shared among the hidden keys, and the visible ones get 0: the mask is read upside down.

    Example: scores [[0, 0]], mask [[True, False]]: you return [[0, 1]], and [[1, 0]] is right.
    Why: True means may attend here; masked_fill fills where its mask is True.
    Look at: a missing `~`.
    """
    right.mask_scores(scores, mask)
    return right.masked_softmax(scores, ~mask)
