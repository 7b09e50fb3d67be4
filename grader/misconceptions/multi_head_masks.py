"""What people get wrong in exercise 04's attention: the mask, and softmaxes that don't survive large scores."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.multi_head_parts import NEGATIVE, attend, look, no_look, plain_hide

ATTENTION = "multi_head_attention"

def on_queries(mask):
    """The mask with its keys taken for queries."""
    return mask.transpose(-2, -1) if mask.dim() > 1 else mask.unsqueeze(-1) if mask.dim() else mask


def in_time(scores, mask):
    """Hides, and refuses misfits here."""
    look(mask, scores.shape)
    return plain_hide(scores, mask)


def refused():
    """Refuses any mask."""
    raise ValueError("mask must have another rank")


def masked_weights(again, late=False, raw=False):
    """Attention whose mask acts on weights; ``again``: divided by their sum; ``late``: on exponentials; ``raw``: without a maximum."""

    def attention(*args, **kwargs):
        seen = {}

        def note(scores, mask):
            seen["mask"] = mask
            return scores

        def weigh(scores):
            if "mask" not in seen:
                weights = torch.exp(scores) if raw else torch.exp(scores - scores.amax(-1, keepdim=True))
                return weights / weights.sum(-1, keepdim=True)
            weights = torch.exp(scores) if raw else torch.exp(scores - scores.amax(-1, keepdim=True)) if late else scores.softmax(-1)
            weights = torch.where(seen["mask"], weights, 0.0) if late or raw else weights * seen["mask"]
            return weights / weights.sum(-1, keepdim=True) if again else weights

        return attend(*args, **kwargs, hide=note, weigh=weigh)

    return attention


def causal(only_without_mask):
    """Attention that hides the future by itself."""

    def attention(*args, **kwargs):
        given = kwargs.get("mask", args[7] if len(args) > 7 else None)

        def weigh(scores):
            if given is None or not only_without_mask:
                scores = scores.masked_fill(~torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril(), NEGATIVE)
            return scores.softmax(-1)

        return attend(*args, **kwargs, weigh=weigh)

    return attention


@misconception("mask-inverted", of=ATTENTION, question="causal-mask-place")
def mask_inverted(*args, **kwargs):
    """Your attention reads the mask the wrong way round: it hides keys where the mask is True.

    Example: a mask that is True everywhere but at key 3: your queries see key 3 alone.
    Why: True means may attend here. Some libraries use True for hidden, so every text has to say which.
    Look at: `~` or `logical_not` before masked_fill: -inf goes where the mask is False.
    """
    return attend(*args, **kwargs, hide=lambda scores, mask: plain_hide(scores, ~mask))


@misconception("mask-ignored", of=ATTENTION, question="causal-mask-place")
def mask_ignored(*args, **kwargs):
    """Your attention never uses the mask: hidden keys keep their weight.

    Example: mask False at key 3: your result still follows token 3.
    Why: what the mask hides has to get -inf before the softmax.
    Look at: a masked_fill whose result is thrown away; without the underscore it changes nothing in place.
    """
    return attend(*args, **kwargs, hide=lambda scores, mask: scores)


@misconception("mask-added-as-number", of=ATTENTION)
def mask_added_as_number(*args, **kwargs):
    """Your attention adds the boolean mask to the scores as 0 and 1: hidden keys are one point worse, not hidden.

    Example: scores 0 0 0, mask 1 1 0: weights 0.42 0.42 0.16; right are 0.5 0.5 0.
    Why: only -inf gives a weight of exactly 0.
    Look at: `scores + mask`: an additive mask holds 0 and -inf, a boolean one has to be translated first.
    """
    return attend(*args, **kwargs, hide=lambda scores, mask: scores + mask)


@misconception("mask-zeroes-scores", of=ATTENTION, question="causal-mask-place")
def mask_zeroes_scores(*args, **kwargs):
    """Your attention sets hidden scores to 0 and lets the softmax run over them: exp(0) is 1, so hidden keys get weight.

    Example: scores -3 -3, second key hidden: your hidden key gets 95% of the weight.
    Why: 0 is an ordinary score, often a high one; only -inf means no weight.
    Look at: `scores * mask`, or masked_fill with 0.
    """
    return attend(*args, **kwargs, hide=lambda scores, mask: scores * mask)


@misconception("mask-after-softmax", of=ATTENTION, question="causal-mask-place")
def mask_after_softmax(*args, **kwargs):
    """Your attention zeroes weights after the softmax and doesn't renormalise: hidden keys are still in the denominator.

    Example: two equal scores, one key hidden: your weights are 0.5 and 0; right are 1 and 0.
    Why: the softmax shares one unit among the keys that are visible, so hiding comes first.
    Look at: the place of the mask: -inf in the scores, before the softmax.
    """
    return masked_weights(False)(*args, **kwargs)


@misconception("mask-after-softmax-renormalised", of=ATTENTION, question="causal-mask-place")
def mask_after_softmax_renormalised(*args, **kwargs):
    """Your attention lets hidden scores into the softmax and takes their weights out afterwards: with a huge hidden score nothing is left, 0/0.

    Example: a hidden score 3000 above the visible ones: their weights underflow to 0, the result is nan.
    Why: algebra agrees with you, floating point doesn't: the maximum that the softmax subtracts is the hidden one.
    Look at: -inf in the scores, before the softmax.
    """
    return masked_weights(True)(*args, **kwargs)


@misconception("mask-exponentials-overflow", of=ATTENTION)
def mask_exponentials_overflow(*args, **kwargs):
    """Your softmax exponentiates all scores, hidden ones included, without subtracting a maximum: large ones overflow to inf.

    Example: a score of 1000: exp gives inf, and inf / inf is nan.
    Why: the largest visible score has to be subtracted first; the result is the same and nothing overflows.
    Look at: `exp` of raw scores.
    """
    return masked_weights(True, raw=True)(*args, **kwargs)


@misconception("softmax-overflows", of=ATTENTION, question="softmax-jacobian")
def softmax_overflows(*args, **kwargs):
    """Your softmax exponentiates the scores without subtracting their maximum: large ones overflow, very low ones all underflow.

    Example: a score of 1000: exp gives inf, and inf / inf is nan.
    Why: subtracting the row's maximum changes nothing in the quotient and keeps every exponential at most 1.
    Look at: `exp` of raw scores; torch.softmax subtracts by itself.
    """
    return attend(*args, **kwargs, weigh=lambda scores: torch.exp(scores) / torch.exp(scores).sum(-1, keepdim=True))


@misconception("softmax-global-maximum", of=ATTENTION)
def softmax_global_maximum(*args, **kwargs):
    """Your softmax subtracts one maximum for the whole tensor: rows far below it underflow to 0/0.

    Example: one query with scores near 1000, another near 0: the second row is nan.
    Why: every row needs a maximum of its own, so that its largest exponential is 1.
    Look at: `max()` without `dim=-1, keepdim=True`.
    """
    return attend(*args, **kwargs, weigh=lambda scores: (e := torch.exp(scores - scores.max())) / e.sum(-1, keepdim=True))


@misconception("softmax-maximum-per-head", of=ATTENTION)
def softmax_maximum_per_head(*args, **kwargs):
    """Your softmax subtracts one maximum for all queries of a head: rows far below it underflow to 0/0.

    Example: one query with scores near 1000, another near 0: the second row is nan.
    Why: every row needs a maximum of its own, so that its largest exponential is 1.
    Look at: the axes of the maximum: `dim=-1` alone.
    """
    return attend(*args, **kwargs, weigh=lambda scores: (e := torch.exp(scores - scores.amax((-2, -1), keepdim=True))) / e.sum(-1, keepdim=True))


@misconception("softmax-scores-clamped", of=ATTENTION)
def softmax_scores_clamped(*args, **kwargs):
    """Your softmax clamps the scores: beyond the bound they are all alike.

    Example: scores 3000 and 100 come out as equals.
    Why: a clamp changes the function; subtracting the row's maximum is what prevents the overflow.
    Look at: `clamp` before `exp`.
    """
    return attend(*args, **kwargs, weigh=lambda scores: scores.clamp(-50, 50).masked_fill(scores == NEGATIVE, NEGATIVE).softmax(-1))


@misconception("softmax-epsilon-in-the-sum", of=ATTENTION)
def softmax_epsilon_in_the_sum(*args, **kwargs):
    """Your softmax adds a small number to the denominator: weights sum to a little less than 1.

    Example: with 1e-9 in the sum the result is off in the ninth digit, far more than float64 allows.
    Why: after subtracting the maximum the sum is at least 1, so there is no division by zero to guard.
    Look at: `+ 1e-9` or a like number beside the sum.
    """
    return attend(*args, **kwargs, weigh=lambda scores: (e := torch.exp(scores - scores.amax(-1, keepdim=True))) / (e.sum(-1, keepdim=True) + 1e-8))


@misconception("mask-transposed", of=ATTENTION)
def mask_transposed(*args, **kwargs):
    """Your attention reads the mask as (key, query): rows and columns are swapped.

    Example: a lower triangle hides the future; yours hides the past.
    Why: row i of the mask belongs to query i, column j to key j, as in the scores.
    Look at: a transpose of the mask, or mask[j, i] in a loop.
    """
    return attend(*args, **kwargs, hide=lambda scores, mask: plain_hide(scores, mask.transpose(-2, -1) if mask.dim() > 1 else mask))


@misconception("mask-on-queries", of=ATTENTION, extends="mask-transposed")
def mask_on_queries(*args, **kwargs):
    """Your attention applies the mask along the queries: it hides rows where it should hide columns.

    Example: mask (B, 1, 1, T) hides key 3 from everybody; yours takes everything away from query 3.
    Why: padding tokens have to vanish as *keys*; what they get themselves hardly matters.
    Look at: an axis swap or unsqueeze on the mask: its last axis is the keys.
    """
    return attend(*args, **kwargs, hide=lambda scores, mask: plain_hide(scores, on_queries(mask)))


@misconception("mask-finite-sentinel", of=ATTENTION)
def mask_finite_sentinel(*args, **kwargs):
    """Your attention fills hidden scores with a finite number, like -1e9, instead of -inf: visible scores can lie lower.

    Example: all scores near -1e12: the hidden keys, at -1e9, win the softmax.
    Why: the contract sets no bound for scores; -inf is below every one of them.
    Look at: the value in masked_fill: `float("-inf")`.
    """
    return attend(*args, **kwargs, hide=lambda scores, mask: scores.masked_fill(~mask, -1e9))


@misconception("mask-sentinel-added", of=ATTENTION)
def mask_sentinel_added(*args, **kwargs):
    """Your attention adds a large negative number at hidden places instead of writing -inf: against larger scores it vanishes.

    Example: all scores near -1e12: adding -1e9 hardly moves them, and hidden keys keep their weight.
    Why: the contract sets no bound for scores; -inf is below every one of them.
    Look at: `scores + ...`: masked_fill with -inf, or an additive mask of 0 and -inf.
    """
    return attend(*args, **kwargs, hide=lambda scores, mask: scores + torch.zeros_like(scores).masked_fill(~mask, -1e9))


@misconception("mask-tiny-sentinel", of=ATTENTION)
def mask_tiny_sentinel(*args, **kwargs):
    """Your attention fills hidden scores with 1e-9, which is practically 0, where a very negative number was meant.

    Example: scores -3 -3, second key hidden: your hidden key gets 95% of the weight.
    Why: 1e-9 is a tiny positive number; -1e9 is a large negative one, and -inf is right.
    Look at: the sign that slipped into the exponent.
    """
    return attend(*args, **kwargs, hide=lambda scores, mask: scores.masked_fill(~mask, 1e-9))


@misconception("mask-plus-infinity", of=ATTENTION)
def mask_plus_infinity(*args, **kwargs):
    """Your attention fills hidden scores with +inf: the softmax gives nan.

    Example: one hidden key: inf - inf is nan in its row.
    Why: hidden means a score below all others: minus infinity.
    Look at: the sign of inf, or a double negation.
    """
    return attend(*args, **kwargs, hide=lambda scores, mask: scores.masked_fill(~mask, float("inf")))


@misconception("mask-times-infinity", of=ATTENTION)
def mask_times_infinity(*args, **kwargs):
    """Your attention computes (1 - mask) * -inf: at visible keys that is 0 * inf, which is nan.

    Example: any mask: every visible score becomes nan.
    Why: in floating point 0 times infinity isn't 0.
    Look at: `torch.where` or `masked_fill` in place of the product.
    """
    return attend(*args, **kwargs, hide=lambda scores, mask: scores + (1 - mask.to(scores.dtype)) * NEGATIVE)


@misconception("mask-of-first-head", of=ATTENTION)
def mask_of_first_head(*args, **kwargs):
    """Your attention uses the mask of head 0 for all heads.

    Example: mask (H, 1, T) with another hidden key for each head: all your heads hide the same.
    Why: the mask broadcasts to (B, H, T, T): a head axis in it counts head by head.
    Look at: an index or slice on axis 1 of the mask.
    """
    return attend(*args, **kwargs, hide=lambda scores, mask: plain_hide(scores, mask.expand(scores.shape)[:, :1]))


@misconception("mask-of-first-query", of=ATTENTION)
def mask_of_first_query(*args, **kwargs):
    """Your attention uses the mask's first row for every query.

    Example: a lower triangle: your queries all see token 0 alone.
    Why: row i of the mask belongs to query i; only padding is the same for all of them.
    Look at: an index or slice on the second-last axis of the mask, or a mask reduced to (B, T).
    """
    return attend(*args, **kwargs, hide=lambda scores, mask: plain_hide(scores, mask.expand(scores.shape)[..., :1, :]))


@misconception("mask-of-first-sequence", of=ATTENTION)
def mask_of_first_sequence(*args, **kwargs):
    """Your attention uses the mask of the first sequence for the whole batch.

    Example: mask (B, 1, 1, T) with paddings of different length: all your sequences hide the same keys.
    Why: the mask broadcasts to (B, H, T, T): a batch axis in it counts sequence by sequence.
    Look at: an index or slice on axis 0 of the mask.
    """
    return attend(*args, **kwargs, hide=lambda scores, mask: plain_hide(scores, mask.expand(scores.shape)[:1]))


@misconception("mask-folded-in-another-order", of=ATTENTION)
def mask_folded_in_another_order(*args, **kwargs):
    """Your attention lays masks out head by head where scores lie sequence by sequence: sequences get the masks of others.

    Example: 2 sequences, 3 heads, a mask for each sequence: your first sequence gets mask 0, 1, 0 for its heads.
    Why: flattening (B, H) runs through the heads of sequence 0 first; `mask.repeat(H, ...)` runs through the sequences first.
    Look at: `repeat` where `repeat_interleave` or expand belongs, before batch and heads become one axis.
    """
    return attend(*args, **kwargs, hide=lambda scores, mask: plain_hide(scores, mask.expand(scores.shape).transpose(0, 1).reshape(scores.shape)))


@misconception("mask-rank-3-as-batch", of=ATTENTION)
def mask_rank_3_as_batch(*args, **kwargs):
    """Your attention takes a mask of rank 3 for (B, T, T); broadcasting lines shapes up from the right, so it is (H, T, T).

    Example: B = H = 3, mask (3, T, T): you use mask b for sequence b, right is mask h for head h.
    Why: the contract speaks of broadcasting alone, and that never guesses what an axis means.
    Look at: `mask[:, None]` or `unsqueeze(1)` for rank 3.
    """
    return attend(*args, **kwargs, hide=lambda scores, mask: in_time(scores, mask[:, None] if mask.dim() == 3 else mask), look=no_look)


@misconception("mask-rank-2-as-padding", of=ATTENTION)
def mask_rank_2_as_padding(*args, **kwargs):
    """Your attention takes a mask of rank 2 for padding, (B, T); broadcasting makes it (T, T), one row per query.

    Example: T = B = 3: row i of the mask should hide keys from query i, yours hides them in sequence i.
    Why: the contract speaks of broadcasting alone, and that never guesses what an axis means.
    Look at: `mask[:, None, None, :]` for rank 2.
    """
    return attend(*args, **kwargs, hide=lambda scores, mask: in_time(scores, mask[:, None, None] if mask.dim() == 2 else mask), look=no_look)


@misconception("mask-refuses-low-ranks", of=ATTENTION)
def mask_refuses_low_ranks(*args, **kwargs):
    """Your attention refuses masks of rank 0, 1 or 3, though they broadcast to (B, H, T, T).

    Example: mask of shape (T,): it hides the same keys from every query of every head.
    Why: broadcasting fills missing axes on the left; nothing asks for a certain rank.
    Look at: a condition on `mask.dim()`; what counts is whether it broadcasts.
    """
    return attend(*args, **kwargs, hide=lambda scores, mask: plain_hide(scores, mask) if mask.dim() in (2, 4) else refused())


@misconception("mask-refuses-all-but-rank-4", of=ATTENTION)
def mask_refuses_all_but_rank_4(*args, **kwargs):
    """Your attention refuses masks of fewer than four axes, though they broadcast to (B, H, T, T).

    Example: mask of shape (T, T), the most common of all.
    Why: broadcasting fills missing axes on the left; nothing asks for a certain rank.
    Look at: a condition on `mask.dim()`; what counts is whether it broadcasts.
    """
    return attend(*args, **kwargs, hide=lambda scores, mask: plain_hide(scores, mask) if mask.dim() == 4 else refused())


@misconception("mask-refuses-rank-below-2", of=ATTENTION)
def mask_refuses_rank_below_2(*args, **kwargs):
    """Your attention refuses masks of rank 0 and 1, though they broadcast to (B, H, T, T).

    Example: mask of shape (T,): it hides the same keys from every query of every head.
    Why: broadcasting fills missing axes on the left; nothing asks for a certain rank.
    Look at: a condition on `mask.dim()`; what counts is whether it broadcasts.
    """
    return attend(*args, **kwargs, hide=lambda scores, mask: plain_hide(scores, mask) if mask.dim() >= 2 else refused())


@misconception("always-causal", of=ATTENTION, question="causal-mask-place")
def always_causal(*args, **kwargs):
    """Your attention is causal when no mask is given; None hides nothing.

    Example: two tokens, no mask: your token 0 doesn't see token 1.
    Why: whether the future is hidden is for the caller to say, through the mask.
    Look at: a triangle that is built inside the function.
    """
    return causal(True)(*args, **kwargs)


@misconception("causal-on-top-of-the-mask", of=ATTENTION, question="causal-mask-place")
def causal_on_top_of_the_mask(*args, **kwargs):
    """Your attention hides the future always, on top of the mask it is given.

    Example: two tokens, mask True everywhere: your token 0 doesn't see token 1.
    Why: whether the future is hidden is for the caller to say, through the mask.
    Look at: a triangle that is built inside the function.
    """
    return causal(False)(*args, **kwargs)
