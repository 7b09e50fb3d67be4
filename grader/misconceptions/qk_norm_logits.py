"""What people get wrong in exercise 05: the logits, their scale, norm, gains and eps."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.qk_norm_parts import dots, length_norm, mean_square, norm, normed, with_logits


@misconception("scale-forgotten", of="qk_norm_logits", question="score-variance")
def scale_forgotten(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits lack the scale: q_hat . k_hat is still to be divided by sqrt(Dh).

    Example: Dh = 64, gains of one, q parallel to k: right is 8, yours is 64.
    Why: both vectors have length sqrt(Dh), so their product reaches Dh.
    Look at: the factor after the matrix product.
    """
    return normed(lambda q, k: 1)(q, k, q_gain, k_gain, eps)


@misconception("scaled-twice", of="qk_norm_logits")
def scaled_twice(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are divided by Dh; once by sqrt(Dh) is asked.

    Example: Dh = 64, gains of one, q parallel to k: right is 8, yours is 1.
    Why: dividing both q_hat and k_hat by sqrt(Dh), or the norm and the product, applies the scale twice.
    Look at: every place where sqrt(Dh) stands.
    """
    return normed(lambda q, k: 1 / q.shape[-1])(q, k, q_gain, k_gain, eps)


@misconception("scale-of-width-64", of="qk_norm_logits")
def scale_of_width_64(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are divided by 8, the scale of Dh = 64, whatever the width is.

    Example: Dh = 5: right is a division by sqrt(5).
    Why: Dh is the length of q's last axis, and 64 is only one common choice.
    Look at: a number where q.shape[-1] belongs.
    """
    return normed(lambda q, k: 0.125)(q, k, q_gain, k_gain, eps)


@misconception("multiplied-by-root-dh", of="qk_norm_logits")
def multiplied_by_root_dh(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are multiplied by sqrt(Dh) where they should be divided by it.

    Example: Dh = 64, gains of one, q parallel to k: right is 8, yours is 512.
    Why: the sum over Dh products grows with Dh, and the scale takes that back.
    Look at: Dh ** 0.5 as a factor; the exponent is -0.5.
    """
    return normed(lambda q, k: q.shape[-1] ** 0.5)(q, k, q_gain, k_gain, eps)


@misconception("scaled-by-tokens", of="qk_norm_logits")
def scaled_by_tokens(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are divided by the root of the number of queries; the scale is sqrt(Dh).

    Example: more tokens in a batch must not change the logits of the others.
    Why: the sum in q_hat . k_hat has Dh terms, however many tokens there are.
    Look at: shape[-2] where shape[-1] belongs.
    """
    return normed(lambda q, k: q.shape[-2] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("scaled-by-keys", of="qk_norm_logits")
def scaled_by_keys(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are divided by the root of the number of keys; the scale is sqrt(Dh).

    Example: more keys must not change the logits of the others.
    Why: the sum in q_hat . k_hat has Dh terms, however many keys there are.
    Look at: the axis that the scale is read from; after a transpose the last one is T_k.
    """
    return normed(lambda q, k: k.shape[-2] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("scaled-by-the-whole-model", of="qk_norm_logits")
def scaled_by_the_whole_model(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are divided by sqrt(H * Dh), the width of the whole model; the sum has only Dh terms.

    Example: two heads instead of one must not change the logits of a head.
    Why: each head has its own dot product over Dh.
    Look at: which width stands under the root.
    """
    return normed(lambda q, k: (q.shape[1] * q.shape[-1]) ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("scaled-by-heads", of="qk_norm_logits")
def scaled_by_heads(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are divided by the root of the number of heads; the scale is sqrt(Dh).

    Example: more heads must not change the logits of the others.
    Why: the sum in q_hat . k_hat has Dh terms.
    Look at: shape[1] where shape[-1] belongs.
    """
    return normed(lambda q, k: q.shape[1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("logits-without-norm", of="qk_norm_logits", question="qk-norm")
def logits_without_norm(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits use q and k as they come: the norm is missing, so they grow with the weights.

    Example: q and k times 1000 must give the same logits, yours are a million times larger.
    Why: the whole point is that no weight can blow the logits up.
    Look at: rms_norm on both sides before the product.
    """
    return with_logits(lambda q, k, a, b, e: dots(q * a, k * b) * q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("logits-without-norm-or-gain", of="qk_norm_logits", extends="logits-without-norm")
def logits_without_norm_or_gain(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are plain scaled dot products: neither norm nor gain is applied.

    Example: q and k times 1000 must give the same logits, yours are a million times larger.
    Why: the whole point is that no weight can blow the logits up.
    Look at: what is done with rms_norm's results.
    """
    return with_logits(lambda q, k, a, b, e: dots(q, k) * q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("only-queries-normed", of="qk_norm_logits", question="qk-norm")
def only_queries_normed(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits norm the queries only, so they still grow with the keys.

    Example: k times 1000 must give the same logits, yours are a thousand times larger.
    Why: the logit is bounded only if both lengths are fixed.
    Look at: rms_norm on the keys.
    """
    return with_logits(lambda q, k, a, b, e: dots(norm(q, a, e), k) * q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("only-keys-normed", of="qk_norm_logits", question="qk-norm")
def only_keys_normed(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits norm the keys only, so they still grow with the queries.

    Example: q times 1000 must give the same logits, yours are a thousand times larger.
    Why: the logit is bounded only if both lengths are fixed.
    Look at: rms_norm on the queries.
    """
    return with_logits(lambda q, k, a, b, e: dots(q, norm(k, b, e)) * q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("cosine-logits", of="qk_norm_logits")
def cosine_logits(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are cosines divided by sqrt(Dh): with vectors of length 1 the attention is almost uniform.

    Example: Dh = 64, gains of one, q parallel to k: right is 8, yours is 1/8.
    Why: RMS norm leaves vectors of length sqrt(Dh); with length 1 the product is smaller by a factor of Dh.
    Look at: sum of squares where the mean is asked.
    """
    return with_logits(lambda q, k, a, b, e: dots(length_norm(q, a, e), length_norm(k, b, e)) * q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("cosine-without-scale", of="qk_norm_logits")
def cosine_without_scale(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are plain cosines times the gains: vectors of length 1, no scale.

    Example: Dh = 64, gains of one, q parallel to k: right is 8, yours is 1.
    Why: RMS norm leaves vectors of length sqrt(Dh), and with the scale the logit reaches sqrt(Dh).
    Look at: sum of squares where the mean is asked.
    """
    return with_logits(lambda q, k, a, b, e: dots(length_norm(q, a, e), length_norm(k, b, e)))(q, k, q_gain, k_gain, eps)


@misconception("logits-normed-afterwards", of="qk_norm_logits", question="qk-norm")
def logits_normed_afterwards(q, k, q_gain, k_gain, eps=1e-6):
    """Your code norms the logits; asked are logits of normed queries and keys.

    Example: one key that is a thousand times longer than the others still wins in yours.
    Why: once the dot products are made, the lengths of the single keys are mixed into them.
    Look at: the norm comes before the matrix product.
    """

    def logits(q, k, a, b, e):
        raw = dots(q * a, k * b) * q.shape[-1] ** -0.5
        return raw / (mean_square(raw) + e).sqrt()

    return with_logits(logits)(q, k, q_gain, k_gain, eps)


@misconception("query-gain-for-both-logits", of="qk_norm_logits")
def query_gain_for_both_logits(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits use q_gain on the keys as well; k_gain has no effect.

    Example: k_gain = 2 must double the logits, yours don't change.
    Why: each side has its own gain.
    Look at: the second call of rms_norm.
    """
    return with_logits(lambda q, k, a, b, e: dots(norm(q, a, e), norm(k, a, e)) * q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("key-gain-for-both-logits", of="qk_norm_logits", extends="query-gain-for-both-logits")
def key_gain_for_both_logits(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits use k_gain on the queries as well; q_gain has no effect.

    Example: q_gain = 2 must double the logits, yours don't change.
    Why: each side has its own gain.
    Look at: the first call of rms_norm.
    """
    return with_logits(lambda q, k, a, b, e: dots(norm(q, b, e), norm(k, b, e)) * q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


def _without(side):
    def logits(q, k, a, b, e):
        a, b = (torch.ones_like(a) if "q" in side else a), (torch.ones_like(b) if "k" in side else b)
        return dots(norm(q, a, e), norm(k, b, e)) * q.shape[-1] ** -0.5

    return with_logits(logits)


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
    return normed(lambda q, k: q.shape[-1] ** -0.5)(q, k, q_gain, k_gain)


@misconception("logits-eps-for-queries-only", of="qk_norm_logits", extends="logits-ignore-eps")
def logits_eps_for_queries_only(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits pass eps to the norm of the queries and forget it for the keys.

    Example: eps = 0.5: the keys are normed as if eps were 1e-6.
    Why: both norms share eps.
    Look at: the second call of rms_norm.
    """
    return with_logits(lambda q, k, a, b, e: dots(norm(q, a, e), norm(k, b)) * q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("logits-eps-default-1e-5", of="qk_norm_logits")
def logits_eps_default_1e_5(q, k, q_gain, k_gain, eps=1e-5):
    """Your logits' default eps is 1e-5; the exercise asks for 1e-6.

    Example: q and k of size 0.001, no eps given: your logits are about a fifth of the right ones.
    Why: the default decides what happens to small vectors.
    Look at: the signature of qk_norm_logits.
    """
    return normed(lambda q, k: q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)


@misconception("logits-eps-default-1e-8", of="qk_norm_logits")
def logits_eps_default_1e_8(q, k, q_gain, k_gain, eps=1e-8):
    """Your logits' default eps is 1e-8; the exercise asks for 1e-6.

    Example: q and k of size 0.001, no eps given: your logits are about twice the right ones.
    Why: the default decides what happens to small vectors.
    Look at: the signature of qk_norm_logits.
    """
    return normed(lambda q, k: q.shape[-1] ** -0.5)(q, k, q_gain, k_gain, eps)
