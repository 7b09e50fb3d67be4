"""What people get wrong in exercise 05: the logits."""

import math

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.qk_norm_parts import half_norm, length_norm, mean_square, norm, norm_over, norm_without_refusals, refuse_pair, widened


def _dots(q_hat, k_hat):
    return q_hat @ k_hat.transpose(-2, -1)


def _with_logits(logits):
    """qk_norm_logits with another last step; ``logits`` takes q, k (both widened), the gains and eps."""

    def function(q, k, q_gain, k_gain, eps=1e-6):
        refuse_pair(q, k, q_gain, k_gain)
        return logits(widened(q), widened(k), q_gain, k_gain, eps).to(q.dtype)

    return function


def _normed(power):
    return _with_logits(lambda q, k, q_gain, k_gain, eps: _dots(norm(q, q_gain, eps), norm(k, k_gain, eps)) * power(q, k))


@misconception("scale-forgotten", of="qk_norm_logits", question="score-variance")
def scale_forgotten(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits lack the scale: q_hat . k_hat is still to be divided by sqrt(Dh).

    Example: Dh = 64, gains of one, q parallel to k: right is 8, yours is 64.
    Why: both vectors have length sqrt(Dh), so their product reaches Dh.
    Look at: the factor after the matrix product.
    """
    return _normed(lambda q, k: 1)(q, k, q_gain, k_gain, eps)


@misconception("scaled-twice", of="qk_norm_logits")
def scaled_twice(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are divided by Dh; once by sqrt(Dh) is asked.

    Example: Dh = 64, gains of one, q parallel to k: right is 8, yours is 1.
    Why: dividing both q_hat and k_hat by sqrt(Dh), or the norm and the product, applies the scale twice.
    Look at: every place where sqrt(Dh) stands.
    """
    return _normed(lambda q, k: 1 / q.shape[-1])(q, k, q_gain, k_gain, eps)


@misconception("scale-of-width-64", of="qk_norm_logits")
def scale_of_width_64(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are divided by 8, the scale of Dh = 64, whatever the width is.

    Example: Dh = 5: right is a division by sqrt(5).
    Why: Dh is the length of q's last axis, and 64 is only one common choice.
    Look at: a number where q.shape[-1] belongs.
    """
    return _normed(lambda q, k: 0.125)(q, k, q_gain, k_gain, eps)


@misconception("multiplied-by-root-dh", of="qk_norm_logits")
def multiplied_by_root_dh(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are multiplied by sqrt(Dh) where they should be divided by it.

    Example: Dh = 64, gains of one, q parallel to k: right is 8, yours is 512.
    Why: the sum over Dh products grows with Dh, and the scale takes that back.
    Look at: Dh ** 0.5 as a factor; the exponent is -0.5.
    """
    return _normed(lambda q, k: q.shape[-1] ** 0.5)(q, k, q_gain, k_gain, eps)


@misconception("scaled-by-tokens", of="qk_norm_logits")
def scaled_by_tokens(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are divided by the root of the number of queries; the scale is sqrt(Dh).

    Example: more tokens in a batch must not change the logits of the others.
    Why: the sum in q_hat . k_hat has Dh terms, however many tokens there are.
    Look at: shape[-2] where shape[-1] belongs.
    """
    return _normed(lambda q, k: q.shape[-2] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("scaled-by-keys", of="qk_norm_logits")
def scaled_by_keys(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are divided by the root of the number of keys; the scale is sqrt(Dh).

    Example: more keys must not change the logits of the others.
    Why: the sum in q_hat . k_hat has Dh terms, however many keys there are.
    Look at: the axis that the scale is read from; after a transpose the last one is T_k.
    """
    return _normed(lambda q, k: k.shape[-2] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("scaled-by-the-whole-model", of="qk_norm_logits")
def scaled_by_the_whole_model(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are divided by sqrt(H * Dh), the width of the whole model; the sum has only Dh terms.

    Example: two heads instead of one must not change the logits of a head.
    Why: each head has its own dot product over Dh.
    Look at: which width stands under the root.
    """
    return _normed(lambda q, k: (q.shape[1] * q.shape[-1]) ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("scaled-by-heads", of="qk_norm_logits")
def scaled_by_heads(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are divided by the root of the number of heads; the scale is sqrt(Dh).

    Example: more heads must not change the logits of the others.
    Why: the sum in q_hat . k_hat has Dh terms.
    Look at: shape[1] where shape[-1] belongs.
    """
    return _normed(lambda q, k: q.shape[1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("logits-without-norm", of="qk_norm_logits", question="qk-norm")
def logits_without_norm(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits use q and k as they come: the norm is missing, so they grow with the weights.

    Example: q and k times 1000 must give the same logits, yours are a million times larger.
    Why: the whole point is that no weight can blow the logits up.
    Look at: rms_norm on both sides before the product.
    """
    return _with_logits(lambda q, k, a, b, e: _dots(q * a, k * b) * q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("logits-without-norm-or-gain", of="qk_norm_logits", extends="logits-without-norm")
def logits_without_norm_or_gain(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are plain scaled dot products: neither norm nor gain is applied.

    Example: q and k times 1000 must give the same logits, yours are a million times larger.
    Why: the whole point is that no weight can blow the logits up.
    Look at: what is done with rms_norm's results.
    """
    return _with_logits(lambda q, k, a, b, e: _dots(q, k) * q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("only-queries-normed", of="qk_norm_logits", question="qk-norm")
def only_queries_normed(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits norm the queries only, so they still grow with the keys.

    Example: k times 1000 must give the same logits, yours are a thousand times larger.
    Why: the logit is bounded only if both lengths are fixed.
    Look at: rms_norm on the keys.
    """
    return _with_logits(lambda q, k, a, b, e: _dots(norm(q, a, e), k) * q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("only-keys-normed", of="qk_norm_logits", question="qk-norm")
def only_keys_normed(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits norm the keys only, so they still grow with the queries.

    Example: q times 1000 must give the same logits, yours are a thousand times larger.
    Why: the logit is bounded only if both lengths are fixed.
    Look at: rms_norm on the queries.
    """
    return _with_logits(lambda q, k, a, b, e: _dots(q, norm(k, b, e)) * q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("cosine-logits", of="qk_norm_logits")
def cosine_logits(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are cosines divided by sqrt(Dh): with vectors of length 1 the attention is almost uniform.

    Example: Dh = 64, gains of one, q parallel to k: right is 8, yours is 1/8.
    Why: RMS norm leaves vectors of length sqrt(Dh); with length 1 the product is smaller by a factor of Dh.
    Look at: sum of squares where the mean is asked.
    """
    return _with_logits(lambda q, k, a, b, e: _dots(length_norm(q, a, e), length_norm(k, b, e)) * q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("cosine-without-scale", of="qk_norm_logits")
def cosine_without_scale(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are plain cosines times the gains: vectors of length 1, no scale.

    Example: Dh = 64, gains of one, q parallel to k: right is 8, yours is 1.
    Why: RMS norm leaves vectors of length sqrt(Dh), and with the scale the logit reaches sqrt(Dh).
    Look at: sum of squares where the mean is asked.
    """
    return _with_logits(lambda q, k, a, b, e: _dots(length_norm(q, a, e), length_norm(k, b, e)))(q, k, q_gain, k_gain, eps)


@misconception("logits-normed-afterwards", of="qk_norm_logits", question="qk-norm")
def logits_normed_afterwards(q, k, q_gain, k_gain, eps=1e-6):
    """Your code norms the logits; asked are logits of normed queries and keys.

    Example: one key that is a thousand times longer than the others still wins in yours.
    Why: once the dot products are made, the lengths of the single keys are mixed into them.
    Look at: the norm comes before the matrix product.
    """

    def logits(q, k, a, b, e):
        raw = _dots(q * a, k * b) * q.shape[-1] ** -0.5
        return raw / (mean_square(raw) + e).sqrt()

    return _with_logits(logits)(q, k, q_gain, k_gain, eps)


@misconception("query-gain-for-both-logits", of="qk_norm_logits")
def query_gain_for_both_logits(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits use q_gain on the keys as well; k_gain has no effect.

    Example: k_gain = 2 must double the logits, yours don't change.
    Why: each side has its own gain.
    Look at: the second call of rms_norm.
    """
    return _with_logits(lambda q, k, a, b, e: _dots(norm(q, a, e), norm(k, a, e)) * q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("key-gain-for-both-logits", of="qk_norm_logits", extends="query-gain-for-both-logits")
def key_gain_for_both_logits(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits use k_gain on the queries as well; q_gain has no effect.

    Example: q_gain = 2 must double the logits, yours don't change.
    Why: each side has its own gain.
    Look at: the first call of rms_norm.
    """
    return _with_logits(lambda q, k, a, b, e: _dots(norm(q, b, e), norm(k, b, e)) * q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


def _without(side):
    def logits(q, k, a, b, e):
        a, b = (torch.ones_like(a) if "q" in side else a), (torch.ones_like(b) if "k" in side else b)
        return _dots(norm(q, a, e), norm(k, b, e)) * q.shape[-1] ** -0.5

    return _with_logits(logits)


@misconception("logits-ignore-the-gains", of="qk_norm_logits")
def logits_ignore_the_gains(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits never use the gains.

    Example: q_gain = 2 must double the logits, yours don't change.
    Why: the gains are the only way to make the attention sharper than sqrt(Dh) allows.
    Look at: the gains in both calls of rms_norm.
    """
    return _without("qk")(q, k, q_gain, k_gain, eps)


@misconception("logits-ignore-the-key-gain", of="qk_norm_logits")
def logits_ignore_the_key_gain(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits never use k_gain.

    Example: k_gain = 2 must double the logits, yours don't change.
    Why: each side has its own gain.
    Look at: the second call of rms_norm.
    """
    return _without("k")(q, k, q_gain, k_gain, eps)


@misconception("logits-ignore-the-query-gain", of="qk_norm_logits")
def logits_ignore_the_query_gain(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits never use q_gain.

    Example: q_gain = 2 must double the logits, yours don't change.
    Why: each side has its own gain.
    Look at: the first call of rms_norm.
    """
    return _without("q")(q, k, q_gain, k_gain, eps)


@misconception("logits-ignore-eps", of="qk_norm_logits")
def logits_ignore_eps(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits take eps and don't pass it on to the norms.

    Example: eps = 0.5 must shrink the logits of vectors of size 1 by a third.
    Why: an argument that isn't handed to both calls has no effect.
    Look at: eps in both calls of rms_norm.
    """
    return _normed(lambda q, k: q.shape[-1] ** -0.5)(q, k, q_gain, k_gain)


@misconception("logits-eps-for-queries-only", of="qk_norm_logits", extends="logits-ignore-eps")
def logits_eps_for_queries_only(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits pass eps to the norm of the queries and forget it for the keys.

    Example: eps = 0.5: the keys are normed as if eps were 1e-6.
    Why: both norms share eps.
    Look at: the second call of rms_norm.
    """
    return _with_logits(lambda q, k, a, b, e: _dots(norm(q, a, e), norm(k, b)) * q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("logits-eps-default-1e-5", of="qk_norm_logits")
def logits_eps_default_1e_5(q, k, q_gain, k_gain, eps=1e-5):
    """Your logits' default eps is 1e-5; the exercise asks for 1e-6.

    Example: q and k of size 0.001, no eps given: your logits are about a fifth of the right ones.
    Why: the default decides what happens to small vectors.
    Look at: the signature of qk_norm_logits.
    """
    return _normed(lambda q, k: q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("logits-eps-default-1e-8", of="qk_norm_logits")
def logits_eps_default_1e_8(q, k, q_gain, k_gain, eps=1e-8):
    """Your logits' default eps is 1e-8; the exercise asks for 1e-6.

    Example: q and k of size 0.001, no eps given: your logits are about twice the right ones.
    Why: the default decides what happens to small vectors.
    Look at: the signature of qk_norm_logits.
    """
    return _normed(lambda q, k: q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("logits-norm-over-heads", of="qk_norm_logits")
def logits_norm_over_heads(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits norm q and k across the heads (axis 1); each vector is normed over its own Dh.

    Example: heads of sizes 1, 10, 100 must give logits of one size.
    Why: heads are independent.
    Look at: the axis of the mean, -1.
    """
    return _with_logits(lambda q, k, a, b, e: _dots(norm_over(1)(q, a, e), norm_over(1)(k, b, e)) * q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("logits-norm-over-tokens", of="qk_norm_logits")
def logits_norm_over_tokens(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits norm q and k across the tokens (axis 2); each vector is normed over its own Dh.

    Example: one key more must not change the logits of the others.
    Why: a token's norm must not depend on other tokens.
    Look at: the axis of the mean, -1.
    """
    return _with_logits(lambda q, k, a, b, e: _dots(norm_over(2)(q, a, e), norm_over(2)(k, b, e)) * q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("keys-by-queries", of="qk_norm_logits")
def keys_by_queries(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are transposed: keys down the rows, queries along the columns.

    Example: 4 queries and 5 keys: right is (B, H, 4, 5), yours is (B, H, 5, 4).
    Why: the softmax runs over the last axis, and that must be the keys.
    Look at: which side of the matrix product is transposed.
    """
    return _normed(lambda q, k: q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps).transpose(-2, -1)


@misconception("logits-softmaxed", of="qk_norm_logits")
def logits_softmaxed(q, k, q_gain, k_gain, eps=1e-6):
    """Your function returns attention weights; asked are the logits before the softmax.

    Example: your rows sum to 1; logits may have any sign and sum.
    Why: the mask and the softmax come later, and saturation expects logits.
    Look at: the softmax at the end.
    """
    return _normed(lambda q, k: q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps).softmax(-1)


@misconception("logits-in-half-precision", of="qk_norm_logits")
def logits_in_half_precision(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are added up in float16 and scaled afterwards: sums past 65504 are inf before the scale can help.

    Example: float16, Dh = 48, gains of 45: the sum is about 97000, the logit only 14000; yours is inf.
    Why: the norm came back in float16, and so the product runs in float16 as well.
    Look at: stay in float32 from the norms to the scale, cast back once at the end.
    """
    refuse_pair(q, k, q_gain, k_gain)
    return (_dots(norm(q, q_gain, eps), norm(k, k_gain, eps)) / math.sqrt(q.shape[-1])).to(q.dtype)


@misconception("logits-squared-in-half-precision", of="qk_norm_logits", extends="logits-in-half-precision")
def logits_half_norm(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits norm float16 input in float16: 300 squared is inf there.

    Example: q and k of size 300 in float16: right are finite logits, yours are 0 or nan.
    Why: squares, means and dot products belong in float32.
    Look at: q.float() and k.float() before the norms, .to(q.dtype) at the end.
    """
    refuse_pair(q, k, q_gain, k_gain)
    q_hat, k_hat = half_norm(q, q_gain, eps), half_norm(k, k_gain, eps)
    return (_dots(q_hat, k_hat) / math.sqrt(q.shape[-1])).to(q.dtype)


@misconception("logits-left-in-float32", of="qk_norm_logits")
def logits_promoted_norm(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits come back in float32; they have the dtype of q and k.

    Example: q and k float16: right are float16 logits.
    Why: computing wide is right, handing it on wide is not.
    Look at: .to(q.dtype) at the very end.
    """
    return _normed(lambda q, k: q.shape[-1] ** -0.5)(widened(q), widened(k), q_gain, k_gain, eps)


@misconception("logits-always-in-float32", of="qk_norm_logits", extends="logits-left-in-float32")
def logits_always_in_float32(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are float32 whatever q and k are; they have the dtype of q and k.

    Example: float64 q and k: right are float64 logits, and float16 ones for float16.
    Why: .float() at the start has no counterpart at the end.
    Look at: .to(q.dtype) at the very end.
    """
    return _normed(lambda q, k: q.shape[-1] ** -0.5)(q.float(), k.float(), q_gain.float(), k_gain.float(), eps)


@misconception("logits-float64-through-float32", of="qk_norm_logits")
def logits_float64_through_float32(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits convert to float32 always, so float64 input loses half of its digits.

    Example: float64 q and k: yours agree with the right logits to 7 digits; asked are 9 and more.
    Why: .float() widens float16 and narrows float64.
    Look at: convert only what is narrower than float32.
    """
    return _normed(lambda q, k: q.shape[-1] ** -0.5)(q.float(), k.float(), q_gain.float(), k_gain.float(), eps).to(q.dtype)


@misconception("logits-detached", of="qk_norm_logits")
def logits_detached(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits carry no graph, so no gradient reaches q, k or the gains.

    Example: loss.backward() raises an error or leaves the gradients at None.
    Why: detach, .data, numpy, or a new module with gains of its own ends the graph.
    Look at: how the logits are made.
    """
    return _normed(lambda q, k: q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps).detach()


@misconception("logits-gains-detached", of="qk_norm_logits")
def logits_gains_detached(q, k, q_gain, k_gain, eps=1e-6):
    """No gradient reaches the gains through your logits.

    Example: the gradients for q_gain and k_gain are None.
    Why: copying the gains into a module, .data or detach takes them out of the graph.
    Look at: how the gains enter the norms.
    """
    return _normed(lambda q, k: q.shape[-1] ** -0.5)(q, k, q_gain.detach(), k_gain.detach(), eps)


@misconception("logits-through-a-module-of-their-own", of="qk_norm_logits", extends="logits-gains-detached")
def logits_through_a_module_of_their_own(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits copy the gains into a new QKNorm: its parameters get the gradient, the caller's gains get none.

    Example: the gradients for q_gain and k_gain are None.
    Why: nn.Parameter(q_gain) and .data = ... make a new leaf without the history of the caller's tensor.
    Look at: QKNorm(...) inside qk_norm_logits; rms_norm takes the gains as they are.
    """
    return _normed(lambda q, k: q.shape[-1] ** -0.5)(q, k, torch.nn.Parameter(q_gain.detach()), torch.nn.Parameter(k_gain.detach()), eps)


def _unrefused(q, k, q_gain, k_gain, eps):
    q_hat, k_hat = norm_without_refusals(widened(q), q_gain, eps), norm_without_refusals(widened(k), k_gain, eps)
    return (_dots(q_hat, k_hat) / math.sqrt(q.shape[-1])).to(q.dtype)


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
    return (_dots(norm(widened(q), q_gain, eps), norm(widened(k), k_gain, eps)) / math.sqrt(q.shape[-1])).to(q.dtype)


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
    return _normed(lambda q, k: q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("contiguous-q-and-k-only", of="qk_norm_logits")
def contiguous_q_and_k_only(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits use view, which raises an error for tensors that don't lie contiguously in memory.

    Example: q.transpose(1, 2), the usual way to split heads, ends in a RuntimeError.
    Why: view only relabels memory; reshape copies where it has to.
    Look at: view; a matrix product takes all leading axes as they are.
    """
    refuse_pair(q, k, q_gain, k_gain)
    flat = q.view(-1, *q.shape[2:]).view(q.shape), k.view(-1, *k.shape[2:]).view(k.shape)
    return _normed(lambda q, k: q.shape[-1] ** -0.5)(*flat, q_gain, k_gain, eps)


@misconception("logits-demand-equal-lengths", of="qk_norm_logits")
def logits_demand_equal_lengths(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits refuse queries and keys of different number; T_q and T_k may differ.

    Example: 4 queries over 5 keys, as with a cache, must work.
    Why: every query is compared with every key, whatever their counts.
    Look at: a comparison of whole shapes where heads and width are meant.
    """
    if q.shape != k.shape:
        raise ValueError("q and k must have the same shape")
    return _normed(lambda q, k: q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("assert-in-the-logits", of="qk_norm_logits")
def assert_in_the_logits(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits refuse with assert; a ValueError is asked.

    Example: q of rank 3 ends in an AssertionError.
    Why: asserts vanish under `python -O`, and callers can't tell a wrong argument from a broken program.
    Look at: assert; write `if ...: raise ValueError("q ...")`.
    """
    try:
        return _normed(lambda q, k: q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)
    except ValueError as error:
        raise AssertionError(str(error)) from None
