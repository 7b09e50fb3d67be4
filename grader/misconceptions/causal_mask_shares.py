"""What people get wrong in exercise 03 about the weights: what is summed, what is hidden with what, what the gradient runs through."""

import torch
from attngrade.misconceptions import misconception
from attngrade.solutions import exercise03_causal_mask as right

NEGATIVE = float("-inf")
__all__: list[str] = []  # filled by `wrong_weights` and `wrong_scores`: every misconception below


def wrong_weights(name, **options):
    """A misconception of masked_softmax, exported."""

    def mark(code):
        __all__.append(code.__name__)
        return misconception(name, of="masked_softmax", **options)(code)

    return mark


def wrong_scores(name, **options):
    """A misconception of mask_scores, exported."""

    def mark(code):
        __all__.append(code.__name__)
        return misconception(name, of="mask_scores", **options)(code)

    return mark


def wide(scores):
    return scores.to(torch.promote_types(scores.dtype, torch.float32))


def exponentials(scores, mask):
    """exp of the visible scores less the largest of them, 0 at hidden ones; and their sums, 1 where nothing is visible."""
    shown = right.mask_scores(wide(scores), mask)
    top = shown.amax(-1, keepdim=True).detach()
    e = (shown - torch.where(top > NEGATIVE, top, 0.0)).exp()
    total = e.sum(-1, keepdim=True)
    return e, torch.where(total > 0, total, 1.0)


# ---------------------------------------------------------------- masked_softmax: what is summed


@wrong_weights("a-sink-in-every-row", question="empty-row")
def sink_everywhere(scores, mask):
    """Every row shares its weight with an extra key of score 0, so the weights of rows that see something sum to less than 1.

    Example: scores [0, 0], all visible: you return [1/3, 1/3], and [1/2, 1/2] is right.
    Why: empty rows are to be 0, and all other rows are to sum to 1; a silent extra key does the first and breaks the second.
    Look at: the extra column, or the exp(-max) in the denominator: only rows without a visible key may have it.
    """
    shown = right.mask_scores(wide(scores), mask)
    sink = torch.zeros_like(wide(scores)[..., :1])
    return torch.cat([shown, sink], -1).softmax(-1)[..., :-1].to(scores.dtype)


@wrong_weights("weights-shared-evenly")
def shared_evenly(scores, mask):
    """All visible keys get the same weight: the scores have no effect.

    Example: scores [0, ln 2], all visible: you return [1/2, 1/2], and [1/3, 2/3] is right.
    Why: weights follow exp(score); the mask only says who takes part.
    Look at: what you divide by the number of visible keys.
    """
    right.mask_scores(scores, mask)
    seen = mask.expand(scores.shape).to(wide(scores).dtype)
    return (seen / seen.sum(-1, keepdim=True).clamp(min=1) + 0 * wide(scores).masked_fill(~mask, 0.0)).to(scores.dtype)


@wrong_weights("powers-of-two")
def powers_of_two(scores, mask):
    """You take powers of 2; weights follow powers of e.

    Example: scores [0, ln 2], all visible: you return [0.382, 0.618], and [1/3, 2/3] is right.
    Why: 2**x is exp(x ln 2), so base two needs the scores times log2(e).
    Look at: `exp2`: the factor 1.4427 has to be there.
    """
    shown = right.mask_scores(wide(scores), mask)
    return right.masked_softmax(shown.masked_fill(~mask, 0.0) * 0.6931471805599453, mask).to(scores.dtype)


@wrong_weights("visible-scores-clipped")
def scores_clipped(scores, mask):
    """You clip the scores so that exp can't overflow; visible scores beyond the edge become equal.

    Example: with an edge of 50, scores [150, 151] get [1/2, 1/2], and [0.269, 0.731] is right.
    Why: only differences count, and a shift by the row's largest visible score keeps them all.
    Look at: `clamp`.
    """
    return right.masked_softmax(wide(scores).clamp(-50.0, 50.0), mask).to(scores.dtype)


@wrong_weights("softmax-over-the-whole-matrix")
def whole_matrix(scores, mask):
    """Your weights sum to 1 over all queries and keys together; every query has a sum of its own.

    Example: for scores (3, 4), all twelve weights sum to 1.
    Why: each row is a softmax of its own.
    Look at: the axes of the sum, or a `flatten` before the softmax.
    """
    weights, axes = right.mask_scores(wide(scores), mask), tuple(range(-min(scores.ndim, 2), 0))
    top = weights.amax(axes, keepdim=True).detach()
    e = (weights - torch.where(top > NEGATIVE, top, 0.0)).exp()
    total = e.sum(axes, keepdim=True)
    return (e / torch.where(total > 0, total, 1.0)).to(scores.dtype)


@wrong_weights("empty-rows-looked-for-among-columns", question="empty-row")
def columns_looked_at(scores, mask):
    """You look for keys that nobody sees where queries that see nothing are meant: `any` runs along the wrong axis of the mask.

    Example: mask [[False, False], [True, True]]: row 0 stays NaN, and [0, 0] is right.
    Why: a row is a query, its keys lie along the last axis.
    Look at: `mask.any(-1, keepdim=True)`.
    """
    logits = right.mask_scores(wide(scores), mask)
    full = mask.expand(scores.shape)
    if scores.ndim > 1:
        logits = logits.masked_fill(~full.any(-2, keepdim=True), 0.0)
    return logits.softmax(-1).masked_fill(~full, 0.0).to(scores.dtype)


@wrong_weights("logarithm-of-the-mask-with-an-epsilon", question="finite-mask-value")
def logarithm_with_epsilon(scores, mask):
    """You add log(mask + 1e-9) to the scores: a hidden key keeps a billionth of its weight, and a large hidden score brings it back.

    Example: a hidden score of 50 beside visible ones near 0 wins: exp(50) / 1e9 is 5e12.
    Why: log(0) is -inf, and exp(-inf) is exactly 0; an epsilon makes it a number.
    Look at: the epsilon inside the logarithm.
    """
    right.mask_scores(scores, mask)
    x = wide(scores)
    return (x + (mask.to(x.dtype) + 1e-9).log()).softmax(-1).to(scores.dtype)


@wrong_weights("hidden-weights-from-float16s-lowest", question="finite-mask-value")
def lowest_of_half(scores, mask):
    """You hide with -65504, float16's lowest number, in every dtype: a row that sees nothing shares its weight evenly, and a lower visible score loses.

    Example: one visible key with a score of -1e10: it gets 0, and 1 is right.
    Why: a large number is only large beside others; -inf is below all of them.
    Look at: the value that you fill in.
    """
    right.mask_scores(scores, mask)
    return wide(scores).masked_fill(~mask, -65504.0).softmax(-1).to(scores.dtype)


# ---------------------------------------------------------------- masked_softmax: what the gradient runs through


@wrong_weights("normaliser-detached", question="softmax-jacobian")
def normaliser_detached(scores, mask):
    """You detach the sum that you divide by: the weights are right, and their gradient lacks the part by which one score lowers all other weights.

    Example: two equal visible scores, gradient [1, 0]: you pass back [0.5, 0], and [0.25, -0.25] is right.
    Why: dp_i / ds_j = p_i (1[i = j] - p_j), and -p_i p_j comes from the sum. Only the maximum may be detached: a shift cancels.
    Look at: `detach` on the sum.
    """
    e, total = exponentials(scores, mask)
    return (e / total.detach()).to(scores.dtype)


@wrong_weights("exponentials-detached", question="softmax-jacobian")
def exponentials_detached(scores, mask):
    """You detach the exponentials and not their sum: the weights are right, and their gradient is that of the sum alone.

    Example: two equal visible scores, gradient [1, 0]: you pass back [-0.25, -0.25], and [0.25, -0.25] is right.
    Why: dp_i / ds_j = p_i (1[i = j] - p_j), and p_i 1[i = j] comes from the numerator. Only the maximum may be detached: a shift cancels.
    Look at: `detach` on the exponentials.
    """
    e, total = exponentials(scores, mask)
    return (e.detach() / total).to(scores.dtype)


class Backward(torch.autograd.Function):
    """The right weights with a backward that is passed in."""

    @staticmethod
    def forward(ctx, scores, mask, back):
        weights = right.masked_softmax(scores, mask)
        ctx.save_for_backward(weights)
        ctx.back = back
        return weights

    @staticmethod
    def backward(ctx, up):
        (weights,) = ctx.saved_tensors
        return ctx.back(wide(weights), wide(up)).to(weights.dtype), None, None


@wrong_weights("backward-of-a-sigmoid", question="softmax-jacobian")
def backward_of_sigmoid(scores, mask):
    """Your own backward is p (1 - p) times the gradient, as if each weight were a sigmoid of its own score.

    Example: two equal visible scores, gradient [1, 0]: you pass back [0.25, 0], and [0.25, -0.25] is right.
    Why: raising one score takes weight from all others: J has -p_i p_j off the diagonal.
    Look at: p * (up - (p * up).sum(-1, keepdim=True)).
    """
    return Backward.apply(scores, mask, lambda p, up: p * (1 - p) * up)


@wrong_weights("backward-without-its-factor", question="softmax-jacobian")
def backward_without_factor(scores, mask):
    """Your own backward lacks the factor p in front: it is the gradient less its weighted mean.

    Example: two equal visible scores, gradient [1, 0]: you pass back [0.5, -0.5], and [0.25, -0.25] is right.
    Why: J = diag(p) - p p^T; a hidden key has p = 0 and no gradient.
    Look at: p * (up - (p * up).sum(-1, keepdim=True)).
    """
    return Backward.apply(scores, mask, lambda p, up: up - (p * up).sum(-1, keepdim=True))


@wrong_weights("backward-with-a-plain-mean", question="softmax-jacobian")
def backward_with_plain_mean(scores, mask):
    """Your own backward takes the plain mean (or sum) of the gradient away; it is the mean weighted with p.

    Example: weights [1/3, 2/3], gradient [1, 0]: you pass back [1/6, -1/3], and [2/9, -2/9] is right.
    Why: p^T up is the sum of p_i up_i.
    Look at: p * (up - (p * up).sum(-1, keepdim=True)).
    """
    return Backward.apply(scores, mask, lambda p, up: p * (up - up.mean(-1, keepdim=True)))


@wrong_weights("backward-straight-through", question="softmax-jacobian")
def backward_straight_through(scores, mask):
    """Your own backward passes the gradient on as it came, as if weights were scores.

    Example: two equal visible scores, gradient [1, 0]: you pass back [1, 0], and [0.25, -0.25] is right.
    Why: the softmax has a derivative of its own, diag(p) - p p^T.
    Look at: p * (up - (p * up).sum(-1, keepdim=True)).
    """
    return Backward.apply(scores, mask, lambda p, up: up)


# ---------------------------------------------------------------- mask_scores


@wrong_scores("hidden-at-nan")
def hidden_at_nan(scores, mask):
    """You put NaN at hidden positions; -inf was asked.

    Example: scores [1, 2], mask [True, False]: you return [1, nan], and [1, -inf] is right.
    Why: exp(-inf) is 0, and NaN spreads to everything it meets.
    Look at: the value that you fill in.
    """
    right.mask_scores(scores, mask)
    return scores.masked_fill(~mask, float("nan"))


@wrong_scores("bias-alone-returned")
def bias_alone(scores, mask):
    """You return the bias, 0 and -inf, without the scores that it is to be added to.

    Example: scores [1, 2], mask [True, False]: you return [0, -inf], and [1, -inf] is right.
    Why: visible scores stay the very same numbers.
    Look at: the return line.
    """
    right.mask_scores(scores, mask)
    return torch.zeros_like(scores).masked_fill(~mask, NEGATIVE)


@wrong_scores("minus-a-billion-added-to-scores", question="finite-mask-value")
def billion_added_to_scores(scores, mask):
    """You add -1e9 to hidden scores; they have to become -inf.

    Example: scores [1, 2e9], mask [True, False]: your hidden score is 1e9 and still wins.
    Why: a sum depends on what was there; -inf doesn't.
    Look at: `masked_fill` in place of an addition.
    """
    right.mask_scores(scores, mask)
    x = wide(scores)
    return (x + -1e9 * (~mask).to(x.dtype)).to(scores.dtype)


@wrong_scores("hidden-scores-times-minus-infinity", question="finite-mask-value")
def times_infinity(scores, mask):
    """You multiply hidden scores by -inf: negative ones become +inf, and a score of 0 becomes NaN.

    Example: scores [1, -2], mask [True, False]: you return [1, inf], and [1, -inf] is right.
    Why: a product has a sign of its own.
    Look at: `masked_fill(~mask, -inf)`, which puts a value in place of another.
    """
    right.mask_scores(scores, mask)
    return torch.where(mask, scores, scores * NEGATIVE)


@wrong_scores("byte-masks-taken")
def byte_masks_taken(scores, mask):
    """You take uint8 masks beside boolean ones; anything that isn't boolean has to be refused.

    Example: a mask of uint8 has to raise a ValueError with `mask` in its message.
    Why: bytes were masks in old versions of PyTorch, and `~` on a byte is 255 - x: it is never 0 for 0 and 1.
    Look at: the dtypes that your check lets pass.
    """
    return right.mask_scores(scores, mask != 0 if mask.dtype == torch.uint8 else mask)


@wrong_scores("masks-without-axes-refused")
def no_axes_refused(scores, mask):
    """You refuse a mask without axes; it broadcasts to any shape.

    Example: scores (2, 3), mask torch.tensor(True): everything is visible.
    Why: any boolean mask that broadcasts to the scores will do.
    Look at: `mask.ndim` in your refusal.
    """
    if mask.ndim == 0:
        raise ValueError("mask")
    return right.mask_scores(scores, mask)


@wrong_scores("extra-axes-of-the-mask-unseen")
def extra_axes_unseen(scores, mask):
    """You compare the axes that both have; a mask with more axes than the scores passes, and enlarges them.

    Example: scores (3, 4), mask (2, 3, 4): you return the shape (2, 3, 4), copies of scores that nobody has.
    Why: the mask may be stretched to the scores, never the scores to the mask.
    Look at: `zip`, which stops at the shorter of the two: `mask.ndim > scores.ndim` is a misfit as well.
    """
    if mask.dtype != torch.bool or any(m not in (1, n) for m, n in zip(reversed(mask.shape), reversed(scores.shape), strict=False)):
        raise ValueError("mask")
    return scores.masked_fill(~mask, NEGATIVE)
