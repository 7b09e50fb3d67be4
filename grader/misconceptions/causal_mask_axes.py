"""What people get wrong in exercise 03: causal_attention, axes and roles, precision, gradients, memory."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.causal_mask_parts import parts, scaled_by, weighed_by
from attngrade.solutions import exercise03_causal_mask as right

# ---------------------------------------------------------------- axes and roles


@misconception("attention-over-queries", of="causal_attention")
def attention_over_queries(q, k, v):
    """Your softmax runs over the queries, not over the keys: the weights of one key sum to 1.

    Example: the first of two tokens has to come out as its own value; yours comes out shrunk.
    Why: each query shares its weight among the keys, which are the last axis of the scores.
    Look at: the `dim` of the softmax: -1.
    """

    def weigh(scores, mask):
        logits = scores.masked_fill(~mask, float("-inf")).masked_fill(~mask.any(-2, keepdim=True), 0.0)
        return logits.softmax(-2).masked_fill(~mask, 0.0)

    return weighed_by(q, k, v, weigh)


@misconception("attention-over-heads", of="causal_attention")
def over_heads(q, k, v):
    """Your softmax runs over the heads: the weights of one query and key sum to 1 over the heads.

    Example: with one head every visible weight is 1, whatever the scores are.
    Why: heads are independent; each query shares its weight among the keys, the last axis of the scores.
    Look at: `dim=1` where `dim=-1` is meant.
    """

    def weigh(scores, mask):
        return torch.where(mask, scores.masked_fill(~mask, 0.0).softmax(1), 0.0)

    return weighed_by(q, k, v, weigh)


@misconception("keys-averaged-instead-of-values", of="causal_attention")
def keys_averaged(q, k, v):
    """You average the keys; the values are what is averaged.

    Example: a single token has to come out as its value; yours comes out as its key.
    Why: keys say where to look, values say what is found there.
    Look at: the last matrix product.
    """
    return right.causal_attention(q, k, k)


@misconception("keys-and-values-swapped", of="causal_attention")
def swapped(q, k, v):
    """Keys and values have changed places: you compare queries with values and average the keys.

    Example: a single token has to come out as its value; yours comes out as its key.
    Why: keys say where to look, values say what is found there. The order of the arguments is q, k, v.
    Look at: the names in the signature and in the two matrix products.
    """
    return right.causal_attention(q, v, k)


@misconception("heads-moved-behind-tokens", of="causal_attention")
def heads_behind(q, k, v):
    """Your result is (B, T_q, H, Dh); (B, H, T_q, Dh) was asked.

    Example: B=2, H=3, T_q=1, Dh=3: you return (2, 1, 3, 3), and (2, 3, 1, 3) was asked.
    Why: merging the heads is another exercise; here the axes stay in the order in which they came.
    Look at: the `transpose(1, 2)` at the end.
    """
    return right.causal_attention(q, k, v).transpose(1, 2)


@misconception("heads-merged", of="causal_attention")
def heads_merged(q, k, v):
    """Your result is (B, T_q, H * Dh): the heads are merged already; (B, H, T_q, Dh) was asked.

    Example: B=2, H=3, T_q=1, Dh=3: you return (2, 1, 9), and (2, 3, 1, 3) was asked.
    Why: merging the heads is another exercise.
    Look at: the reshape at the end.
    """
    return right.causal_attention(q, k, v).transpose(1, 2).flatten(2)


@misconception("weights-returned-too", of="causal_attention")
def weights_too(q, k, v):
    """You return the weights beside the output; the output alone was asked.

    Example: causal_attention(q, k, v) has to be one tensor (B, H, T_q, Dh), and yours is a tuple of two.
    Why: a caller that adds the result to something, or takes its shape, has no use for a tuple.
    Look at: the `return`.
    """
    scores, mask, _ = parts(q, k, v)
    return right.causal_attention(q, k, v), right.masked_softmax(scores, mask).to(q.dtype)


@misconception("more-queries-than-keys-refused", of="causal_attention", question="causal-alignment")
def attention_more_queries_refused(q, k, v):
    """Your attention refuses more queries than keys; that is legal, and the first outputs are zero.

    Example: T_q=2, T_k=1: query 0 sees nothing and comes out as zeros, query 1 comes out as the value of the key.
    Why: the last query sits on the last key whatever the two sizes are, and rows without a visible key are legal here.
    Look at: the condition of your ValueError.
    """
    if q.shape[-2] > k.shape[-2]:
        raise ValueError("q")
    return right.causal_attention(q, k, v)


# ---------------------------------------------------------------- precision, gradients, memory


@misconception("output-not-cast-back", of="causal_attention")
def not_cast_back(q, k, v):
    """Your output is float32 for float16 and bfloat16 input; the input's dtype was asked.

    Example: float16 q, k and v have to give a float16 output.
    Why: the sums run in float32, and the result is cast back once, at the end.
    Look at: the last line.
    """
    wide = torch.promote_types(q.dtype, torch.float32)
    return right.causal_attention(q.to(wide), k.to(wide), v.to(wide))


@misconception("output-always-float32", of="causal_attention")
def attention_always_single(q, k, v):
    """Your output is float32 whatever came in; the input's dtype was asked.

    Example: float64 q, k and v have to give a float64 output.
    Why: a result has the dtype of its input.
    Look at: `.float()` without a cast back.
    """
    return right.causal_attention(q.float(), k.float(), v.float())


@misconception("output-always-float64", of="causal_attention")
def attention_always_double(q, k, v):
    """Your output is float64 whatever came in; the input's dtype was asked.

    Example: float32 q, k and v have to give a float32 output.
    Why: a result has the dtype of its input; more digits inside are welcome, and the last step casts back.
    Look at: `.double()` without a cast back.
    """
    return right.causal_attention(q.double(), k.double(), v.double())


@misconception("float64-computed-in-float32", of="causal_attention")
def in_single(q, k, v):
    """You compute in float32 whatever came in: float64 input loses half its digits.

    Example: float64 outputs have to be right to 1e-9; float32 has 7 digits.
    Why: float32 is the working precision for half precision only; float64 stays float64.
    Look at: `.float()` or `dtype=torch.float32`.
    """
    return attention_always_single(q, k, v).to(q.dtype)


@misconception("scores-in-half-precision", of="causal_attention")
def half_scores(q, k, v):
    """With half precision your scores are rounded to float16 or bfloat16 before the softmax; they have to be float32.

    Example: a float16 score near 1470 is a whole number: differences below 1, which decide the weights, are gone. Past 65504 it is infinite.
    Why: sums run in float32; only the result is cast back.
    Look at: q @ k^T: bring q and k to float32 first.
    """
    right.causal_attention(q, k, v)
    weights = right.masked_softmax(q @ k.mT * q.shape[-1] ** -0.5, right.causal_mask(q.shape[-2], k.shape[-2], q.device))
    return weights @ v


@misconception("scores-in-half-precision-only", of="causal_attention", extends="scores-in-half-precision")
def half_scores_only(q, k, v):
    """With half precision you multiply q and k in float16 or bfloat16 and widen afterwards: the scores are rounded or infinite already.

    Example: a float16 score near 1470 is a whole number: differences below 1, which decide the weights, are gone. Past 65504 it is infinite.
    Why: sums run in float32; widening a rounded number doesn't bring its digits back.
    Look at: the `.float()` belongs to q and k, before the product.
    """
    scores, mask, values = parts(q, k, v)
    scores = (q @ k.mT).to(scores.dtype) * q.shape[-1] ** -0.5
    return (right.masked_softmax(scores, mask) @ values).to(q.dtype)


@misconception("queries-scaled-in-half-precision", of="causal_attention", extends="scores-in-half-precision")
def half_prescaled(q, k, v):
    """With half precision you scale and multiply in float16 or bfloat16: the scores are rounded before the softmax sees them.

    Example: a float16 score near 1470 is a whole number: differences below 1, which decide the weights, are gone.
    Why: sums run in float32; only the result is cast back.
    Look at: q @ k^T: bring q and k to float32 first.
    """
    right.causal_attention(q, k, v)
    weights = right.masked_softmax((q * q.shape[-1] ** -0.5) @ k.mT, right.causal_mask(q.shape[-2], k.shape[-2], q.device))
    return weights @ v


@misconception("queries-scaled-in-half-precision-only", of="causal_attention", extends="scores-in-half-precision")
def half_prescaled_only(q, k, v):
    """With half precision you scale q and multiply it with k in float16 or bfloat16, and widen afterwards: the scores are rounded already.

    Example: a float16 score near 1470 is a whole number: differences below 1, which decide the weights, are gone.
    Why: sums run in float32; widening a rounded number doesn't bring its digits back.
    Look at: the `.float()` belongs to q and k, before the scale and the product.
    """
    scores, mask, values = parts(q, k, v)
    scores = ((q * q.shape[-1] ** -0.5) @ k.mT).to(scores.dtype)
    return (right.masked_softmax(scores, mask) @ values).to(q.dtype)


@misconception("queries-and-keys-scaled-in-half-precision", of="causal_attention", extends="scores-in-half-precision")
def half_scaled_by_the_fourth_root(q, k, v):
    """With half precision you scale q and k and multiply them in float16 or bfloat16, and widen afterwards: the scores are rounded already.

    Example: a float16 score near 1470 is a whole number: differences below 1, which decide the weights, are gone.
    Why: a fourth root on each side keeps large products finite, but sums run in float32; widening a rounded number doesn't bring its digits back.
    Look at: the `.float()` belongs to q and k, before the scale and the product.
    """
    scores, mask, values = parts(q, k, v)
    scale = q.shape[-1] ** -0.25
    scores = ((q * scale) @ (k * scale).mT).to(scores.dtype)
    return (right.masked_softmax(scores, mask) @ values).to(q.dtype)


@misconception("scores-rounded-to-half-precision", of="causal_attention", extends="scores-in-half-precision")
def half_rounded(q, k, v):
    """With half precision your scores are float16 or bfloat16 for a moment, and float32 again from the softmax on: the digits are gone.

    Example: a float16 score near 1470 is a whole number: differences below 1, which decide the weights, are gone. Past 65504 it is infinite.
    Why: sums run in float32; widening a rounded number doesn't bring its digits back.
    Look at: the `.float()` belongs to q and k, before the product.
    """
    _, mask, values = parts(q, k, v)
    scores = (q @ k.mT * q.shape[-1] ** -0.5).to(values.dtype)
    return (right.masked_softmax(scores, mask) @ values).to(q.dtype)


@misconception("weights-rounded-before-the-values", of="causal_attention")
def weights_rounded(q, k, v):
    """With half precision you round the weights to float16 or bfloat16 before they meet the values; the result is cast back once, at the end.

    Example: values of 60 that nearly cancel: a weight that is off by one part in 2000 moves the average more than the average is large.
    Why: the sum over the values is a sum too, and sums run in float32.
    Look at: the cast between softmax and the last matrix product.
    """
    scores, mask, _ = parts(q, k, v)
    return right.masked_softmax(scores, mask).to(q.dtype) @ v


@misconception("attention-detached", of="causal_attention")
def detached(q, k, v):
    """Your output is cut off from q, k and v: no gradient flows back.

    Example: a loss on the output has to reach the values; yours stops at the output.
    Why: results are differentiable here, or nothing upstream can learn.
    Look at: `.detach()`, `.data`, `.numpy()`, `torch.no_grad()`, or `torch.tensor(...)` around a tensor.
    """
    return right.causal_attention(q, k, v).detach()


@misconception("attention-weights-detached", of="causal_attention")
def weights_detached(q, k, v):
    """Your weights are cut off from q and k: gradients reach the values alone.

    Example: the gradient of q has to say where looking elsewhere would help; yours doesn't arrive.
    Why: the gradient through the weights is how attention learns where to look.
    Look at: `.detach()` or `torch.no_grad()` around scores or softmax.
    """
    return weighed_by(q, k, v, lambda scores, mask: right.masked_softmax(scores, mask).detach())


@misconception("queries-scaled-in-place", of="causal_attention")
def scaled_in_place(q, k, v):
    """You scale the caller's queries in place.

    Example: after causal_attention(q, k, v) the caller's q is smaller; a second call gives another result.
    Why: no function here changes an argument.
    Look at: `q *= ...`, `q /= ...`, `q.mul_(...)`: an operator with `=` writes into the tensor that came in.
    """
    q *= q.shape[-1] ** -0.5
    return scaled_by(q, k, v, 1.0)


@misconception("views-of-strided-memory", of="causal_attention")
def views(q, k, v):
    """You call `view` on tensors that don't lie contiguously in memory, which fails.

    Example: q that lies in memory as (B, T, H, Dh), as after a split into heads, has to work like its copy.
    Why: results depend on values, not on how they lie in memory.
    Look at: `reshape` (or `flatten`) copies where it has to; `view` never does.
    """
    flat = [x.view(-1, *x.shape[2:]) for x in (q, k, v)]
    return right.causal_attention(*(x[:, None] for x in flat)).view(q.shape)
