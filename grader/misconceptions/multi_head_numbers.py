"""What people get wrong in exercise 04's attention: precision and gradients."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.multi_head_formula import named
from attngrade.misconceptions.multi_head_parts import ATTENTION, attend, staged, wide
from attngrade.solutions.exercise04_multi_head import multi_head_attention


def as_it_is(tensor):
    """No lift."""
    return tensor


def narrow_projections(*args, **kwargs):
    """Projections as they come, the rest in float32."""
    w_o = named(*args, **kwargs)[4]

    def lift(tensor):
        return wide(tensor) if tensor is w_o else tensor

    return attend(*args, **kwargs, lift=lift, split=lambda x, n_heads: wide(staged("split_heads")(x, n_heads)))


def early(*args, **kwargs):
    """Merged heads cast back before the last product."""
    x, w_o = named(*args, **kwargs)[0], named(*args, **kwargs)[4]

    def lift(tensor):
        return tensor if tensor is w_o else wide(tensor)

    return attend(*args, **kwargs, lift=lift, merge=lambda heads: staged("merge_heads")(heads).to(x.dtype))


def cut(name, whole=None):
    """Attention in which a weight is detached; ``whole``: its projection, with x."""

    def attention(*args, **kwargs):
        x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, mask = named(*args, **kwargs)
        given = {"x": x, "w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o, "n_heads": n_heads, "n_kv_heads": n_kv_heads, "mask": mask}
        if whole is False:
            return attend(**{**given, name: given[name].detach()})
        turn = iter(("w_q", "w_k", "w_v"))

        def split(projected, heads):
            return staged("split_heads")(projected.detach() if next(turn) == name else projected, heads)

        return attend(**given, split=split)

    return attention


@misconception("computed-in-half", of=ATTENTION)
def computed_in_half(*args, **kwargs):
    """Your attention computes float16 and bfloat16 in their own precision; projections, scores and weights are rounded on the way.

    Example: keys of size 64 in float16 are rounded to steps of 1/16, so a score of 360 is off by a tenth and its weight by 10%.
    Why: float16 has 11 bits and ends at 65504, bfloat16 has 8 bits; sums and exponentials belong in float32, and the result is cast back once.
    Look at: `x.float()` and the same for the weights, before the projections; a softmax in float32 alone comes too late.
    """
    return attend(*args, **kwargs, lift=as_it_is)


@misconception("softmax-in-float32-only", of=ATTENTION)
def softmax_in_float32_only(*args, **kwargs):
    """Your attention lifts only the scores to float32: projections and the products around the softmax still run in half precision.

    Example: keys of size 64 in float16 are rounded to steps of 1/16 before the softmax sees their scores.
    Why: what was rounded before the lift stays rounded; all sums belong in float32.
    Look at: `x.float()` and the same for the weights, at the very beginning.
    """
    return attend(*args, **kwargs, lift=as_it_is, weigh=lambda scores: wide(scores).softmax(-1), mix=lambda weights, v: (weights @ wide(v)).to(v.dtype))


@misconception("half-projections", of=ATTENTION)
def half_projections(*args, **kwargs):
    """Your attention makes q, k and v in half precision and lifts them afterwards: they are rounded already.

    Example: keys of size 64 in float16 are rounded to steps of 1/16; projections above 65504 are inf.
    Why: what was rounded before the lift stays rounded; a projection is a sum, and sums run in float32.
    Look at: where `.float()` stands: on x and the weights, before the projections.
    """
    return narrow_projections(*args, **kwargs)


@misconception("half-projections-and-output", of=ATTENTION, extends="half-projections")
def half_projections_and_output(*args, **kwargs):
    """Your attention makes all four projections in half precision and only what lies between them in float32: they are rounded already.

    Example: keys of size 64 in float16 are rounded to steps of 1/16; projections above 65504 are inf.
    Why: what was rounded before the lift stays rounded; a projection is a sum, and sums run in float32.
    Look at: where `.float()` stands: on x and the weights, before the projections; and the cast back, behind the last one.
    """
    x = named(*args, **kwargs)[0]
    return attend(*args, **kwargs, lift=as_it_is, split=lambda y, n_heads: wide(staged("split_heads")(y, n_heads)),
                  merge=lambda heads: staged("merge_heads")(heads).to(x.dtype))


@misconception("scores-of-float64-in-float32", of=ATTENTION)
def scores_of_float64_in_float32(*args, **kwargs):
    """Your attention makes its scores and their softmax in float32 for float64 inputs too: half of the digits are gone.

    Example: x in float64: the result is right to 7 digits where 15 are possible.
    Why: `.float()` lifts half precision, and lowers double precision.
    Look at: `.float()` around the scores; lift by torch.promote_types(x.dtype, torch.float32).
    """
    turn = iter("qkv")

    def split(projected, n_heads):
        heads = staged("split_heads")(projected, n_heads)
        return heads if next(turn) == "v" else heads.float()

    return attend(*args, **kwargs, split=split, mix=lambda weights, v: weights.to(v.dtype) @ v)


@misconception("only-float16-lifted", of=ATTENTION)
def only_float16_lifted(*args, **kwargs):
    """Your attention lifts float16 to float32 and forgets bfloat16, which is computed as it is.

    Example: keys of size 64 in bfloat16 are rounded to steps of 1/2; their weights come out far off.
    Why: bfloat16 has fewer digits than float16, 8 bits; it needs float32 even more.
    Look at: the condition on the dtype: both have two bytes.
    """
    return attend(*args, **kwargs, lift=lambda tensor: tensor.float() if tensor.dtype == torch.float16 else tensor)


@misconception("only-bfloat16-lifted", of=ATTENTION)
def only_bfloat16_lifted(*args, **kwargs):
    """Your attention lifts bfloat16 to float32 and forgets float16, which is computed as it is.

    Example: keys of size 64 in float16 are rounded to steps of 1/16, and projections above 65504 are inf.
    Why: float16 has 11 bits and a short range; sums belong in float32 as well.
    Look at: the condition on the dtype: both have two bytes.
    """
    return attend(*args, **kwargs, lift=lambda tensor: tensor.float() if tensor.dtype == torch.bfloat16 else tensor)


@misconception("result-stays-float32", of=ATTENTION)
def result_stays_float32(*args, **kwargs):
    """Your attention gives float32 for float16 and bfloat16 inputs: the last cast back is missing.

    Example: x in bfloat16: the result should be bfloat16.
    Why: the rest of the model goes on in the dtype of x.
    Look at: `.to(x.dtype)` in the last line; x may have been overwritten by its float32 copy, so keep the dtype first.
    """
    return attend(*args, **kwargs, lower=False)


@misconception("result-always-float32", of=ATTENTION)
def result_always_float32(*args, **kwargs):
    """Your attention always gives float32, whatever the dtype of x.

    Example: x in float64: the result is float32, with half of its digits gone.
    Why: a result has the input's dtype; only half precision is lifted in between.
    Look at: `.float()` without a condition, or a tensor made without a dtype.
    """
    return attend(*args, **kwargs, lift=lambda tensor: tensor.float(), lower=False)


@misconception("float64-through-float32", of=ATTENTION)
def float64_through_float32(*args, **kwargs):
    """Your attention computes float64 in float32 and casts back: half of the digits are gone.

    Example: x in float64: the result is right to 7 digits where 15 are possible.
    Why: `.float()` lifts half precision, and lowers double precision.
    Look at: the condition around `.float()`: only dtypes of two bytes are lifted.
    """
    return attend(*args, **kwargs, lift=lambda tensor: tensor.float())


@misconception("cast-back-too-early", of=ATTENTION)
def cast_back_too_early(*args, **kwargs):
    """Your attention casts the merged heads back to half precision before the last projection.

    Example: heads of size 64 in float16 are rounded to steps of 1/16, and w_o may cancel everything but the rounding.
    Why: the product with w_o is a sum as well; the cast back is the last thing that happens.
    Look at: where `.to(x.dtype)` stands: behind `@ w_o`.
    """
    return early(*args, **kwargs)


@misconception("attention-cuts-the-graph", of=ATTENTION)
def attention_cuts_the_graph(*args, **kwargs):
    """Your attention cuts the graph: its result knows nothing of x or the weights, so no gradient flows back.

    Example: loss.backward() fails, or leaves every gradient empty.
    Why: `detach`, `.data`, NumPy and no_grad all give values without history.
    Look at: a decorator or `with torch.no_grad()` around the function, or a trip through NumPy.
    """
    with torch.no_grad():
        return multi_head_attention(*args, **kwargs)


@misconception("queries-cut", of=ATTENTION)
def queries_cut(*args, **kwargs):
    """Your attention takes the queries out of the graph: w_q gets no gradient, and x only a part of its own.

    Example: loss.backward() leaves w_q.grad empty.
    Why: queries decide where to look; without their gradient that is never learned.
    Look at: `detach`, `.data` or no_grad on the way from w_q to the scores.
    """
    return cut("w_q")(*args, **kwargs)


@misconception("keys-cut", of=ATTENTION)
def keys_cut(*args, **kwargs):
    """Your attention takes the keys out of the graph: w_k gets no gradient, and x only a part of its own.

    Example: loss.backward() leaves w_k.grad empty.
    Why: keys decide who is looked at; without their gradient that is never learned.
    Look at: `detach`, `.data` or no_grad on the way from w_k to the scores.
    """
    return cut("w_k", whole=True)(*args, **kwargs)


@misconception("w-q-cut", of=ATTENTION)
def w_q_cut(*args, **kwargs):
    """Your attention takes w_q out of the graph: it gets no gradient.

    Example: loss.backward() leaves w_q.grad empty.
    Why: without its gradient the weight is never learned.
    Look at: `w_q.detach()` or `w_q.data`.
    """
    return cut("w_q", whole=False)(*args, **kwargs)


@misconception("w-k-cut", of=ATTENTION)
def w_k_cut(*args, **kwargs):
    """Your attention takes w_k out of the graph: it gets no gradient.

    Example: loss.backward() leaves w_k.grad empty.
    Why: without its gradient the weight is never learned.
    Look at: `w_k.detach()` or `w_k.data`.
    """
    return cut("w_k", whole=False)(*args, **kwargs)


@misconception("w-v-cut", of=ATTENTION)
def w_v_cut(*args, **kwargs):
    """Your attention takes w_v out of the graph: it gets no gradient.

    Example: loss.backward() leaves w_v.grad empty.
    Why: without its gradient the weight is never learned.
    Look at: `w_v.detach()` or `w_v.data`.
    """
    return cut("w_v", whole=False)(*args, **kwargs)


@misconception("w-o-cut", of=ATTENTION)
def w_o_cut(*args, **kwargs):
    """Your attention takes w_o out of the graph: it gets no gradient.

    Example: loss.backward() leaves w_o.grad empty.
    Why: without its gradient the weight is never learned.
    Look at: `w_o.detach()` or `w_o.data`.
    """
    return cut("w_o", whole=False)(*args, **kwargs)


@misconception("x-cut", of=ATTENTION)
def x_cut(*args, **kwargs):
    """Your attention takes x out of the graph: the weights learn, and nothing reaches the layers below.

    Example: loss.backward() leaves x.grad empty.
    Why: x is the result of the layers before; their gradient passes through here.
    Look at: `x.detach()`, `x.data` or `torch.tensor(x)`.
    """
    return cut("x", whole=False)(*args, **kwargs)


@misconception("values-cut", of=ATTENTION)
def values_cut(*args, **kwargs):
    """Your attention takes the values out of the graph: w_v gets no gradient, and x only a part of its own.

    Example: loss.backward() leaves w_v.grad empty.
    Why: what is taken from the tokens is learned through the values.
    Look at: `detach`, `.data` or no_grad on the way from w_v to the result.
    """
    return cut("w_v", whole=True)(*args, **kwargs)


@misconception("weights-of-attention-cut", of=ATTENTION)
def weights_of_attention_cut(*args, **kwargs):
    """Your attention treats its weights as constants: w_q and w_k get no gradient.

    Example: loss.backward() leaves w_q.grad and w_k.grad empty.
    Why: where to look is learned through the softmax; detached weights can't learn it.
    Look at: `detach` or no_grad around the softmax.
    """
    return attend(*args, **kwargs, weigh=lambda scores: scores.softmax(-1).detach())
