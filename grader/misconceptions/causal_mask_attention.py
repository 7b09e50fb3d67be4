"""What people get wrong in exercise 03: causal_attention, its scale and its mask."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.causal_mask_parts import parts, scaled_by, weighed_by
from attngrade.solutions import exercise03_causal_mask as right


def masked_by(q, k, v, mask):
    scores, _, values = parts(q, k, v)
    return (right.masked_softmax(scores, mask) @ values).to(q.dtype)


# ---------------------------------------------------------------- scale


@misconception("no-scale", of="causal_attention", question="score-variance")
def no_scale(q, k, v):
    """Your scores aren't divided by sqrt(Dh).

    Example: for standard normal q and k with Dh = 64 your scores scatter by 8 instead of 1, and the softmax is nearly one-hot.
    Why: q.k sums Dh terms, so its standard deviation grows like sqrt(Dh); the scale takes that out.
    Look at: the line with q @ k^T.
    """
    return scaled_by(q, k, v, 1.0)


@misconception("scale-without-the-root", of="causal_attention", question="score-variance")
def without_root(q, k, v):
    """Your scores are divided by Dh instead of sqrt(Dh), or by sqrt(Dh) twice.

    Example: with Dh = 64 your scores scatter by 1/8 instead of 1, and the weights are nearly even.
    Why: 1/Dh normalises the variance of a mean; the standard deviation of a sum of Dh terms is sqrt(Dh).
    Look at: the exponent of the scale, and whether q was scaled already.
    """
    return scaled_by(q, k, v, 1 / q.shape[-1])


@misconception("multiplied-by-the-root", of="causal_attention", question="score-variance")
def multiplied(q, k, v):
    """Your scores are multiplied by sqrt(Dh) instead of divided by it.

    Example: with Dh = 64 your scores scatter by 64 instead of 1.
    Why: the scale takes the growth of the sum out; multiplying doubles it.
    Look at: `* sqrt(Dh)`: the scale is Dh ** -0.5.
    """
    return scaled_by(q, k, v, q.shape[-1] ** 0.5)


@misconception("scale-of-all-heads", of="causal_attention", question="score-variance")
def all_heads(q, k, v):
    """Your scale is that of the whole model, H * Dh, instead of one head, Dh.

    Example: with H = 8 and Dh = 64 your scores scatter by 0.35 instead of 1.
    Why: each score sums over the Dh components of one head.
    Look at: the width under the root: q.shape[-1].
    """
    return scaled_by(q, k, v, (q.shape[1] * q.shape[-1]) ** -0.5)


@misconception("scale-of-the-keys-count", of="causal_attention", question="score-variance")
def of_keys(q, k, v):
    """Your scale is taken from the number of keys, T_k, instead of the width Dh.

    Example: the same query and keys get other weights once more keys are in the cache.
    Why: a score sums over components, not over tokens.
    Look at: the axis whose size is under the root: the last one of q.
    """
    return scaled_by(q, k, v, k.shape[-2] ** -0.5)


@misconception("scale-of-the-queries-count", of="causal_attention", question="score-variance")
def of_queries(q, k, v):
    """Your scale is taken from the number of queries, T_q, instead of the width Dh.

    Example: the same query gets other weights once it comes with more queries.
    Why: a score sums over components, not over tokens.
    Look at: the axis whose size is under the root: the last one of q.
    """
    return scaled_by(q, k, v, q.shape[-2] ** -0.5)


@misconception("scale-after-the-softmax", of="causal_attention", question="score-variance")
def attention_after_softmax(q, k, v):
    """You scale the weights after the softmax instead of the scores before it: rows of weights no longer sum to 1.

    Example: a single token has to come out as its own value; yours comes out divided by sqrt(Dh).
    Why: the scale is there to keep the softmax soft, so it has to act on what goes in.
    Look at: the order of scale and softmax.
    """
    scores, mask, values = parts(q, k, v, 1.0)
    return (right.masked_softmax(scores, mask) * q.shape[-1] ** -0.5 @ values).to(q.dtype)


# ---------------------------------------------------------------- mask


@misconception("no-mask", of="causal_attention", question="causal-mask-place")
def no_mask(q, k, v):
    """Nothing is hidden: every query attends to the future.

    Example: the first of two tokens has to come out as its own value; yours is a mixture of both.
    Why: a model that sees the token it is asked to predict learns to copy it.
    Look at: whether the masked scores are the ones that go into the softmax.
    """
    return masked_by(q, k, v, torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device))


@misconception("attention-aligned-top-left", of="causal_attention", question="causal-alignment")
def attention_top_left(q, k, v):
    """Your attention lines the first query up with the first key; with a cache the last query sits on the last key.

    Example: T_q=1, T_k=4: your query attends to key 0 alone, and it may attend to all four.
    Why: the extra keys are the past, so query i may see key j iff j <= i + (T_k - T_q).
    Look at: the mask inside causal_attention: it needs T_k - T_q.
    """
    return masked_by(q, k, v, torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).tril())


@misconception("attention-masked-only-when-square", of="causal_attention", question="causal-alignment")
def attention_only_square(q, k, v):
    """Your attention hides nothing when T_q and T_k differ.

    Example: T_q=2, T_k=3: query 0 attends to key 2, which belongs to query 1.
    Why: one query over a cache sees everything, but a chunk of several queries has a future inside the chunk.
    Look at: the case that you made for T_q != T_k.
    """
    mask = right.causal_mask(q.shape[-2], k.shape[-2], q.device)
    return masked_by(q, k, v, mask if q.shape[-2] == k.shape[-2] else torch.ones_like(mask))


@misconception("attention-hides-the-present", of="causal_attention")
def hides_present(q, k, v):
    """Your attention hides the query's own place: a token has to see itself too.

    Example: a single token has to come out as its own value; yours sees nothing.
    Why: j <= i + (T_k - T_q) holds with equality for the key that the query sits on.
    Look at: `<` where `<=` is meant, or a diagonal that is one too small.
    """
    return masked_by(q, k, v, torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).tril(k.shape[-2] - q.shape[-2] - 1))


@misconception("attention-sees-one-ahead", of="causal_attention", question="causal-mask-place")
def one_ahead(q, k, v):
    """Your attention lets every query see one key of its future.

    Example: the first of two tokens has to come out as its own value; yours is a mixture of both.
    Why: one place too far is enough to give the answer away.
    Look at: a diagonal that is one too large.
    """
    return masked_by(q, k, v, torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).tril(k.shape[-2] - q.shape[-2] + 1))


@misconception("attention-to-the-future", of="causal_attention", question="mask-polarity")
def to_future(q, k, v):
    """Your attention looks at the future only and hides present and past: the mask is read upside down.

    Example: a single token has to come out as its own value; yours sees nothing.
    Why: True means may attend in the masks of this exercise.
    Look at: a missing or extra `~`.
    """
    return masked_by(q, k, v, ~right.causal_mask(q.shape[-2], k.shape[-2], q.device))


@misconception("attention-offset-clamped", of="causal_attention", question="causal-alignment")
def offset_clamped(q, k, v):
    """With more queries than keys your attention falls back to lining up the first query with the first key.

    Example: T_q=2, T_k=1: query 0 sees nothing, so its output is 0; yours is the value of the key.
    Why: the last query sits on the last key in this case too.
    Look at: a `max(0, ...)` or a `clamp` around the offset.
    """
    t_q, t_k = q.shape[-2], k.shape[-2]
    return masked_by(q, k, v, torch.ones(t_q, t_k, dtype=torch.bool, device=q.device).tril(max(0, t_k - t_q)))


@misconception("attention-masked-after-the-softmax", of="causal_attention", question="causal-mask-place")
def masked_after(q, k, v):
    """You set the weights of the future to 0 after the softmax: rows of weights no longer sum to 1.

    Example: the first of two tokens has to come out as its own value; yours is a fraction of it, which depends on the second token.
    Why: the future is still in the denominator. Hide the scores before the softmax, and it never was there.
    Look at: the order of masking and softmax.
    """
    return weighed_by(q, k, v, lambda scores, mask: scores.softmax(-1) * mask)


@misconception("attention-renormalised", of="causal_attention", question="causal-mask-place")
def attention_renormalised(q, k, v):
    """You let the future into the softmax and take it out again: its largest score is what is subtracted, and so it decides how much is left.

    Example: move the last key by 1e4, and the earlier weights underflow to 0; they have to stay bit for bit.
    Why: on paper it is the same number, but the softmax subtracts the largest score, and that may lie in the future.
    Look at: hide the scores before the softmax, or before the maximum that you subtract yourself.
    """

    def weigh(scores, mask):
        weights = scores.softmax(-1) * mask
        total = weights.sum(-1, keepdim=True)
        return weights / torch.where(total > 0, total, 1.0)

    return weighed_by(q, k, v, weigh)


@misconception("future-scores-set-to-zero", of="causal_attention", question="causal-mask-place")
def future_zero(q, k, v):
    """You multiply the scores by the mask: keys of the future keep the weight of a score of 0.

    Example: the first of two tokens has to come out as its own value; yours is a mixture of both.
    Why: exp(0) is 1, not 0. A hidden key needs the score -inf.
    Look at: `scores * mask`.
    """
    return weighed_by(q, k, v, lambda scores, mask: scores.masked_fill(~mask, 0.0).softmax(-1))


@misconception("future-scores-set-to-zero-then-emptied", of="causal_attention", question="causal-mask-place")
def future_zero_then_emptied(q, k, v):
    """You set the scores of the future to 0 and take its weights away after the softmax: what is left of a row no longer sums to 1.

    Example: the first of two tokens has to come out as its own value; with a score of 0 yours is half of it.
    Why: exp(0) is 1, so hidden keys are in the sum that you divide by, whether you drop them afterwards or not.
    Look at: `scores * mask` before the softmax and `weights * mask` behind it: -inf before it does both.
    """
    return weighed_by(q, k, v, lambda scores, mask: scores.masked_fill(~mask, 0.0).softmax(-1).masked_fill(~mask, 0.0))


@misconception("large-scores-leak", of="causal_attention", question="finite-mask-value")
def large_leak(q, k, v):
    """You add -1e9 to the scores of the future: a score larger than that still wins, and rows that see nothing share evenly.

    Example: move the last key by 1e30, and earlier outputs change; they have to stay bit for bit.
    Why: a large number is only large beside others; -inf is below everything.
    Look at: replace the scores instead of adding to them, and look after rows without a visible key.
    """
    return weighed_by(q, k, v, lambda scores, mask: (scores + (~mask).to(scores.dtype) * -1e9).softmax(-1))


@misconception("medium-scores-leak", of="causal_attention", question="finite-mask-value")
def medium_leak(q, k, v):
    """You add -1e4 to the scores of the future: a score larger than that still wins, and rows that see nothing share evenly.

    Example: move the last key by 1e4, and earlier outputs change; they have to stay bit for bit.
    Why: a large number is only large beside others; -inf is below everything.
    Look at: replace the scores instead of adding to them, and look after rows without a visible key.
    """
    return weighed_by(q, k, v, lambda scores, mask: (scores + (~mask).to(scores.dtype) * -1e4).softmax(-1))


# ---------------------------------------------------------------- queries that see nothing


@misconception("outputs-of-empty-rows-are-nan", of="causal_attention", question="empty-row")
def nan_outputs(q, k, v):
    """A query that sees no key comes out as NaN; it has to come out as zeros.

    Example: T_q=2, T_k=1: query 0 sees nothing, and its output is 0.
    Why: the softmax of a row of -inf subtracts -inf from -inf, and one NaN spoils every gradient.
    Look at: let masked_softmax make the weights: it knows such rows.
    """
    return weighed_by(q, k, v, lambda scores, mask: scores.masked_fill(~mask, float("-inf")).softmax(-1))


@misconception("outputs-of-empty-rows-are-nan-by-addition", of="causal_attention", question="empty-row")
def nan_outputs_added(q, k, v):
    """A query that sees no key comes out as NaN; it has to come out as zeros.

    Example: T_q=2, T_k=1: query 0 sees nothing, and its output is 0.
    Why: the softmax of a row of -inf subtracts -inf from -inf, and one NaN spoils every gradient.
    Look at: let masked_softmax make the weights: it knows such rows.
    """
    return weighed_by(q, k, v, lambda scores, mask: added(scores, mask).softmax(-1))


@misconception("outputs-repaired-too-late", of="causal_attention", question="empty-row")
def attention_repaired_late(q, k, v):
    """You replace the NaN of a query that sees nothing at the very end: the outputs are right, and the gradients are NaN.

    Example: T_q=2, T_k=1: the gradient of the values has to be finite, and NaN arrives.
    Why: the weights of that query are still NaN, and backward multiplies by them: 0 * NaN is NaN. Prevent the NaN instead of repairing it.
    Look at: `nan_to_num` on the output.
    """
    return weighed_by(q, k, v, lambda scores, mask: scores.masked_fill(~mask, float("-inf")).softmax(-1)).nan_to_num(0.0)


@misconception("weights-repaired-too-late", of="causal_attention", question="empty-row")
def attention_weights_repaired_late(q, k, v):
    """You add -inf and replace the NaN of a query that sees nothing after the softmax: the outputs are right, and the gradients of q and k are NaN.

    Example: T_q=2, T_k=1: the gradient of query 0 has to be 0, and NaN arrives.
    Why: backward still runs through the softmax of -inf, and a bias that was added passes its NaN on. Prevent the NaN instead of repairing it.
    Look at: `nan_to_num` after the softmax: put something finite into such rows before it, or use `masked_fill`, which stops the NaN.
    """
    return weighed_by(q, k, v, lambda scores, mask: added(scores, mask).softmax(-1).nan_to_num(0.0))


def added(scores, mask):
    return scores + torch.zeros(mask.shape, dtype=scores.dtype, device=scores.device).masked_fill(~mask, float("-inf"))


@misconception("added-and-repaired-at-the-end", of="causal_attention", question="empty-row")
def output_repaired_late(q, k, v):
    """You add -inf and replace the NaN of a query that sees nothing at the very end: the outputs are right, and all the gradients are NaN.

    Example: T_q=2, T_k=1: the gradient of query 0 has to be 0, and NaN arrives, in k and v too.
    Why: the weights of that query are NaN, and backward multiplies by them: 0 * NaN is NaN. Prevent the NaN instead of repairing it.
    Look at: `nan_to_num` on the output, and what such a row holds before the softmax.
    """
    return weighed_by(q, k, v, lambda scores, mask: added(scores, mask).softmax(-1)).nan_to_num(0.0)


@misconception("outputs-of-empty-rows-are-averages", of="causal_attention", question="empty-row")
def averaged(q, k, v):
    """A query that sees no key comes out as the plain average of all the values; it has to come out as zeros.

    Example: T_q=2, T_k=1: query 0 sees nothing, its output is 0, and yours is the value of the only key.
    Why: with a finite number in place of -inf all scores of such a row are equal, and a softmax of equal scores is even.
    Look at: `-1e9` or `torch.finfo(...).min`: set the hidden weights to 0 after the softmax.
    """
    return weighed_by(q, k, v, lambda scores, mask: scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1))
