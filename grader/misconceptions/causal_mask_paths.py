"""What people get wrong in exercise 03 about attention: axes and layouts, scales, caches, gradients, narrow steps."""

import torch
from attngrade.misconceptions import misconception
from attngrade.solutions import exercise03_causal_mask as right

NEGATIVE = float("-inf")
__all__: list[str] = []  # filled by `wrong_attention`: every misconception below


def wrong_attention(name, **options):
    """A misconception of causal_attention, exported."""

    def mark(code):
        __all__.append(code.__name__)
        return misconception(name, of="causal_attention", **options)(code)

    return mark


def wide(x):
    return x.to(torch.promote_types(x.dtype, torch.float32))


def visible(q, k):
    return right.causal_mask(q.shape[-2], k.shape[-2], q.device)


def scores_of(q, k, scale=None):
    return wide(q) @ wide(k).mT * (q.shape[-1] ** -0.5 if scale is None else scale)


def shared_out(scores, mask, q, v):
    """Outputs by the right softmax of these scores."""
    return (right.masked_softmax(scores, mask) @ wide(v)).to(q.dtype)


# ---------------------------------------------------------------- axes and layouts


@wrong_attention("keys-reshaped-instead-of-transposed")
def keys_reshaped(q, k, v):
    """You reshape the keys to (.., Dh, T_k); that cuts the same numbers up anew, where the two axes have to be swapped.

    Example: T_k=2, Dh=3: your column 0 is the first, third and fifth number of k, not the first key.
    Why: reshape keeps the order in memory; `mT` (or `transpose(-2, -1)`) swaps axes.
    Look at: `reshape` or `view` on the way to q @ k^T.
    """
    turned = wide(k).reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])
    return shared_out(wide(q) @ turned * q.shape[-1] ** -0.5, visible(q, k), q, v)


@wrong_attention("tokens-and-heads-swapped")
def tokens_and_heads(q, k, v):
    """You take the inputs for (B, T, H, Dh): your softmax runs over the heads of one token. They come as (B, H, T, Dh).

    Example: B=2, H=3, T=2: you compare three heads with each other, under a 3 x 3 mask.
    Why: with heads in front, q @ k^T has tokens on its last two axes.
    Look at: `transpose(1, 2)` at the top.
    """
    return right.causal_attention(*(x.transpose(1, 2) for x in (q, k, v))).transpose(1, 2)


@wrong_attention("weights-transposed")
def weights_transposed(q, k, v):
    """You multiply the transposed weights with the values: each value is spread over the keys of its query instead of collected.

    Example: T=2: output 0 has a part of value 1, which lies in its future.
    Why: output i is the sum over j of weights[i, j] * v[j], that is weights @ v.
    Look at: the letters of your einsum, or a `mT` too many.
    """
    return (right.masked_softmax(scores_of(q, k), visible(q, k)).mT @ wide(v)).to(q.dtype)


@wrong_attention("attention-over-the-batch")
def over_the_batch(q, k, v):
    """Your softmax runs over the batch (axis 0): the weights of one query and key sum to 1 over the sequences.

    Example: with B=1 every visible weight is 1.
    Why: the keys lie along the last axis.
    Look at: `dim=0`; it is -1.
    """
    scores = scores_of(q, k).masked_fill(~visible(q, k), NEGATIVE)
    return (scores.softmax(0).nan_to_num(0.0) @ wide(v)).to(q.dtype)


@wrong_attention("output-squeezed")
def output_squeezed(q, k, v):
    """You squeeze the result: axes of length 1 are gone with it.

    Example: B=1, H=1: you return (T_q, Dh), and (1, 1, T_q, Dh) is right.
    Why: a batch of one is a batch.
    Look at: `squeeze()` without an axis.
    """
    return right.causal_attention(q, k, v).squeeze()


@wrong_attention("keys-of-the-first-head-for-all")
def first_head_for_all(q, k, v):
    """All heads use keys and values of the first head; every head has its own.

    Example: H=3: heads 1 and 2 attend to what head 0 stores.
    Why: heads differ in what they look for; sharing keys is another architecture (multi-query attention).
    Look at: an index or a slice on axis 1 of k and v.
    """
    return right.causal_attention(q, k[:, :1].expand_as(k), v[:, :1].expand_as(v))


@wrong_attention("keys-of-the-first-sequence-for-all")
def first_sequence_for_all(q, k, v):
    """All sequences of the batch use keys and values of the first one.

    Example: B=2: sequence 1 reads what was said in sequence 0.
    Why: a batch is a stack of sequences that know nothing of each other.
    Look at: an index or a slice on axis 0 of k and v.
    """
    return right.causal_attention(q, k[:1].expand_as(k), v[:1].expand_as(v))


# ---------------------------------------------------------------- scale and softmax


@wrong_attention("scale-of-the-fourth-root", question="score-variance")
def fourth_root(q, k, v):
    """Your scale is Dh ** -0.25: a quarter is what q and k get each when both are scaled, and only one of them is.

    Example: with Dh = 64 your scores scatter by 2.8 instead of 1.
    Why: q.k has to be divided by sqrt(Dh) in all.
    Look at: the exponent, and how often the scale is applied.
    """
    return shared_out(scores_of(q, k, q.shape[-1] ** -0.25), visible(q, k), q, v)


@wrong_attention("scale-of-the-number-of-heads", question="score-variance")
def scale_of_heads(q, k, v):
    """Your scale is taken from the number of heads, H, instead of the width Dh.

    Example: H=3, Dh=5: you divide by sqrt(3), and sqrt(5) is right.
    Why: q.k sums over the Dh components of one head.
    Look at: which axis of q the scale comes from: the last.
    """
    return shared_out(scores_of(q, k, q.shape[1] ** -0.5), visible(q, k), q, v)


@wrong_attention("scale-for-a-width-of-64", question="score-variance")
def scale_of_64(q, k, v):
    """Your scale is 1/8, which is right for Dh = 64 alone.

    Example: Dh=5: you divide by 8, and 2.24 is right.
    Why: the width of a head is whatever q has.
    Look at: the constant: `q.shape[-1] ** -0.5` belongs there.
    """
    return shared_out(scores_of(q, k, 0.125), visible(q, k), q, v)


@wrong_attention("attention-without-the-maximum")
def without_maximum(q, k, v):
    """Inside your attention exp runs over the scores as they are: large ones overflow, and very low ones underflow to 0 / 0.

    Example: a score of 1500 gives NaN.
    Why: the softmax doesn't change when a constant is taken from a row; with its largest visible score gone no exponent is positive.
    Look at: your own `masked_softmax`: use it here.
    """
    e = scores_of(q, k).masked_fill(~visible(q, k), NEGATIVE).exp()
    total = e.sum(-1, keepdim=True)
    return (e / torch.where(total > 0, total, 1.0) @ wide(v)).to(q.dtype)


@wrong_attention("output-not-normalised")
def output_not_normalised(q, k, v):
    """Your output is the sum of the values times exp(score - maximum), never divided by the sum of those.

    Example: one key alone is right by chance; with two equal ones the output is twice as large.
    Why: weights sum to 1, so that an output is an average of values.
    Look at: the division by the sum, before or after the product with v.
    """
    scores, mask = scores_of(q, k).masked_fill(~visible(q, k), NEGATIVE), visible(q, k)
    top = torch.where(mask.any(-1, keepdim=True), scores.amax(-1, keepdim=True) if k.shape[-2] else 0.0, 0.0)
    return ((scores - top).exp() @ wide(v)).to(q.dtype)


@wrong_attention("output-divided-by-the-keys-seen")
def divided_by_seen(q, k, v):
    """You divide the output by the number of visible keys as well; the weights sum to 1 already.

    Example: T=2: output 1 is half of what is right.
    Why: a softmax is an average by itself.
    Look at: a `mean`, or a division by a count.
    """
    seen = visible(q, k).sum(-1, keepdim=True).clamp(min=1)
    return (wide(right.causal_attention(wide(q), wide(k), wide(v))) / seen).to(q.dtype)


@wrong_attention("scores-have-no-effect")
def no_effect(q, k, v):
    """Each of your outputs is the plain average of the visible values: queries and keys have no effect.

    Example: T=2: output 1 is (v_0 + v_1) / 2 whatever q and k are.
    Why: weights follow exp(q.k / sqrt(Dh)).
    Look at: what happens to the scores between q @ k^T and the product with v.
    """
    return shared_out(scores_of(q, k, 0.0), visible(q, k), q, v)


# ---------------------------------------------------------------- lengths and caches


@wrong_attention("attention-hides-the-cache", question="causal-alignment")
def hides_the_cache(q, k, v):
    """Your attention is causal among the newest T_q keys and never sees those before them: the cache has no effect.

    Example: T_q=1, T_k=4: your query sees key 3 alone, and it may see all four.
    Why: keys before the first query are the past, and the past is visible.
    Look at: a slice of the last T_q keys, or a mask that is False to the left of its square.
    """
    t_q = q.shape[-2]
    return right.causal_attention(q, k[:, :, -t_q:], v[:, :, -t_q:])


@wrong_attention("attention-unmasked-over-a-cache", question="causal-alignment")
def unmasked_over_cache(q, k, v):
    """With more keys than queries your attention hides nothing; that is right for a single query alone.

    Example: T_q=2, T_k=3: query 0 sees key 2, which is its future.
    Why: several new tokens over a cache still have a future among themselves.
    Look at: the condition under which you leave the mask out: `T_q == 1`.
    """
    mask = visible(q, k) if q.shape[-2] >= k.shape[-2] else torch.ones_like(visible(q, k))
    return shared_out(scores_of(q, k), mask, q, v)


@wrong_attention("attention-unequal-lengths-refused", question="causal-alignment")
def unequal_refused(q, k, v):
    """You refuse inputs with T_q and T_k of different size; both may be any.

    Example: T_q=1, T_k=4 is one new token over a cache.
    Why: keys and values are kept from earlier steps, queries aren't.
    Look at: the shapes that you compare: batch, heads and width have to fit, and k with v.
    """
    if q.shape[-2] != k.shape[-2]:
        raise ValueError("q and k")
    return right.causal_attention(q, k, v)


@wrong_attention("empty-queries-see-the-first-key", question="empty-row")
def see_first_key(q, k, v):
    """A query that sees no key comes out as the first value; it has to come out as zeros.

    Example: T_q=2, T_k=1: your output 0 is v_0.
    Why: a query that may see nothing has nothing to average; a value that it may not see would leak.
    Look at: a mask whose first column is always True.
    """
    mask = visible(q, k).clone()
    mask[:, :1] = True
    return shared_out(scores_of(q, k), mask, q, v)


@wrong_attention("empty-queries-left-out", question="empty-row")
def left_out(q, k, v):
    """With more queries than keys you return outputs of the last T_k queries alone; the first ones are zeros, and belong there.

    Example: T_q=3, T_k=2: you return two rows, and three are right.
    Why: the result has q's shape.
    Look at: a slice of q, or of the result.
    """
    return right.causal_attention(q, k, v)[:, :, max(0, q.shape[-2] - k.shape[-2]):]


@wrong_attention("empty-queries-at-the-end", question="causal-alignment")
def empty_at_the_end(q, k, v):
    """With more queries than keys your rows of zeros stand at the end; the first queries are those that see nothing.

    Example: T_q=3, T_k=2: rows 0 and 1 of your result belong to queries 1 and 2, and row 2 is zero; row 0 has to be.
    Why: the last query sits on the last key, so T_q - T_k queries come before the first key.
    Look at: the side on which you pad: `pad(out, (0, 0, missing, 0))` puts the zeros in front.
    """
    return right.causal_attention(q, k, v).roll(-max(0, q.shape[-2] - k.shape[-2]), -2)


# ---------------------------------------------------------------- gradients


@wrong_attention("values-detached")
def values_detached(q, k, v):
    """No gradient reaches the values: they are cut off on the way.

    Example: the gradient of v is None or zero, and those of q and k are right.
    Why: the output is weights @ v, so v gets weights^T @ gradient.
    Look at: `detach`, `.data` or `no_grad` around v.
    """
    return right.causal_attention(q, k, v.detach())


@wrong_attention("keys-and-values-detached")
def keys_and_values_detached(q, k, v):
    """No gradient reaches keys and values, as if they were a cache: they are cut off on the way.

    Example: the gradients of k and v are None or zero, and that of q is right.
    Why: a cache is for generating; in training every key and value is computed from parameters.
    Look at: `detach`, `.data` or `no_grad` around k and v.
    """
    return right.causal_attention(q, k.detach(), v.detach())


@wrong_attention("keys-detached")
def keys_detached(q, k, v):
    """No gradient reaches the keys: they are cut off on the way.

    Example: the gradient of k is None or zero, and those of q and v are right.
    Why: scores are q @ k^T, so k gets (gradient of the scores)^T @ q.
    Look at: `detach`, `.data` or `no_grad` around k.
    """
    return right.causal_attention(q, k.detach(), v)


@wrong_attention("queries-detached")
def queries_detached(q, k, v):
    """No gradient reaches the queries: they are cut off on the way.

    Example: the gradient of q is None or zero, and those of k and v are right.
    Why: scores are q @ k^T, so q gets (gradient of the scores) @ k.
    Look at: `detach`, `.data` or `no_grad` around q.
    """
    return right.causal_attention(q.detach(), k, v)


@wrong_attention("attention-normaliser-detached", question="softmax-jacobian")
def attention_normaliser_detached(q, k, v):
    """You detach the sum that you divide by: the outputs are right, and the gradients of q and k lack the part by which one score lowers all other weights.

    Example: T=1: the gradient of q isn't 0, though the only weight is always 1.
    Why: dp_i / ds_j = p_i (1[i = j] - p_j), and -p_i p_j comes from the sum. Only the maximum may be detached.
    Look at: `detach` on the sum.
    """
    mask = visible(q, k)
    scores = scores_of(q, k).masked_fill(~mask, NEGATIVE)
    top = torch.where(mask.any(-1, keepdim=True), scores.amax(-1, keepdim=True).detach(), 0.0)
    e = (scores - top).exp()
    total = e.sum(-1, keepdim=True).detach()
    return (e / torch.where(total > 0, total, 1.0) @ wide(v)).to(q.dtype)


class Scores(torch.autograd.Function):
    """q @ k^T with its scale, and a backward that forgets the scale."""

    @staticmethod
    def forward(ctx, q, k):
        ctx.save_for_backward(q, k)
        return q @ k.mT * q.shape[-1] ** -0.5

    @staticmethod
    def backward(ctx, up):
        q, k = ctx.saved_tensors
        return up @ k, up.mT @ q


@wrong_attention("backward-without-the-scale")
def backward_without_scale(q, k, v):
    """Your own backward forgets the scale: gradients of q and k are sqrt(Dh) times what is right, that of v is right.

    Example: Dh=4: they are twice as large.
    Why: scores = scale * q @ k^T, so the scale multiplies every gradient that goes through them.
    Look at: grad_q = scale * grad_scores @ k, and grad_k likewise.
    """
    return shared_out(Scores.apply(wide(q), wide(k)), visible(q, k), q, v)


# ---------------------------------------------------------------- narrow steps, changed arguments


@wrong_attention("bfloat16-not-widened")
def bfloat16_not_widened(q, k, v):
    """You widen float16 and forget bfloat16, whose scores and sums then run in bfloat16.

    Example: bfloat16 scores near 1470 come in steps of 8.
    Why: bfloat16 has 8 bits, three fewer than float16.
    Look at: `q.dtype == torch.float16`: what is not float64 goes to float32.
    """
    if q.dtype != torch.bfloat16:
        return right.causal_attention(q, k, v)
    scores = q @ k.mT * q.shape[-1] ** -0.5
    return right.masked_softmax(scores, visible(q, k)) @ v


@wrong_attention("keys-scaled-in-place")
def keys_in_place(q, k, v):
    """You scale the caller's keys in place.

    Example: after the call k is divided by sqrt(Dh), and the next step over the same cache divides it again.
    Why: arguments belong to the caller.
    Look at: `k *= ...`, `k.mul_`, `k.div_`.
    """
    result = right.causal_attention(q, k, v)
    with torch.no_grad():
        k *= q.shape[-1] ** -0.5
    return result
