"""What people get wrong in exercise 03: mask_scores."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.causal_mask_parts import filled, lowest, widened
from attngrade.solutions import exercise03_causal_mask as right

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


@misconception("enlarging-masks-of-the-same-rank-taken", of="mask_scores")
def enlarging_of_the_same_rank(scores, mask):
    """You compare the number of axes alone: a mask of as many axes may still enlarge the scores.

    Example: scores (3, 1), mask (3, 4): you return the shape (3, 4), copies of scores that nobody has.
    Why: an axis of length 1 of the scores is stretched to the mask's, which is the wrong way round.
    Look at: `torch.broadcast_shapes` has to give exactly `scores.shape`, not just as many axes.
    """
    if mask.dtype != torch.bool or mask.dim() > scores.dim():
        raise ValueError("mask")
    return enlarging_only(scores, mask)


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
