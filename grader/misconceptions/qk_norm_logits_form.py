"""What people get wrong in exercise 05: the logits, their axes, precision, gradients and refusals."""

import math

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.qk_norm_parts import dots, half_norm, norm, norm_over, norm_without_refusals, normed, refuse_pair, widened, with_logits


@misconception("logits-norm-over-heads", of="qk_norm_logits")
def logits_norm_over_heads(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits norm q and k across the heads (axis 1); each vector is normed over its own Dh.

    Example: heads of sizes 1, 10, 100 must give logits of one size.
    Why: heads are independent.
    Look at: the axis of the mean, -1.
    """
    return with_logits(lambda q, k, a, b, e: dots(norm_over(1)(q, a, e), norm_over(1)(k, b, e)) * q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("logits-norm-over-heads-and-width", of="qk_norm_logits")
def logits_norm_over_heads_and_width(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits norm a token's heads together (axes 1 and 3); each head's vector is normed over its own Dh.

    Example: heads of sizes 1 and 100 must give logits of one size; in yours the small head's are next to nothing.
    Why: a head is normed by itself, so that no head can outshout another.
    Look at: the axes of the mean: -1 alone, after the heads were split.
    """
    return with_logits(lambda q, k, a, b, e: dots(norm_over(1, 3)(q, a, e), norm_over(1, 3)(k, b, e)) * q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("logits-norm-over-tokens", of="qk_norm_logits")
def logits_norm_over_tokens(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits norm q and k across the tokens (axis 2); each vector is normed over its own Dh.

    Example: one key more must not change the logits of the others.
    Why: a token's norm must not depend on other tokens.
    Look at: the axis of the mean, -1.
    """
    return with_logits(lambda q, k, a, b, e: dots(norm_over(2)(q, a, e), norm_over(2)(k, b, e)) * q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("keys-by-queries", of="qk_norm_logits")
def keys_by_queries(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are transposed: keys down the rows, queries along the columns.

    Example: 4 queries and 5 keys: right is (B, H, 4, 5), yours is (B, H, 5, 4).
    Why: the softmax runs over the last axis, and that must be the keys.
    Look at: which side of the matrix product is transposed.
    """
    return normed(lambda q, k: q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps).transpose(-2, -1)


@misconception("logits-softmaxed", of="qk_norm_logits")
def logits_softmaxed(q, k, q_gain, k_gain, eps=1e-6):
    """Your function returns attention weights; asked are the logits before the softmax.

    Example: your rows sum to 1; logits may have any sign and sum.
    Why: the mask and the softmax come later, and saturation expects logits.
    Look at: the softmax at the end.
    """
    return normed(lambda q, k: q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps).softmax(-1)


@misconception("logits-in-half-precision", of="qk_norm_logits")
def logits_in_half_precision(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are added up in float16 and scaled afterwards: sums past 65504 are inf before the scale can help.

    Example: float16, Dh = 48, gains of 45: the sum is about 97000, the logit only 14000; yours is inf.
    Why: the norm came back in float16, and so the product runs in float16 as well.
    Look at: stay in float32 from the norms to the scale, cast back once at the end.
    """
    refuse_pair(q, k, q_gain, k_gain)
    return (dots(norm(q, q_gain, eps), norm(k, k_gain, eps)) / math.sqrt(q.shape[-1])).to(q.dtype)


@misconception("normed-vectors-rounded-to-half-precision", of="qk_norm_logits")
def normed_vectors_rounded(q, k, q_gain, k_gain, eps=1e-6):
    """Your normed q and k are cast back to float16 before the product, and widened again for it: a normed vector times a large gain is past 65504.

    Example: float16, gains of 3e5 and 1e-5: q_hat is inf and k_hat next to 0; right are logits near 1.
    Why: only the logit has to fit the narrow dtype; what is widened again has lost its digits already.
    Look at: rms_norm gives back the dtype it got: hand it q and k in float32, and cast once, at the end.
    """
    refuse_pair(q, k, q_gain, k_gain)
    q_hat, k_hat = widened(norm(q, q_gain, eps)), widened(norm(k, k_gain, eps))
    return (dots(q_hat, k_hat) / math.sqrt(q.shape[-1])).to(q.dtype)


@misconception("logits-squared-in-half-precision", of="qk_norm_logits", extends="logits-in-half-precision")
def logits_half_norm(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits norm float16 input in float16: 300 squared is inf there.

    Example: q and k of size 300 in float16: right are finite logits, yours are 0 or nan.
    Why: squares, means and dot products belong in float32.
    Look at: q.float() and k.float() before the norms, .to(q.dtype) at the end.
    """
    refuse_pair(q, k, q_gain, k_gain)
    q_hat, k_hat = half_norm(q, q_gain, eps), half_norm(k, k_gain, eps)
    return (dots(q_hat, k_hat) / math.sqrt(q.shape[-1])).to(q.dtype)


@misconception("logits-left-in-float32", of="qk_norm_logits")
def logits_promoted_norm(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits come back in float32; they have the dtype of q and k.

    Example: q and k float16: right are float16 logits.
    Why: computing wide is right, handing it on wide is not.
    Look at: .to(q.dtype) at the very end.
    """
    return normed(lambda q, k: q.shape[-1] ** -0.5)(widened(q), widened(k), q_gain, k_gain, eps)


@misconception("logits-always-in-float32", of="qk_norm_logits", extends="logits-left-in-float32")
def logits_always_in_float32(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are float32 whatever q and k are; they have the dtype of q and k.

    Example: float64 q and k: right are float64 logits, and float16 ones for float16.
    Why: .float() at the start has no counterpart at the end.
    Look at: .to(q.dtype) at the very end.
    """
    return normed(lambda q, k: q.shape[-1] ** -0.5)(q.float(), k.float(), q_gain.float(), k_gain.float(), eps)


@misconception("logits-float64-through-float32", of="qk_norm_logits")
def logits_float64_through_float32(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits convert to float32 always, so float64 input loses half of its digits.

    Example: float64 q and k: yours agree with the right logits to 7 digits; asked are 9 and more.
    Why: .float() widens float16 and narrows float64.
    Look at: convert only what is narrower than float32.
    """
    return normed(lambda q, k: q.shape[-1] ** -0.5)(q.float(), k.float(), q_gain.float(), k_gain.float(), eps).to(q.dtype)


@misconception("logits-detached", of="qk_norm_logits")
def logits_detached(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits carry no graph, so no gradient reaches q, k or the gains.

    Example: loss.backward() raises an error or leaves the gradients at None.
    Why: detach, .data, numpy, or a new module with gains of its own ends the graph.
    Look at: how the logits are made.
    """
    return normed(lambda q, k: q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps).detach()


@misconception("logits-gains-detached", of="qk_norm_logits")
def logits_gains_detached(q, k, q_gain, k_gain, eps=1e-6):
    """No gradient reaches the gains through your logits.

    Example: the gradients for q_gain and k_gain are None.
    Why: copying the gains into a module, .data or detach takes them out of the graph.
    Look at: how the gains enter the norms.
    """
    return normed(lambda q, k: q.shape[-1] ** -0.5)(q, k, q_gain.detach(), k_gain.detach(), eps)


@misconception("logits-through-a-module-of-their-own", of="qk_norm_logits", extends="logits-gains-detached")
def logits_through_a_module_of_their_own(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits copy the gains into a new QKNorm: its parameters get the gradient, the caller's gains get none.

    Example: the gradients for q_gain and k_gain are None.
    Why: nn.Parameter(q_gain) and .data = ... make a new leaf without the history of the caller's tensor.
    Look at: QKNorm(...) inside qk_norm_logits; rms_norm takes the gains as they are.
    """
    return normed(lambda q, k: q.shape[-1] ** -0.5)(q, k, torch.nn.Parameter(q_gain.detach()), torch.nn.Parameter(k_gain.detach()), eps)


def _unrefused(q, k, q_gain, k_gain, eps):
    q_hat, k_hat = norm_without_refusals(widened(q), q_gain, eps), norm_without_refusals(widened(k), k_gain, eps)
    return (dots(q_hat, k_hat) / math.sqrt(q.shape[-1])).to(q.dtype)


@misconception("logits-refuse-nothing", of="qk_norm_logits")
def logits_refuse_nothing(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits don't look at any shape: what doesn't fit is broadcast, or ends in torch's RuntimeError.

    Example: one key head beside three query heads, or a gain of length 1: asked is a ValueError that names the argument.
    Why: a broadcast shape is a wrong result that looks fine.
    Look at: rank, heads, widths and both gains, before computing.
    """
    return _unrefused(q, k, q_gain, k_gain, eps)


@misconception("logits-refuse-gains-only", of="qk_norm_logits", extends="logits-refuse-nothing")
def logits_refuse_gains_only(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits refuse gains that don't fit and look at nothing else: ranks and heads that differ are broadcast.

    Example: q with 3 heads and k with 1, or q of rank 3: asked is a ValueError that names q or k.
    Why: a broadcast shape is a wrong result that looks fine.
    Look at: q.dim(), k.dim() and the heads, q.shape[1] and k.shape[1].
    """
    return (dots(norm(widened(q), q_gain, eps), norm(widened(k), k_gain, eps)) / math.sqrt(q.shape[-1])).to(q.dtype)


@misconception("logits-take-any-rank", of="qk_norm_logits")
def logits_take_any_rank(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits accept q and k that are not of rank 4.

    Example: q (B, T, Dh), the heads not split off yet: asked is a ValueError that names q.
    Why: without the axis of heads the logits are something else, and nobody notices.
    Look at: q.dim() and k.dim().
    """
    if q.shape[-1] != k.shape[-1] or (q.dim() == k.dim() == 4 and q.shape[1] != k.shape[1]):
        raise ValueError("q and k don't fit each other")
    return logits_refuse_gains_only(q, k, q_gain, k_gain, eps)


@misconception("logits-take-three-axes", of="qk_norm_logits", extends="logits-take-any-rank")
def logits_take_three_axes(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits accept q and k of rank 3 (or 5); they are (B, H, T, Dh), nothing else.

    Example: q (B, T, Dh), the heads not split off yet: asked is a ValueError that names q.
    Why: axis 1 is then taken for the heads although it counts tokens.
    Look at: the comparison with q.dim().
    """
    if min(q.dim(), k.dim()) < 3 or q.shape[1] != k.shape[1] or q.shape[-1] != k.shape[-1]:
        raise ValueError("q and k need heads")
    return logits_refuse_gains_only(q, k, q_gain, k_gain, eps)


@misconception("logits-take-any-rank-with-heads", of="qk_norm_logits", extends="logits-take-any-rank")
def logits_take_any_rank_with_heads(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits compare axis 1 of q and k, and their widths, but never look at their rank.

    Example: q (B, T, Dh), the heads not split off yet: asked is a ValueError that names q.
    Why: without four axes, axis 1 isn't the heads.
    Look at: q.dim() and k.dim().
    """
    if q.shape[1:2] != k.shape[1:2] or q.shape[-1] != k.shape[-1]:
        raise ValueError("q and k don't fit each other")
    return logits_refuse_gains_only(q, k, q_gain, k_gain, eps)


@misconception("logits-take-any-heads", of="qk_norm_logits")
def logits_take_any_heads(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits accept q and k with different heads: one key head is broadcast to all queries.

    Example: q (2, 3, T, Dh) and k (2, 1, T, Dh): asked is a ValueError that names q or k.
    Why: here every query head has its key head; who shares keys repeats them first.
    Look at: q.shape[1] and k.shape[1].
    """
    if q.dim() != 4 or k.dim() != 4 or q.shape[-1] != k.shape[-1]:
        raise ValueError("q and k don't fit each other")
    return logits_refuse_gains_only(q, k, q_gain, k_gain, eps)


@misconception("logits-take-any-gain", of="qk_norm_logits")
def logits_take_any_gain(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits accept every gain that broadcasts, such as a single number for all of Dh.

    Example: q_gain of shape (1,) for Dh = 4: asked is a ValueError that names q_gain.
    Why: broadcasting stretches a length of 1, so a gain of the wrong size passes unnoticed.
    Look at: compare each gain's shape with (Dh,).
    """
    if q.dim() != 4 or k.dim() != 4 or q.shape[-1] != k.shape[-1] or q.shape[1] != k.shape[1]:
        raise ValueError("q and k don't fit each other")
    return _unrefused(q, k, q_gain, k_gain, eps)


@misconception("logits-take-a-gain-of-one", of="qk_norm_logits", extends="logits-take-any-gain")
def logits_take_a_gain_of_one(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits accept a gain of length 1 for a wider q and k.

    Example: q_gain of shape (1,) for Dh = 4: asked is a ValueError that names q_gain.
    Why: broadcasting stretches a length of 1, so a gain of the wrong size passes unnoticed.
    Look at: the condition under which you refuse a gain.
    """
    q_gain, k_gain = (gain.expand(q.shape[-1]) if gain.shape == (1,) else gain for gain in (q_gain, k_gain))
    return normed(lambda q, k: q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("contiguous-q-and-k-only", of="qk_norm_logits")
def contiguous_q_and_k_only(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits use view, which raises an error for tensors that don't lie contiguously in memory.

    Example: q.transpose(1, 2), the usual way to split heads, ends in a RuntimeError.
    Why: view only relabels memory; reshape copies where it has to.
    Look at: view; a matrix product takes all leading axes as they are.
    """
    refuse_pair(q, k, q_gain, k_gain)
    flat = q.view(-1, *q.shape[2:]).view(q.shape), k.view(-1, *k.shape[2:]).view(k.shape)
    return normed(lambda q, k: q.shape[-1] ** -0.5)(*flat, q_gain, k_gain, eps)


@misconception("logits-demand-equal-lengths", of="qk_norm_logits")
def logits_demand_equal_lengths(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits refuse queries and keys of different number; T_q and T_k may differ.

    Example: 4 queries over 5 keys, as with a cache, must work.
    Why: every query is compared with every key, whatever their counts.
    Look at: a comparison of whole shapes where heads and width are meant.
    """
    if q.shape != k.shape:
        raise ValueError("q and k must have the same shape")
    return normed(lambda q, k: q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("assert-in-the-logits", of="qk_norm_logits")
def assert_in_the_logits(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits refuse with assert; a ValueError is asked.

    Example: q of rank 3 ends in an AssertionError.
    Why: asserts vanish under `python -O`, and callers can't tell a wrong argument from a broken program.
    Look at: assert; write `if ...: raise ValueError("q ...")`.
    """
    try:
        return normed(lambda q, k: q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)
    except ValueError as error:
        raise AssertionError(str(error)) from None
