"""What people get wrong in exercise 04's attention: how heads come together, whose mask a head gets, masks as numbers, weights that are nearly right."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.multi_head_formula import named
from attngrade.misconceptions.multi_head_parts import attend, memory, plain_hide, wide
from attngrade.solutions.exercise04_multi_head import repeat_kv, split_heads

ATTENTION = "multi_head_attention"


def groups(*args, **kwargs):
    """Key/value heads, and query heads for each of them."""
    n_heads, n_kv_heads = named(*args, **kwargs)[5:7]
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    return n_kv_heads, n_heads // max(1, n_kv_heads)


# ---------------------------------------------------------------- how heads come together


@misconception("heads-averaged", of=ATTENTION)
def heads_averaged(*args, **kwargs):
    """Your attention averages what its heads contribute; they are added.

    Example: 3 heads, every token with the same value: the result is a third of that value times w_v w_o.
    Why: [head_0, ..., head_(H-1)] w_o is the sum of head_h times its own rows of w_o; nothing is divided by H.
    Look at: a `mean` over heads, or a division by n_heads after the loop.
    """
    n_heads = named(*args, **kwargs)[5]
    return attend(*args, **kwargs, mix=lambda weights, v: weights @ v / n_heads)


@misconception("weights-averaged-over-heads", of=ATTENTION)
def weights_averaged(*args, **kwargs):
    """Your attention averages the weights over the heads before it mixes the values: every head attends alike.

    Example: head 0 looks at token 0 and head 1 at token 1: both of yours look at the two by halves.
    Why: the average is what libraries return for pictures (need_weights); values are mixed by each head's own weights.
    Look at: `mean(1)` on (B, H, T, T).
    """
    return attend(*args, **kwargs, weigh=lambda scores: scores.softmax(-1).mean(1, keepdim=True).expand(scores.shape))


@misconception("scores-averaged-over-heads", of=ATTENTION)
def scores_averaged(*args, **kwargs):
    """Your attention averages the scores over the heads: every head attends alike.

    Example: with one head nobody notices; with two, both get the same weights.
    Why: each head compares queries and keys in columns of its own, so that heads can look at different things.
    Look at: a product in which the head axis is summed away, such as `bhid,bhjd->bij`.
    """
    return attend(*args, **kwargs, weigh=lambda scores: scores.mean(1, keepdim=True).expand(scores.shape).softmax(-1))


@misconception("scores-summed-over-heads", of=ATTENTION)
def scores_summed(*args, **kwargs):
    """Your attention sums the scores over the heads: every head attends alike.

    Example: with one head nobody notices; with two, both get the same weights.
    Why: each head compares queries and keys in columns of its own, so that heads can look at different things.
    Look at: a product in which the head axis is summed away, such as `bhid,bhjd->bij`.
    """
    return attend(*args, **kwargs, weigh=lambda scores: scores.sum(1, keepdim=True).expand(scores.shape).softmax(-1))


@misconception("attention-weights-transposed", of=ATTENTION)
def weights_turned(*args, **kwargs):
    """Your attention mixes values with the transposed weights: token i gets what other tokens see in it.

    Example: weights (1 0; 1 0), both tokens look at token 0: your token 0 gets v_0 + v_0 and token 1 nothing.
    Why: row i of the weights belongs to query i and sums to 1; out_i = sum over j of weights[i, j] v_j.
    Look at: `weights.transpose(-2, -1) @ v`, or `ji` where `ij` is meant in einsum.
    """
    return attend(*args, **kwargs, mix=lambda weights, v: weights.mT @ v)


@misconception("keys-reshaped-not-transposed", of=ATTENTION)
def keys_reshaped(*args, **kwargs):
    """Your attention brings the keys to (B, H, Dh, T) by a reshape; it has to be a transpose.

    Example: T=2, Dh=3: column 0 of your matrix is made of components 0 and 2 of key 0 and component 1 of key 1.
    Why: a reshape reads memory in order and never swaps axes: the sizes fit, and the numbers are scrambled.
    Look at: `k.reshape(B, H, Dh, T)` or `view`: write k.transpose(-2, -1).
    """
    given, seen = list(named(*args, **kwargs)), []

    def split(x, n_heads):
        seen.append(split_heads(x, n_heads))
        return seen[-1]

    def scrambled(scores):
        q, k = seen[0], repeat_kv(seen[1], given[5] // seen[1].shape[1])
        mask = given[7]
        scores = q @ k.reshape(k.shape[0], k.shape[1], k.shape[3], k.shape[2]) * q.shape[-1] ** -0.5
        return (scores if mask is None else plain_hide(scores, mask)).softmax(-1)

    return attend(*given, split=split, weigh=scrambled)


# ---------------------------------------------------------------- whose mask a head gets


@misconception("mask-of-another-group", of=ATTENTION)
def mask_of_another_group(*args, **kwargs):
    """Your attention numbers heads (group, kv) in the mask and (kv, group) in the queries: a mask for each head lands on other heads.

    Example: 4 heads, 2 key heads: head 1 gets the mask of head 2, and head 2 that of head 1. Without groups nobody notices.
    Why: query head h has key head h // group, so the head axis is folded as (n_kv_heads, group), the mask's as well.
    Look at: the `view`, `unflatten` or `rearrange` that folds the head axis of the mask.
    """
    n_kv, group = groups(*args, **kwargs)

    def hide(scores, mask):
        folded = mask.expand(scores.shape).unflatten(1, (group, n_kv)).transpose(1, 2)
        return plain_hide(scores, folded.flatten(1, 2))

    return attend(*args, **kwargs, hide=hide)


@misconception("mask-of-the-groups-first-head", of=ATTENTION)
def mask_of_the_group(*args, **kwargs):
    """Your attention gives every head of a group the mask of the group's first head.

    Example: 4 heads, 2 key heads: head 1 gets the mask of head 0. Without groups, or with one mask for all, nobody notices.
    Why: a group shares keys and values; queries and masks are every head's own.
    Look at: a mask that is cut or repeated together with keys and values.
    """
    group = groups(*args, **kwargs)[1]

    def hide(scores, mask):
        return plain_hide(scores, mask.expand(scores.shape)[:, ::group].repeat_interleave(group, 1))

    return attend(*args, **kwargs, hide=hide)


# ---------------------------------------------------------------- masks as numbers


def logarithm(eps):
    """Attention that adds the logarithm of the mask."""

    def attention(*args, **kwargs):
        return attend(*args, **kwargs, hide=lambda scores, mask: scores + torch.log(mask.to(scores.dtype) + eps))

    return attention


class Logarithm:
    """Your attention adds log(mask + a small number): hidden keys keep a small weight, and large scores bring them back.

    Example: log(1e-9) = -20.7: a hidden key whose score is 21 above the others' gets more than half of the attention.
    Why: hidden is a weight of exactly 0, so a score of -inf; log(0) is just that, and the small number spoils it.
    Look at: the small number in the logarithm. masked_fill(~mask, float("-inf")) needs none.
    """


def as_logarithm(name, eps, extends):
    def attention(*args, **kwargs):
        return logarithm(eps)(*args, **kwargs)

    attention.__doc__ = Logarithm.__doc__
    return misconception(name, of=ATTENTION, extends=extends)(attention)


log_9 = as_logarithm("mask-logarithm-with-epsilon", 1e-9, None)
log_6 = as_logarithm("mask-logarithm-with-1e-6", 1e-6, "mask-logarithm-with-epsilon")
log_8 = as_logarithm("mask-logarithm-with-1e-8", 1e-8, "mask-logarithm-with-epsilon")
log_10 = as_logarithm("mask-logarithm-with-1e-10", 1e-10, "mask-logarithm-with-epsilon")
log_12 = as_logarithm("mask-logarithm-with-1e-12", 1e-12, "mask-logarithm-with-epsilon")


@misconception("mask-sentinel-of-ten-thousand", of=ATTENTION, extends="mask-finite-sentinel")
def ten_thousand(*args, **kwargs):
    """Your attention hides with -1e4 in place of -inf: where visible scores lie lower, hidden keys win.

    Example: visible scores near -20000: every hidden key has a higher one.
    Why: -1e4 is a score like any other (it was chosen to fit into float16); -inf is below all of them.
    Look at: the number that is filled in: float("-inf").
    """
    return attend(*args, **kwargs, hide=lambda scores, mask: scores.masked_fill(~mask, -1e4))


@misconception("mask-sentinel-of-a-hundred", of=ATTENTION, extends="mask-finite-sentinel")
def hundred(*args, **kwargs):
    """Your attention hides with a score of -100 or so: where visible scores lie lower, hidden keys win.

    Example: visible scores near -200: every hidden key has a higher one.
    Why: -100 is a score like any other; -inf is below all of them.
    Look at: the number that is filled in: float("-inf").
    """
    return attend(*args, **kwargs, hide=lambda scores, mask: scores.masked_fill(~mask, -100.0))


# ---------------------------------------------------------------- weights that are nearly right


@misconception("softmax-sum-cut", of=ATTENTION)
def sum_cut(*args, **kwargs):
    """Your attention detaches the sum that its weights are divided by: values are right, gradients are not.

    Example: one token: its weight is 1 whatever w_q and w_k are, so their gradients are 0, and yours aren't.
    Why: every score moves the sum too; that is what keeps the weights' sum at 1.
    Look at: `detach` or no_grad on the denominator. The maximum alone may be detached.
    """

    def weigh(scores):
        e = torch.exp(scores - scores.amax(-1, keepdim=True).detach())
        return e / e.sum(-1, keepdim=True).detach()

    return attend(*args, **kwargs, weigh=weigh)


@misconception("softmax-sum-alone-cut", of=ATTENTION, extends="softmax-sum-cut")
def sum_alone_cut(*args, **kwargs):
    """Your attention detaches the sum that its weights are divided by, and lets the gradient through the maximum: values are right, gradients are not.

    Example: one token: its weight is 1 whatever w_q and w_k are. Its own gradients cancel there; with two tokens they don't.
    Why: every score moves the sum too; that is what keeps the weights' sum at 1. The maximum cancels out, and may be detached.
    Look at: `detach` or no_grad on the denominator.
    """

    def weigh(scores):
        e = torch.exp(scores - scores.amax(-1, keepdim=True))
        return e / e.sum(-1, keepdim=True).detach()

    return attend(*args, **kwargs, weigh=weigh)


@misconception("attention-weights-rounded", of=ATTENTION)
def weights_rounded(*args, **kwargs):
    """Your attention rounds its weights to half precision before it mixes the values.

    Example: float16: a weight of 0.3337 becomes 0.33374, and where large values nearly cancel that is all that is left.
    Why: the result is cast back once, at the end, after the last product.
    Look at: `.to(x.dtype)` right after the softmax.
    """
    dtype = named(*args, **kwargs)[0].dtype
    return attend(*args, **kwargs, weigh=lambda scores: wide(scores.softmax(-1).to(dtype)))


@misconception("scores-in-half", of=ATTENTION)
def scores_in_half(*args, **kwargs):
    """Your attention rounds its scores to half precision before the softmax.

    Example: float16 holds a score of 1000.3 as 1000.5: its weight is off by a fifth.
    Why: an exponential turns the absolute error of a score into a relative error of a weight.
    Look at: `.to(x.dtype)` right before the softmax, or q and k cast back after the projections.
    """
    dtype = named(*args, **kwargs)[0].dtype
    return attend(*args, **kwargs, weigh=lambda scores: wide(scores.to(dtype)).softmax(-1))


@misconception("only-the-largest-score-counts", of=ATTENTION)
def hard(*args, **kwargs):
    """Your attention gives all weight to the largest score.

    Example: scores 0 and 1: your weights are 0 and 1, right are 0.27 and 0.73.
    Why: a softmax divides attention in proportion to exp(score), which can be learned from; a maximum can't.
    Look at: `argmax`, `max`, or scores that were multiplied by something large.
    """

    def weigh(scores):
        return torch.nn.functional.one_hot(scores.argmax(-1), scores.shape[-1]).to(scores.dtype) + 0 * scores.softmax(-1)

    return attend(*args, **kwargs, weigh=weigh)


# ---------------------------------------------------------------- pieces


@misconception("split-skips-one-head", of="split_heads")
def one_head_unsplit(x, n_heads):
    """Your split_heads returns x as it is for one head; it has four axes always.

    Example: x (2, 3, 8), n_heads=1: you return (2, 3, 8), right is (2, 1, 3, 8).
    Why: the head axis is there even if it has one entry; whoever merges counts on it.
    Look at: an early return for n_heads == 1, or `squeeze`.
    """
    split = split_heads(x, n_heads)
    return x if n_heads == 1 else split


@misconception("repeat-takes-n-rep-for-the-heads", of="repeat_kv")
def as_total(x, n_rep):
    """Your repeat_kv takes n_rep for the number of heads that shall come out; it is the number of copies of each.

    Example: 2 heads, n_rep=2: you return 2 heads, right are 4.
    Why: the result has H_kv * n_rep heads.
    Look at: n_rep // H_kv, or an `expand` to n_rep heads.
    """
    heads = repeat_kv(x, n_rep).shape[1] // n_rep
    return x.repeat_interleave(max(1, n_rep // heads), dim=1)[:, :n_rep]


@misconception("repeat-keeps-a-buffer", of="repeat_kv", extends="repeat-cached-by-shape")
def buffer_kept(x, n_rep):
    """Your repeat_kv writes into a buffer that it keeps between calls, so a later call changes an earlier result.

    Example: k = repeat_kv(a, 2), v = repeat_kv(b, 2): after that k holds the values of v.
    Why: a result belongs to the caller and shares memory with no other result.
    Look at: tensors that are allocated once, outside the function or in a dict.
    """
    result = repeat_kv(x, n_rep)
    kept = memory().setdefault(("repeat", tuple(x.shape), n_rep, x.dtype), result)
    if kept is not result:
        with torch.no_grad():
            kept.copy_(result)
    return kept
