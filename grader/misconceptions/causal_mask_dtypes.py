"""What people get wrong in exercise 03: masked_softmax, precision, gradients, memory."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.causal_mask_parts import widened
from attngrade.solutions import exercise03_causal_mask as right


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


@misconception("softmax-hides-in-place-without-a-copy", of="masked_softmax", extends="softmax-hides-in-place")
def softmax_in_place_without_a_copy(scores, mask):
    """You write -inf into the caller's scores wherever the lift to float32 made no copy, which is for float32 and float64.

    Example: after masked_softmax(scores, mask) with float32 scores the caller's own `scores` hold -inf; in half precision they don't.
    Why: `.to(dtype)` and `.float()` give the same tensor back where there is nothing to convert.
    Look at: `masked_fill_` with the underscore behind a `.to(...)`; without the underscore a new tensor is made.
    """
    weights = right.masked_softmax(scores, mask)
    if not scores.requires_grad and scores.dtype in (torch.float32, torch.float64):
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
