"""What people get wrong in exercise 04's attention: scale and softmax."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.multi_head_parts import ATTENTION, attend, named, plain_hide


def shrunk(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    """Softmax, then the scale."""
    return lambda scores: scores.softmax(-1) * (w_q.shape[1] // n_heads) ** -0.5


@misconception("no-scale", of=ATTENTION, question="forward-scale")
def no_scale(*args, **kwargs):
    """Your attention doesn't scale the scores: q k^T goes into the softmax as it is.

    Example: Dh=64: scores come out 8 times too large, and most weights are nearly 0 or 1.
    Why: a dot product of Dh terms grows like sqrt(Dh); dividing by it keeps the softmax soft and its gradient alive.
    Look at: `* q.shape[-1] ** -0.5` between the product and the softmax.
    """
    return attend(*args, **kwargs, scale=lambda d, h, t, dh: 1.0)


@misconception("scale-by-model-width", of=ATTENTION, question="forward-scale")
def scale_by_model_width(*args, **kwargs):
    """Your attention divides the scores by sqrt(D), the width of the model; the sum has Dh terms, so sqrt(Dh) is right.

    Example: D=512, Dh=64: you divide by 22.6, right is 8.
    Why: D isn't even tied to Dh here: w_q may map 5 columns to 3 heads of width 4.
    Look at: where the width in the scale comes from; after the split it is `q.shape[-1]`.
    """
    return attend(*args, **kwargs, scale=lambda d, h, t, dh: d**-0.5)


@misconception("scale-by-inner-width", of=ATTENTION, question="forward-scale")
def scale_by_inner_width(*args, **kwargs):
    """Your attention divides the scores by sqrt(H*Dh), the width of all heads together; one head's scores are sums of Dh terms.

    Example: H=8, Dh=64: you divide by 22.6, right is 8.
    Why: each head has a dot product of its own, and its spread is sqrt(Dh), however many other heads there are.
    Look at: `w_q.shape[1]`, or a `q` before the split, in the scale; after the split it is `q.shape[-1]`.
    """
    return attend(*args, **kwargs, scale=lambda d, h, t, dh: (h * dh) ** -0.5)


@misconception("scale-by-d-over-heads", of=ATTENTION, question="forward-scale")
def scale_by_d_over_heads(*args, **kwargs):
    """Your attention takes the head width in the scale to be D // n_heads; it is w_q's columns over n_heads.

    Example: D=7, 3 heads and w_q with 12 columns: Dh is 4, you divide by sqrt(2).
    Why: H*Dh need not equal D; the usual equality is a habit, not a rule.
    Look at: `x.shape[-1] // n_heads`; after the split `q.shape[-1]` can't be wrong.
    """
    return attend(*args, **kwargs, scale=lambda d, h, t, dh: max(d // h, 1) ** -0.5)


@misconception("scale-by-d-by-heads", of=ATTENTION, question="forward-scale")
def scale_by_d_by_heads(*args, **kwargs):
    """Your attention takes the head width in the scale to be D / n_heads; it is w_q's columns over n_heads.

    Example: D=7, 3 heads and w_q with 12 columns: Dh is 4, you divide by sqrt(7/3).
    Why: H*Dh need not equal D; the usual equality is a habit, not a rule.
    Look at: `x.shape[-1] / n_heads`; after the split `q.shape[-1]` can't be wrong.
    """
    return attend(*args, **kwargs, scale=lambda d, h, t, dh: (d / h) ** -0.5)


@misconception("scale-by-shared-width", of=ATTENTION, question="forward-scale")
def scale_by_shared_width(*args, **kwargs):
    """Your attention takes the head width in the scale from w_k's columns over n_heads; with fewer key heads that is too small.

    Example: 4 query heads, 2 key heads of width 6: w_k has 12 columns, you divide by sqrt(3), right is sqrt(6).
    Why: w_k has n_kv_heads * Dh columns, so only n_kv_heads shares them out.
    Look at: `w_k.shape[1] // n_heads`; after the split `q.shape[-1]` can't be wrong.
    """
    given = named(*args, **kwargs)
    return attend(*given, scale=lambda d, h, t, dh: max(dh * (given[6] or h) // h, 1) ** -0.5)


@misconception("scale-rounded", of=ATTENTION, question="forward-scale")
def scale_rounded(*args, **kwargs):
    """Your attention rounds the root of the head width down to a whole number.

    Example: Dh=5: you divide by 2, right is 2.236; only squares come out right.
    Why: sqrt(Dh) needn't be a whole number.
    Look at: `int(...)` or `//` around the root.
    """
    return attend(*args, **kwargs, scale=lambda d, h, t, dh: 1 / int(dh**0.5))


@misconception("scale-by-model", of=ATTENTION, question="forward-scale")
def scale_by_model(*args, **kwargs):
    """Your attention divides the scores by D, the width of the model.

    Example: D=512, Dh=64: you divide by 512, right is 8.
    Why: the spread of a sum of Dh terms grows with sqrt(Dh); D has no part in it.
    Look at: the width in the scale, and the missing root.
    """
    return attend(*args, **kwargs, scale=lambda d, h, t, dh: 1 / d)


@misconception("scale-by-head-width", of=ATTENTION, question="mup-scale")
def scale_by_head_width(*args, **kwargs):
    """Your attention divides the scores by Dh instead of its root, or by the root twice.

    Example: Dh=64: you divide by 64, right is 8; weights come out nearly uniform.
    Why: the spread of a sum of Dh independent terms grows with the root of Dh. 1/Dh is muP's choice, on purpose, and not asked here.
    Look at: `/ q.shape[-1]`; or q and k scaled both, or a function that scales by itself.
    """
    return attend(*args, **kwargs, scale=lambda d, h, t, dh: 1 / dh)


@misconception("scale-multiplies", of=ATTENTION, question="forward-scale")
def scale_multiplies(*args, **kwargs):
    """Your attention multiplies the scores by sqrt(Dh) where it should divide.

    Example: Dh=64: scores come out 64 times too large.
    Why: the scale undoes the growth of the dot product; the sign of the exponent is minus.
    Look at: `* sqrt(...)`, or `** 0.5` without the minus.
    """
    return attend(*args, **kwargs, scale=lambda d, h, t, dh: dh**0.5)


@misconception("scale-by-tokens", of=ATTENTION, question="forward-scale")
def scale_by_tokens(*args, **kwargs):
    """Your attention divides the scores by the root of the number of tokens instead of the head width.

    Example: T=2048, Dh=64: you divide by 45, right is 8.
    Why: a score is a sum over the columns of a head; how many tokens there are has no part in it.
    Look at: `q.shape[-2]`, or a shape read before the axes were swapped, in the scale.
    """
    return attend(*args, **kwargs, scale=lambda d, h, t, dh: t**-0.5)


@misconception("scale-by-number-of-heads", of=ATTENTION, question="forward-scale")
def scale_by_number_of_heads(*args, **kwargs):
    """Your attention divides the scores by the root of the number of heads instead of the head width.

    Example: 8 heads of width 64: you divide by 2.8, right is 8.
    Why: a score is a sum over the Dh columns of one head; how many heads there are has no part in it.
    Look at: `q.shape[1]` or `n_heads` in the scale.
    """
    return attend(*args, **kwargs, scale=lambda d, h, t, dh: h**-0.5)


@misconception("scale-fixed", of=ATTENTION, question="forward-scale")
def scale_fixed(*args, **kwargs):
    """Your attention divides the scores by 8, whatever the head width is.

    Example: Dh=4: you divide by 8, right is 2.
    Why: 8 is sqrt(64), right for one head width.
    Look at: a literal in the scale; `q.shape[-1] ** -0.5` fits every width.
    """
    return attend(*args, **kwargs, scale=lambda d, h, t, dh: 1 / 8)


@misconception("scale-after-softmax", of=ATTENTION, question="forward-scale")
def scale_after_softmax(*args, **kwargs):
    """Your attention applies the scale to the weights, after the softmax: they no longer sum to 1.

    Example: Dh=4: each query's weights sum to 0.5.
    Why: the scale is there to keep the softmax soft, so it has to come before it; afterwards it only shrinks the result.
    Look at: the place of the division: between q k^T and the softmax.
    """
    return attend(*args, **kwargs, scale=lambda d, h, t, dh: 1.0, weigh=shrunk(*args, **kwargs))


@misconception("softmax-over-queries", of=ATTENTION)
def softmax_over_queries(*args, **kwargs):
    """Your softmax runs over the queries: the weights of a *key* sum to 1, those of a query don't.

    Example: two tokens: your weight matrix has columns that sum to 1, its rows sum to anything.
    Why: each query distributes one unit of attention over the keys, the last axis of (B, H, T, T).
    Look at: `dim=-2`; right is `dim=-1`.
    """
    return attend(*args, **kwargs, weigh=lambda scores: scores.softmax(-2))


@misconception("softmax-over-heads", of=ATTENTION)
def softmax_over_heads(*args, **kwargs):
    """Your softmax runs over the heads: the weights for one query and key sum to 1 over all heads.

    Example: with one head every weight is 1, and the result is a plain sum of all values.
    Why: each query distributes one unit of attention over the keys, the last axis of (B, H, T, T), in every head anew.
    Look at: `dim=1`, or softmax without `dim`, which picks axis 1 here; right is `dim=-1`.
    """
    return attend(*args, **kwargs, weigh=lambda scores: scores.softmax(1))


@misconception("softmax-over-batch", of=ATTENTION)
def softmax_over_batch(*args, **kwargs):
    """Your softmax runs over the batch: the weights for one query and key sum to 1 over all sequences.

    Example: with one sequence every weight is 1, and the result is a plain sum of all values.
    Why: sequences know nothing of each other; the softmax runs over the keys, the last axis of (B, H, T, T).
    Look at: `dim=0`; right is `dim=-1`.
    """
    return attend(*args, **kwargs, weigh=lambda scores: scores.softmax(0))


@misconception("softmax-over-batch-and-heads", of=ATTENTION)
def softmax_over_batch_and_heads(*args, **kwargs):
    """Your softmax runs over batch and heads, folded into one axis: the weights for one query and key sum to 1 over all of them.

    Example: with one sequence and one head every weight is 1, and the result is a plain sum of all values.
    Why: the softmax runs over the keys, the last axis, in every sequence and head anew.
    Look at: `dim=0` of (B*H, T, T); right is `dim=-1`.
    """
    return attend(*args, **kwargs, weigh=lambda scores: scores.flatten(0, 1).softmax(0).view_as(scores))


@misconception("softmax-over-everything", of=ATTENTION)
def softmax_over_everything(*args, **kwargs):
    """Your softmax runs over queries and keys at once: all weights of a head together sum to 1.

    Example: T=4: the weights of a query sum to 1/4 on average.
    Why: each query distributes one unit of attention over the keys, the last axis alone.
    Look at: a flatten or a sum over two axes in your softmax.
    """
    return attend(*args, **kwargs, weigh=lambda scores: scores.flatten(-2).softmax(-1).view_as(scores))


@misconception("no-softmax", of=ATTENTION)
def no_softmax(*args, **kwargs):
    """Your attention uses the scaled scores as weights; there is no softmax.

    Example: one token: its weight should be 1, yours is q . k / sqrt(Dh).
    Why: weights are positive and sum to 1, so that the result is a mean of the values.
    Look at: the softmax that is missing between scores and values.
    """
    return attend(*args, **kwargs, hide=lambda scores, mask: plain_hide(scores, mask).masked_fill(~mask, 0.0), weigh=lambda scores: scores)


@misconception("softmax-twice", of=ATTENTION)
def softmax_twice(*args, **kwargs):
    """Your attention takes the softmax of a softmax: weights come out nearly uniform.

    Example: scores 0, 5, 10: right weights are 0.00005, 0.007, 0.993; yours are 0.21, 0.21, 0.57.
    Why: the first softmax gives numbers between 0 and 1, and to the second these are scores that hardly differ.
    Look at: two softmaxes on the way from scores to weights.
    """
    return attend(*args, **kwargs, weigh=lambda scores: scores.softmax(-1).softmax(-1))


@misconception("softmax-plus-one", of=ATTENTION)
def softmax_plus_one(*args, **kwargs):
    """Your softmax has an extra 1 in the denominator: weights sum to less than 1.

    Example: one token: its weight should be 1, yours is at most 1/2.
    Why: softmax-plus-one lets a query attend to nothing; that is another function than the one asked.
    Look at: `1 +` beside the sum of exponentials.
    """
    return attend(*args, **kwargs, weigh=lambda scores: (e := torch.exp(scores - scores.amax(-1, keepdim=True))) / (1 + e.sum(-1, keepdim=True)))


@misconception("softmax-without-sum", of=ATTENTION)
def softmax_without_sum(*args, **kwargs):
    """Your attention exponentiates the scores and never divides by their sum.

    Example: two equal scores: both weights should be 1/2.
    Why: weights of a query sum to 1; the exponential alone only makes them positive.
    Look at: the division by `sum(dim=-1, keepdim=True)`.
    """
    return attend(*args, **kwargs, weigh=lambda scores: torch.exp(scores - scores.amax(-1, keepdim=True)))


@misconception("sigmoid-weights", of=ATTENTION)
def sigmoid_weights(*args, **kwargs):
    """Your attention squashes every score by itself, with a sigmoid: weights of a query don't sum to 1.

    Example: equal scores of 0: every weight is 1/2, however many keys there are.
    Why: in softmax attention keys compete for one unit of weight.
    Look at: `sigmoid` where softmax is asked.
    """
    return attend(*args, **kwargs, weigh=torch.sigmoid)


@misconception("log-softmax-weights", of=ATTENTION)
def log_softmax_weights(*args, **kwargs):
    """Your attention uses log_softmax as weights: they are negative, and their exponentials sum to 1.

    Example: one token: its weight should be 1, yours is log 1 = 0.
    Why: logarithms of probabilities are no weights.
    Look at: `log_softmax` without `exp`.
    """
    return attend(*args, **kwargs, weigh=lambda scores: scores.log_softmax(-1))
