"""What people get wrong in exercise 03: mask_scores and masked_softmax."""

import torch
from attngrade.misconceptions import misconception
from attngrade.solutions import exercise03_causal_mask as right


def widened(scores):
    """Scores in float32, or in float64 if they are."""
    return scores.to(torch.promote_types(scores.dtype, torch.float32))


def filled(scores, mask, value):
    """Scores with another number than -inf where they are hidden, for a mask that fits."""
    right.mask_scores(scores, mask)
    return scores.masked_fill(~mask, value)


def lowest(scores):
    return torch.finfo(scores.dtype).min


# ---------------------------------------------------------------- mask_scores


@misconception("mask-read-upside-down", of="mask_scores", question="mask-polarity")
def upside_down(scores, mask):
    """You hide the scores where the mask is True; True means may attend, so the others have to be hidden.

    Example: scores [1, 2], mask [True, False]: you return [-inf, 2], and [1, -inf] is right.
    Why: masked_fill fills where its mask is True, which is the opposite of this convention.
    Look at: a missing `~` in front of the mask, or the two branches of `torch.where`.
    """
    right.mask_scores(scores, mask)
    return scores.masked_fill(mask, float("-inf"))


@misconception("hidden-at-minus-a-billion", of="mask_scores", question="finite-mask-value")
def minus_billion(scores, mask):
    """You put -1e9 at hidden positions; -inf was asked.

    Example: scores [1, 2], mask [True, False]: you return [1, -1e9], and [1, -inf] is right.
    Why: a large number is only large beside others: a visible score below it loses, a row of hidden keys gets weights, and
    float16 can't hold it. exp(-inf) is 0 in every dtype.
    Look at: the value that you fill in.
    """
    return filled(scores, mask, -1e9)


@misconception("hidden-at-minus-ten-thousand", of="mask_scores", question="finite-mask-value")
def minus_ten_thousand(scores, mask):
    """You put -1e4 at hidden positions; -inf was asked.

    Example: scores [1, 2], mask [True, False]: you return [1, -10000], and [1, -inf] is right.
    Why: -1e4 fits into float16, but scores get that large too: then a hidden key is as good as a visible one.
    Look at: the value that you fill in.
    """
    return filled(scores, mask, -1e4)


@misconception("hidden-at-the-lowest-number", of="mask_scores", question="finite-mask-value")
def lowest_number(scores, mask):
    """You put the lowest finite number at hidden positions; -inf was asked.

    Example: scores [1, 2], mask [True, False]: you return [1, -3.4e38], and [1, -inf] is right.
    Why: a row that sees nothing then has equal scores everywhere, and a softmax shares its weight among the hidden keys.
    Look at: `torch.finfo(...).min`.
    """
    return filled(scores, mask, lowest(scores))


@misconception("hidden-at-plus-infinity", of="mask_scores")
def plus_infinity(scores, mask):
    """You put +inf at hidden positions: the sign is wrong.

    Example: scores [1, 2], mask [True, False]: you return [1, inf], and [1, -inf] is right.
    Why: exp(-inf) is 0, which takes a key out; exp(inf) is infinite, and a softmax of it is NaN.
    Look at: a minus too many, or one too few.
    """
    return filled(scores, mask, float("inf"))


@misconception("hidden-at-zero", of="mask_scores", question="causal-mask-place")
def at_zero(scores, mask):
    """You put 0 at hidden positions, as multiplying by the mask does; -inf was asked.

    Example: scores [1, 2], mask [True, False]: you return [1, 0], and [1, -inf] is right.
    Why: exp(0) is 1: a hidden key with score 0 gets as much weight as any ordinary key.
    Look at: `scores * mask`, or the value that you fill in.
    """
    return filled(scores, mask, 0.0)


@misconception("mask-added-as-a-number", of="mask_scores")
def added(scores, mask):
    """You add the mask to the scores: visible ones grow by 1, and hidden ones stay as they are.

    Example: scores [1, 2], mask [True, False]: you return [2, 2], and [1, -inf] is right.
    Why: the mask is a choice, not a number; only an additive mask of 0 and -inf can be added.
    Look at: `scores + mask`.
    """
    right.mask_scores(scores, mask)
    return scores + mask.to(scores.dtype)


@misconception("zero-times-infinity", of="mask_scores")
def zero_times_infinity(scores, mask):
    """You multiply a mask of zeros and ones by -inf: 0 * inf is NaN, so the visible scores become NaN.

    Example: scores [1, 2], mask [True, False]: you return [nan, -inf], and [1, -inf] is right.
    Why: infinity times zero has no value. Choose with `torch.where` or `masked_fill` instead of multiplying.
    Look at: `(1 - mask) * float("-inf")`.
    """
    right.mask_scores(scores, mask)
    return scores + (1 - mask.to(scores.dtype)) * float("-inf")


@misconception("fill-thrown-away", of="mask_scores")
def thrown_away(scores, mask):
    """You return the scores as they came in: nothing is hidden.

    Example: scores [1, 2], mask [True, False]: you return [1, 2], and [1, -inf] is right.
    Why: `masked_fill` returns a new tensor and leaves the old one alone; whoever doesn't take it has done nothing.
    Look at: a line with `masked_fill` and no `=` or `return`.
    """
    right.mask_scores(scores, mask)
    return scores.clone()


@misconception("scores-filled-in-place", of="mask_scores")
def in_place(scores, mask):
    """You write -inf into the caller's scores.

    Example: after mask_scores(scores, mask) the caller's own `scores` hold -inf.
    Why: no function here changes an argument; the caller may need the scores again, for another mask or for the gradient.
    Look at: `masked_fill_` with the underscore, or an assignment to `scores[...]`.
    """
    right.mask_scores(scores, mask)
    return scores.masked_fill_(~mask, float("-inf"))


@misconception("scores-come-back-in-float32", of="mask_scores")
def single_back(scores, mask):
    """Your masked scores are float32 whatever came in; the dtype of the scores was asked.

    Example: float64 scores come back as float32, and half their digits are gone.
    Why: -inf exists in every float dtype, so there is nothing to convert.
    Look at: `.float()`, or a constant tensor of float32 that the scores are combined with.
    """
    return right.mask_scores(scores, mask).float()


@misconception("half-scores-come-back-in-float32", of="mask_scores")
def half_back(scores, mask):
    """Your masked scores come back in float32 for float16 and bfloat16; the dtype of the scores was asked.

    Example: float16 scores come back as float32.
    Why: -inf exists in every float dtype, so there is nothing to convert here; widening is for sums.
    Look at: `.float()` without a way back, or a float32 tensor that the scores are combined with.
    """
    return right.mask_scores(widened(scores), mask)


@misconception("scores-come-back-in-float64", of="mask_scores")
def double_back(scores, mask):
    """Your masked scores are float64 whatever came in; the dtype of the scores was asked.

    Example: float32 scores come back as float64.
    Why: -inf exists in every float dtype, so there is nothing to convert.
    Look at: `.double()`, or a float64 tensor (one that was made by NumPy, say) that the scores are combined with.
    """
    return right.mask_scores(scores.double(), mask)


@misconception("scores-detached", of="mask_scores")
def detached_scores(scores, mask):
    """Your masked scores are cut off from the scores: no gradient flows back.

    Example: the gradient at a visible score is the one that came in; yours doesn't arrive.
    Why: results are differentiable here; without a gradient nothing upstream can learn.
    Look at: `.detach()`, `.data`, `.numpy()`, `torch.no_grad()`, or `torch.tensor(...)` around a tensor.
    """
    return right.mask_scores(scores, mask).detach()


@misconception("masks-of-numbers-taken", of="mask_scores", question="mask-polarity")
def numbers_taken(scores, mask):
    """You take a mask of numbers and read it as booleans; a ValueError that names `mask` was asked.

    Example: an additive mask of 0 and -inf, read as booleans, means the opposite of what its maker meant.
    Why: 0/1 and 0/-inf masks are both in use; only booleans leave no doubt, so anything else is refused.
    Look at: `.bool()`, `mask == 0` or `mask != 0` before anything looked at `mask.dtype`.
    """
    return right.mask_scores(scores, mask.bool())


@misconception("masks-of-numbers-added", of="mask_scores", question="mask-polarity")
def numbers_added(scores, mask):
    """You take a mask of numbers as an additive one and add it; a ValueError that names `mask` was asked.

    Example: a float mask of 1 and 0 is added to the scores, and nothing is hidden.
    Why: 0/1 and 0/-inf masks are both in use; only booleans leave no doubt, so anything else is refused.
    Look at: the branch for masks that aren't boolean.
    """
    return right.mask_scores(scores, mask) if mask.dtype == torch.bool else scores + mask


@misconception("integer-masks-taken", of="mask_scores")
def integers_taken(scores, mask):
    """You refuse float masks and take integer masks; anything that isn't boolean has to be refused.

    Example: a mask of int64 or uint8 has to raise a ValueError that names `mask`.
    Why: `~` of an integer flips all its bits, and what 0 and 1 mean is anybody's guess.
    Look at: a condition like `mask.is_floating_point()` where `mask.dtype != torch.bool` is meant.
    """
    return right.mask_scores(scores, mask if mask.is_floating_point() else mask.bool())


@misconception("mask-dtype-fails-late", of="mask_scores")
def dtype_fails_late(scores, mask):
    """You leave a mask of numbers to PyTorch, which fails somewhere inside; a ValueError that names `mask` was asked.

    Example: a float mask has to raise a ValueError; `~` of a float tensor raises a TypeError, masked_fill a RuntimeError.
    Why: the caller learns which argument was wrong, and can tell a bad argument from a failure inside.
    Look at: the first lines: nothing looks at `mask.dtype`.
    """
    if mask.dtype == torch.bool:
        return right.mask_scores(scores, mask)
    return scores.masked_fill(~mask, float("-inf"))


@misconception("mask-dtype-trusted", of="mask_scores")
def dtype_trusted(scores, mask):
    """You hand a mask of numbers to torch.where, which fails inside; a ValueError that names `mask` was asked.

    Example: a float mask has to raise a ValueError with `mask` in its message.
    Why: the caller learns which argument was wrong, and can tell a bad argument from a failure inside.
    Look at: the first lines: nothing looks at `mask.dtype`.
    """
    if mask.dtype == torch.bool:
        return right.mask_scores(scores, mask)
    return torch.where(mask, scores, float("-inf"))


@misconception("mask-dtype-a-type-error", of="mask_scores")
def type_error(scores, mask):
    """You refuse a mask of numbers with a TypeError; this exercise asks for a ValueError that names `mask`.

    Example: a float mask: `except ValueError` in the caller doesn't catch what you raise.
    Why: one class for every impossible argument lets a caller handle them in one place.
    Look at: the class after `raise`.
    """
    if mask.dtype != torch.bool:
        raise TypeError("mask")
    return right.mask_scores(scores, mask)


@misconception("masks-asserted", of="mask_scores")
def masks_asserted(scores, mask):
    """You assert that the mask is boolean and fits; a ValueError that names `mask` was asked.

    Example: a float mask has to raise a ValueError with `mask` in its message.
    Why: assertions state what can't happen, vanish under `python -O`, and no caller catches them.
    Look at: the `assert`: an `if` and a `raise ValueError(...)` say the same to the caller.
    """
    try:
        return right.mask_scores(scores, mask)
    except ValueError:
        raise AssertionError("mask") from None


@misconception("mask-dtype-asserted", of="mask_scores")
def dtype_asserted(scores, mask):
    """You assert that the mask is boolean; a ValueError that names `mask` was asked.

    Example: a float mask has to raise a ValueError with `mask` in its message.
    Why: assertions state what can't happen, vanish under `python -O`, and no caller catches them.
    Look at: the `assert`: an `if` and a `raise ValueError(...)` say the same to the caller.
    """
    assert mask.dtype == torch.bool
    return right.mask_scores(scores, mask)


@misconception("enlarging-masks-taken", of="mask_scores")
def enlarging_taken(scores, mask):
    """You let a mask enlarge the scores, and leave one that doesn't fit to PyTorch; both are ValueErrors that name `mask`.

    Example: scores (3, 4), mask (2, 3, 4): you return the shape (2, 3, 4), copies of scores that nobody has.
    Why: masked_fill and torch.where broadcast both ways; the mask may be stretched to the scores, never the scores to the mask.
    Look at: nothing compares the shapes; `mask.expand(scores.shape)` fails exactly when a mask doesn't fit.
    """
    if mask.dtype != torch.bool:
        raise ValueError("mask")
    return scores.masked_fill(~mask, float("-inf"))


@misconception("enlarging-masks-only-taken", of="mask_scores")
def enlarging_only(scores, mask):
    """You refuse masks that don't broadcast with the scores, and take masks that enlarge them.

    Example: scores (3, 4), mask (2, 3, 4): you return the shape (2, 3, 4), copies of scores that nobody has.
    Why: broadcasting goes both ways; the mask may be stretched to the scores, never the scores to the mask.
    Look at: `torch.broadcast_shapes` has to give exactly `scores.shape`.
    """
    try:
        torch.broadcast_shapes(mask.shape, scores.shape)
    except RuntimeError:
        raise ValueError("mask") from None
    return enlarging_taken(scores, mask)


@misconception("misfits-fail-late", of="mask_scores")
def misfits_late(scores, mask):
    """You leave a mask that doesn't fit to PyTorch, whose RuntimeError doesn't name it; a ValueError that names `mask` was asked.

    Example: scores (3, 4), mask (3, 5) has to raise a ValueError with `mask` in its message.
    Why: the caller learns which argument was wrong, and can tell a bad argument from a failure inside.
    Look at: `expand` raises a RuntimeError: catch that one, and raise your own.
    """
    if mask.dtype != torch.bool:
        raise ValueError("mask")
    return scores.masked_fill(~mask.expand(scores.shape), float("-inf"))


@misconception("masks-never-checked", of="mask_scores")
def never_checked(scores, mask):
    """You use the mask as it comes: neither its dtype nor its shape is looked at, and both have to be, with a ValueError that names `mask`.

    Example: scores (3, 4), mask (2, 3, 4): you return the shape (2, 3, 4), copies of scores that nobody has.
    Why: a mask of numbers fails far from its cause or means the opposite, and one that doesn't fit may enlarge the scores.
    Look at: the first lines: `mask.dtype` and `mask.expand(scores.shape)`.
    """
    return scores.masked_fill(~mask, float("-inf"))


@misconception("only-full-masks-taken", of="mask_scores")
def full_only(scores, mask):
    """You ask for a mask of the scores' own shape; any mask that broadcasts to it will do.

    Example: scores (3, 4), mask (4,): the same keys are hidden for every query, and that's legal.
    Why: a padding mask (B, 1, 1, T_k) and a causal mask (T_q, T_k) are small on purpose.
    Look at: `mask.shape != scores.shape` in your refusal.
    """
    if mask.shape != scores.shape:
        raise ValueError("mask")
    return right.mask_scores(scores, mask)


@misconception("only-masks-of-the-same-rank-taken", of="mask_scores")
def same_rank_only(scores, mask):
    """You ask for a mask with as many axes as the scores; any mask that broadcasts to their shape will do.

    Example: scores (3, 4), mask (4,): the same keys are hidden for every query, and that's legal.
    Why: broadcasting puts missing axes in front; a causal mask (T_q, T_k) has two axes on purpose, the scores four.
    Look at: `mask.ndim != scores.ndim` in your refusal.
    """
    if mask.ndim != scores.ndim:
        raise ValueError("mask")
    return right.mask_scores(scores, mask)


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


@misconception("softmax-in-half-precision", of="masked_softmax")
def half_softmax(scores, mask):
    """You exponentiate and sum in the scores' own dtype; with float16 and bfloat16 that runs in float32, and the result is cast back once.

    Example: 70001 equal scores in float16: their sum is past 65504, the largest float16, and every weight becomes 0.
    Why: half precision has 11 or 8 bits: fine for a result, not for sums.
    Look at: the first line: bring the scores to float32.
    """
    hidden = right.mask_scores(scores, mask)
    top = hidden.amax(-1, keepdim=True).detach()
    e = (hidden - torch.where(top > float("-inf"), top, 0.0)).exp()
    total = e.sum(-1, keepdim=True)
    return e / torch.where(total > 0, total, 1.0)


@misconception("half-weights-come-back-in-float32", of="masked_softmax")
def half_weights(scores, mask):
    """Your weights come back in float32 for float16 and bfloat16 scores; the scores' dtype was asked.

    Example: float16 scores have to give float16 weights.
    Why: a result has the dtype of its input, so that a model in half precision stays in half precision.
    Look at: the cast back at the end.
    """
    return right.masked_softmax(widened(scores), mask)


@misconception("weights-always-in-float32", of="masked_softmax")
def weights_always_single(scores, mask):
    """Your weights are computed in float32 whatever came in: float64 scores lose half their digits.

    Example: float64 scores have to give weights that are right to 1e-9; float32 has 7 digits.
    Why: float32 is the working precision for half precision only; float64 stays float64.
    Look at: `.float()` or `dtype=torch.float32`.
    """
    return right.masked_softmax(scores.float(), mask).to(scores.dtype)


@misconception("weights-come-back-in-float32", of="masked_softmax")
def single_weights(scores, mask):
    """Your weights are float32 whatever came in; the scores' dtype was asked.

    Example: float64 scores have to give float64 weights.
    Why: a result has the dtype of its input.
    Look at: `.float()` or `dtype=torch.float32` without a cast back.
    """
    return right.masked_softmax(scores.float(), mask)


@misconception("weights-come-back-in-float64", of="masked_softmax")
def double_weights(scores, mask):
    """Your weights are float64 whatever came in; the scores' dtype was asked.

    Example: float32 scores have to give float32 weights.
    Why: a result has the dtype of its input; more digits inside are welcome, and the last step casts back.
    Look at: `.double()` without a cast back, or a float64 tensor that the scores are combined with.
    """
    return right.masked_softmax(scores.double(), mask)


@misconception("softmax-hides-in-place", of="masked_softmax")
def softmax_in_place(scores, mask):
    """You write -inf into the caller's scores on the way to the weights.

    Example: after masked_softmax(scores, mask) the caller's own `scores` hold -inf.
    Why: no function here changes an argument.
    Look at: `masked_fill_` with the underscore, or an assignment to `scores[...]`.
    """
    weights = right.masked_softmax(scores, mask)
    with torch.no_grad():
        scores.masked_fill_(~mask, float("-inf"))
    return weights


@misconception("weights-detached", of="masked_softmax")
def detached_weights(scores, mask):
    """Your weights are cut off from the scores: no gradient flows back.

    Example: a loss on the weights has to reach the scores; yours stops at the weights.
    Why: the gradient through the weights is how attention learns where to look.
    Look at: `.detach()`, `.data`, `.numpy()`, `torch.no_grad()`, or `torch.tensor(...)` around a tensor.
    """
    return right.masked_softmax(scores, mask).detach()


@misconception("empty-rows-see-the-first-key", of="masked_softmax", question="empty-row")
def empty_first_key(scores, mask):
    """A row that sees nothing gives all its weight to the first key; it has to be all zeros.

    Example: scores [[1, 2]], mask [[False, False]]: you return [[1, 0]], and [[0, 0]] is right.
    Why: nothing is visible, so nothing gets weight.
    Look at: how you keep the softmax from seeing an empty row: undo it afterwards.
    """
    right.mask_scores(scores, mask)
    mask = mask.expand(scores.shape).clone()
    mask[..., 0] |= ~mask.any(-1)
    return right.masked_softmax(scores, mask)


@misconception("empty-rows-see-everything", of="masked_softmax", question="empty-row")
def weights_empty_sees_all(scores, mask):
    """A row that sees nothing gets the weights of a row that sees everything; it has to be all zeros.

    Example: scores [[0, 0]], mask [[False, False]]: you return [[0.5, 0.5]], and [[0, 0]] is right.
    Why: nothing is visible, so nothing gets weight.
    Look at: how you keep the softmax from seeing an empty row: undo it afterwards.
    """
    right.mask_scores(scores, mask)
    return right.masked_softmax(scores, mask | ~mask.any(-1, keepdim=True))


@misconception("views-of-strided-scores", of="masked_softmax")
def strided_views(scores, mask):
    """You call `view` on scores that may not lie contiguously in memory, which fails.

    Example: transposed scores have to work like their contiguous copy.
    Why: results depend on values, not on how they lie in memory.
    Look at: `reshape` (or `flatten`) copies where it has to; `view` never does.
    """
    rows = scores.view(-1, scores.shape[-1])
    visible = mask.expand(scores.shape).reshape(rows.shape)
    return right.masked_softmax(rows, visible).view(scores.shape)


@misconception("gradient-through-hidden-exponentials", of="masked_softmax")
def through_hidden(scores, mask):
    """You exponentiate the hidden scores too and choose afterwards: a large one overflows, and its gradient is 0 * inf = NaN.

    Example: scores [[0, 1e300]], mask [[True, False]]: the weights are right, and the gradient is NaN where it has to be 0.
    Why: `torch.where` stops a value, not the gradient of what it left out. Make the argument of exp harmless before exp sees it.
    Look at: `torch.where(mask, torch.exp(...), 0)`: put the `where` inside.
    """
    wide = widened(scores)
    top = right.mask_scores(wide, mask).amax(-1, keepdim=True).detach()
    e = torch.where(mask, (wide - torch.where(top > float("-inf"), top, 0.0)).exp(), 0.0)
    total = e.sum(-1, keepdim=True)
    return (e / torch.where(total > 0, total, 1.0)).to(scores.dtype)
