"""What people get wrong in exercise 04's attention: scale, softmax, which matrix goes where, heads and groups."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.multi_head_parts import MERGE, attend, plain_hide, staged, through
from attngrade.solutions.exercise04_multi_head import multi_head_attention

ATTENTION = "multi_head_attention"

NAMES = ("x", "w_q", "w_k", "w_v", "w_o", "n_heads", "n_kv_heads", "mask")


def named(*args, **kwargs):
    """The eight arguments in their order."""
    given = {"n_kv_heads": None, "mask": None, **dict(zip(NAMES, args, strict=False)), **kwargs}
    return tuple(given[name] for name in NAMES)


def fitting(*args, **kwargs):
    """The eight arguments, after the solution's own refusals."""
    multi_head_attention(*args, **kwargs)
    return named(*args, **kwargs)


def as_is(heads, n_rep):
    """No repetition."""
    return heads


def straight(x, n_heads):
    """(B, T, D) reshaped to (B, H, T, Dh) without a swap."""
    return x.reshape(x.shape[0], n_heads, x.shape[1], -1)


def third(x, n_heads):
    """(B, T, H, Dh)."""
    return x.reshape(x.shape[0], x.shape[1], n_heads, -1)


def dealt(x, n_heads):
    """Head h gets every n_heads-th column."""
    return x.reshape(x.shape[0], x.shape[1], -1, n_heads).permute(0, 3, 1, 2)


def tiled(heads, n_rep):
    """Heads 0 1 0 1."""
    return heads.repeat(1, n_rep, 1, 1)


def shrunk(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    """Softmax, then the scale."""
    return lambda scores: scores.softmax(-1) * (w_q.shape[1] // n_heads) ** -0.5


def turned(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    """The softmax of k q^T, under the same mask."""
    # attend hides before it weighs, so the unmasked scores are made once more
    def weigh(scores):
        kept = scores.isinf() & (scores < 0)
        seen = {}

        def keep(raw):
            seen["raw"] = raw
            return raw.softmax(-1)

        attend(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, weigh=keep)
        return seen["raw"].transpose(-2, -1).masked_fill(kept, float("-inf")).softmax(-1)

    return weigh


def swapped(attention, x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    """w_k and w_v in each other's place."""
    multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, mask)
    return attention(x, w_q, w_v, w_k, w_o, n_heads, n_kv_heads, mask)


def replaced(**other):
    """Attention in which one weight is used in place of another."""

    def attention(*args, **kwargs):
        given = dict(zip(NAMES, fitting(*args, **kwargs), strict=True))
        return attend(**{**given, **{name: given[instead] for name, instead in other.items()}}, refuse=lambda *sizes: None)

    return attention


def turned_weights(*names):
    """Attention that multiplies by some weights transposed."""

    def attention(*args, **kwargs):
        given = dict(zip(NAMES, fitting(*args, **kwargs), strict=True))
        return attend(**{**given, **{name: given[name].T for name in names}}, refuse=lambda *sizes: None)

    return attention


def unprojected(*args, **kwargs):
    """The merged heads."""
    x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, mask = fitting(*args, **kwargs)
    eye = torch.eye(w_o.shape[0], dtype=w_o.dtype, device=w_o.device)
    return attend(x, w_q, w_k, w_v, eye, n_heads, n_kv_heads, mask, refuse=lambda *sizes: None)


def through_one(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    """One head of the full width, key heads repeated to it."""

    def split(projected, heads):
        whole = staged("merge_heads")(staged("repeat_kv")(staged("split_heads")(projected, heads), n_heads // heads))
        return whole.unsqueeze(1)

    return split


def mixed_groups(right):
    """Keys (0) or values (1) shared rightly, the others by remainder."""

    def attention(*args, **kwargs):
        sides = []

        def repeat(heads, n_rep):
            sides.append(heads)
            return through("repeat_kv")(heads, n_rep) if len(sides) - 1 == right else tiled(heads, n_rep)

        return attend(*args, **kwargs, repeat=repeat)

    return attention


def averaged_groups(*args, **kwargs):
    """Query heads of a group averaged, the result handed to each of them."""
    x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, mask = fitting(*args, **kwargs)
    groups = n_heads if n_kv_heads is None else n_kv_heads
    per_head = w_q.reshape(w_q.shape[0], groups, n_heads // groups, -1)
    same = per_head.mean(2, keepdim=True).expand_as(per_head).reshape(w_q.shape)
    return attend(x, same, w_k, w_v, w_o, n_heads, n_kv_heads, mask)


def unshared(*args, **kwargs):
    """Keys and values split into n_heads."""
    given = fitting(*args, **kwargs)
    return attend(*given[:6], given[5], given[7], refuse=lambda *sizes: None)


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


@misconception("scores-transposed", of=ATTENTION)
def scores_transposed(*args, **kwargs):
    """Your scores are k q^T: rows belong to keys and columns to queries, so queries answer where keys should.

    Example: two tokens: what token 0 gives to token 1 and what token 1 gives to token 0 change places.
    Why: row i of q k^T holds the scores of query i; the softmax then runs along the keys of that query.
    Look at: the order in the product, `q @ k.transpose(-2, -1)`, or the indices of your einsum.
    """
    return attend(*args, **kwargs, weigh=turned(*args, **kwargs))


@misconception("keys-and-values-swapped", of=ATTENTION)
def keys_and_values_swapped(*args, **kwargs):
    """Your attention makes keys from w_v and values from w_k.

    Example: with one token, where only values count, your result follows w_k.
    Why: w_k decides where a query looks, w_v what it takes from there.
    Look at: the order of the arguments or of the projections.
    """
    return swapped(attend, *args, **kwargs)


@misconception("values-are-keys", of=ATTENTION)
def values_are_keys(*args, **kwargs):
    """Your attention uses the keys as values: w_v has no part in the result.

    Example: with one token, where only values count, your result follows w_k.
    Why: w_k decides where a query looks, w_v what it takes from there.
    Look at: the second `k` in what should read `v`.
    """
    return replaced(w_v="w_k")(*args, **kwargs)


@misconception("keys-are-queries", of=ATTENTION)
def keys_are_queries(*args, **kwargs):
    """Your attention makes keys with w_q: w_k has no part in the result.

    Example: with another w_k your result stays the same.
    Why: queries ask and keys answer, each through a matrix of its own.
    Look at: `w_q` in the line that makes the keys.
    """
    return replaced(w_k="w_q")(*args, **kwargs)


@misconception("queries-are-keys", of=ATTENTION)
def queries_are_keys(*args, **kwargs):
    """Your attention makes queries with w_k: w_q has no part in the result.

    Example: with another w_q your result stays the same.
    Why: queries ask and keys answer, each through a matrix of its own.
    Look at: `w_k` in the line that makes the queries.
    """
    return replaced(w_q="w_k")(*args, **kwargs)


@misconception("w-o-forgotten", of=ATTENTION)
def w_o_forgotten(*args, **kwargs):
    """Your attention never uses w_o: it gives the merged heads, (B, T, H*Dh).

    Example: D=4, 1 head of width 3: you give 3 columns, asked are 4.
    Why: w_o mixes the heads and brings them back to the width of the model.
    Look at: `@ w_o` behind the merge.
    """
    return unprojected(*args, **kwargs)


@misconception("w-o-skipped-when-square", of=ATTENTION)
def w_o_skipped_when_square(*args, **kwargs):
    """Your attention leaves w_o out where the merged heads already have width D.

    Example: H*Dh = D: your result is the merged heads, whatever w_o is.
    Why: w_o mixes the heads; that its result often has the same width doesn't make it superfluous.
    Look at: a condition on shapes around the last product.
    """
    w_o = named(*args, **kwargs)[4]
    result = multi_head_attention(*args, **kwargs)
    return unprojected(*args, **kwargs) if w_o.shape[0] == w_o.shape[1] else result


@misconception("w-o-transposed", of=ATTENTION)
def w_o_transposed(*args, **kwargs):
    """Your attention multiplies by w_o.T; projections act from the right, `merged @ w_o`.

    Example: w_o (12, 7): merged heads (B, T, 12) don't fit w_o.T (7, 12), unless it is square.
    Why: nn.Linear stores its weight as (out, in) and transposes it; here a weight is (in, out).
    Look at: `F.linear` or `.T` in the last product.
    """
    return turned_weights("w_o")(*args, **kwargs)


@misconception("weights-transposed", of=ATTENTION)
def weights_transposed(*args, **kwargs):
    """Your attention multiplies by the transposed weights; projections act from the right, `x @ w`.

    Example: w_q (7, 12): x (B, T, 7) doesn't fit w_q.T (12, 7); square weights hide it and give another result.
    Why: nn.Linear stores its weight as (out, in) and transposes it; here a weight is (in, out).
    Look at: `F.linear` or `.T` in the projections.
    """
    return turned_weights("w_q", "w_k", "w_v", "w_o")(*args, **kwargs)


@misconception("weights-transposed-when-square", of=ATTENTION)
def weights_transposed_when_square(*args, **kwargs):
    """Your attention transposes the weights where they are square: there `x @ w.T` fits as well as `x @ w`.

    Example: D = H*Dh: your result differs, for other sizes it is right.
    Why: whether a weight is (in, out) or (out, in) is a convention and can't be read off its shape; here `x @ w` is asked.
    Look at: a condition on shapes around a transpose.
    """
    weights = named(*args, **kwargs)[1:5]
    square = all(w.dim() == 2 and w.shape[0] == w.shape[1] for w in weights)
    return turned_weights("w_q", "w_k", "w_v", "w_o")(*args, **kwargs) if square else multi_head_attention(*args, **kwargs)


@misconception("residual-added", of=ATTENTION)
def residual_added(*args, **kwargs):
    """Your attention adds x to the result.

    Example: w_v = 0: right is 0, yours is x.
    Why: the residual connection belongs to the block around attention, not to attention.
    Look at: `x +` in the last line.
    """
    return multi_head_attention(*args, **kwargs) + named(*args, **kwargs)[0]


@misconception("heads-ignored", of=ATTENTION, question="single-head-average")
def heads_ignored(*args, **kwargs):
    """Your attention computes one head of the full width H*Dh; n_heads has no part in it.

    Example: 2 heads: a query has one distribution over the keys where it should have two.
    Why: every head has a softmax of its own, so each can look somewhere else; one softmax over the summed scores can't.
    Look at: where q, k and v are split before the scores.
    """
    return attend(*args, **kwargs, split=through_one(*args, **kwargs), repeat=as_is, merge=lambda heads: heads.transpose(1, 2).flatten(2))


@misconception("heads-ignored-scaled-by-head", of=ATTENTION, question="single-head-average")
def heads_ignored_scaled_by_head(*args, **kwargs):
    """Your attention computes one head of the full width H*Dh, scaled as if it had width Dh.

    Example: 2 heads: a query has one distribution over the keys where it should have two.
    Why: every head has a softmax of its own, so each can look somewhere else; one softmax over the summed scores can't.
    Look at: where q, k and v are split before the scores.
    """
    return attend(*args, **kwargs, split=through_one(*args, **kwargs), repeat=as_is, merge=lambda heads: heads.transpose(1, 2).flatten(2),
                  scale=lambda d, h, t, dh: (dh / h) ** -0.5)


@misconception("heads-attend-to-each-other", of=ATTENTION)
def heads_attend_to_each_other(*args, **kwargs):
    """Your attention runs between the heads of one token: scores are (B, T, H, H), and tokens never meet.

    Example: changing token 1 leaves the result of token 0 as it was, without any mask.
    Why: matrix products act on the last two axes; these have to be tokens and columns.
    Look at: heads third, (B, T, H, Dh), where the scores are made: the swap of axes 1 and 2 is missing.
    """
    return attend(*args, **kwargs, split=third, repeat=lambda heads, n_rep: heads.repeat_interleave(n_rep, 2), merge=lambda heads: heads.flatten(2))


@misconception("attention-merges-without-swap", of=ATTENTION)
def attention_merges_without_swap(*args, **kwargs):
    """Your attention merges its heads by a plain reshape: (B, H, T, Dh) becomes (B, T, H*Dh) without tokens and heads changing places.

    Example: 2 heads, 2 tokens: token 0 of the merged heads is both tokens of head 0.
    Why: a reshape reads memory in order and never moves anything.
    Look at: the line between weights @ v and w_o: merge_heads does it right.
    """
    return attend(*args, **kwargs, merge=lambda heads: heads.reshape(heads.shape[0], heads.shape[2], -1))


@misconception("attention-merge-interleaves", of=ATTENTION)
def attention_merge_interleaves(*args, **kwargs):
    """Your attention lays the heads into each other: column 0 of every head, then column 1 of every head, before w_o.

    Example: 2 heads: rows 0 and 1 of w_o get column 0 of both heads; they belong to columns 0 and 1 of head 0.
    Why: row h*Dh + c of w_o waits for column c of head h.
    Look at: the permutation before the last reshape: (B, T, H, Dh).
    """
    return attend(*args, **kwargs, merge=lambda heads: heads.permute(0, 2, 3, 1).flatten(2))


@misconception("attention-splits-without-swap", of=ATTENTION)
def attention_splits_without_swap(*args, **kwargs):
    """Your attention reshapes projections straight to (B, H, T, Dh): it cuts the list of tokens into heads.

    Example: 2 heads, 2 tokens: your head 0 holds all of token 0, your head 1 all of token 1.
    Why: a reshape reads memory in order and never moves anything; heads come out of the last axis.
    Look at: the lines behind the projections: split_heads does it right.
    """
    return attend(*args, **kwargs, split=straight)


@misconception("attention-splits-and-merges-without-swap", of=ATTENTION)
def attention_splits_and_merges_without_swap(*args, **kwargs):
    """Your attention reshapes straight to (B, H, T, Dh) and straight back: a perfect round trip, with tokens in place of heads.

    Example: 2 heads, 2 tokens: your head 0 holds all of token 0, your head 1 all of token 1, and neither sees the other.
    Why: a reshape reads memory in order and never moves anything; two wrong steps cancel where nothing happens in between.
    Look at: both lines, behind the projections and before w_o: split_heads and merge_heads do it right.
    """
    return attend(*args, **kwargs, split=straight, merge=lambda heads: heads.reshape(heads.shape[0], heads.shape[2], -1))


@misconception("attention-interleaves-columns", of=ATTENTION)
def attention_interleaves_columns(*args, **kwargs):
    """Your attention deals the columns out like cards: head h gets columns h, h + H, h + 2H, ... and gives them back so.

    Example: 2 heads of width 2: your head 0 has columns 0 and 2 of w_q; they are columns 0 and 1.
    Why: head h owns the block of columns h*Dh up to (h+1)*Dh - 1 of w_q, w_k and w_v, and the same rows of w_o.
    Look at: the order of the two factors where the width is cut: (H, Dh).
    """
    return attend(*args, **kwargs, split=dealt, merge=lambda heads: heads.permute(0, 2, 3, 1).flatten(2))


@misconception("attention-split-interleaves", of=ATTENTION)
def attention_split_interleaves(*args, **kwargs):
    """Your attention deals the columns of q, k and v out like cards: head h gets columns h, h + H, h + 2H, ...

    Example: 2 heads of width 2: your head 0 has columns 0 and 2 of w_q; they are columns 0 and 1.
    Why: head h owns the block of columns h*Dh up to (h+1)*Dh - 1.
    Look at: the order of the two factors where the width is cut: (H, Dh).
    """
    return attend(*args, **kwargs, split=dealt)


@misconception("attention-unfolds-heads-first", of=ATTENTION)
def attention_unfolds_heads_first(*args, **kwargs):
    """Your attention folds (B, H) into one axis and unfolds it as (H, B): heads and sequences change places.

    Example: 2 sequences, 3 heads: entry 1 of the folded axis is head 1 of sequence 0; you read it as sequence 1 of head 0.
    Why: the fold runs through the heads of sequence 0 first; the unfold has to do the same.
    Look at: the order of the two sizes where batch and heads become two axes again.
    """
    return attend(*args, **kwargs, merge=lambda heads: MERGE(heads.flatten(0, 1).unflatten(0, heads.shape[1::-1]).transpose(0, 1)))


@misconception("heads-added", of=ATTENTION)
def heads_added(*args, **kwargs):
    """Your attention adds the heads up before w_o; they belong side by side.

    Example: 2 heads of width 3: w_o has 6 rows, and a sum of heads has 3 columns.
    Why: row h*Dh + c of w_o waits for column c of head h.
    Look at: a sum over the head axis where merge_heads should stand.
    """
    return attend(*args, **kwargs, merge=lambda heads: heads.sum(1))


@misconception("groups-by-remainder", of=ATTENTION)
def groups_by_remainder(*args, **kwargs):
    """Your attention gives query head h the key head h % n_kv_heads; right is h // (n_heads / n_kv_heads).

    Example: 4 query heads, 2 key heads: you use 0 1 0 1, right is 0 0 1 1.
    Why: query heads of a group are neighbours in w_q.
    Look at: `repeat` where `repeat_interleave` is needed, or a view as (n_rep, H_kv) instead of (H_kv, n_rep).
    """
    return attend(*args, **kwargs, repeat=tiled)


@misconception("groups-values-by-remainder", of=ATTENTION)
def groups_values_by_remainder(*args, **kwargs):
    """Your attention groups the keys right and the values by remainder: query head h takes values from head h % n_kv_heads.

    Example: 4 query heads, 2 value heads: you use values 0 1 0 1 with keys 0 0 1 1.
    Why: a value head belongs to the key head of the same number.
    Look at: the line for v, which differs from the line for k.
    """
    return mixed_groups(0)(*args, **kwargs)


@misconception("groups-keys-by-remainder", of=ATTENTION)
def groups_keys_by_remainder(*args, **kwargs):
    """Your attention groups the values right and the keys by remainder: query head h compares with key head h % n_kv_heads.

    Example: 4 query heads, 2 key heads: you use keys 0 1 0 1 with values 0 0 1 1.
    Why: a value head belongs to the key head of the same number.
    Look at: the line for k, which differs from the line for v.
    """
    return mixed_groups(1)(*args, **kwargs)


@misconception("groups-first-head-only", of=ATTENTION)
def groups_first_head_only(*args, **kwargs):
    """Your attention uses key/value head 0 for every query head; the other key/value heads have no part in the result.

    Example: 4 query heads, 2 key heads: you use 0 0 0 0, right is 0 0 1 1.
    Why: that is right for n_kv_heads = 1 alone.
    Look at: the slice or index that picks head 0.
    """
    return attend(*args, **kwargs, repeat=lambda heads, n_rep: heads if n_rep == 1 else heads[:, :1].expand(-1, heads.shape[1] * n_rep, -1, -1))


@misconception("groups-averaged", of=ATTENTION)
def groups_averaged(*args, **kwargs):
    """Your attention averages the query heads of a group where they should share a key head.

    Example: 4 query heads, 2 key heads: you compute 2 distributions, right are 4.
    Why: sharing saves keys and values; every query head still asks its own question.
    Look at: a mean or sum over the axis that holds the copies.
    """
    return averaged_groups(*args, **kwargs)


@misconception("groups-ignored", of=ATTENTION)
def groups_ignored(*args, **kwargs):
    """Your attention splits keys and values into n_heads as well; n_kv_heads has no part in it.

    Example: 4 query heads, n_kv_heads=2, Dh=3: w_k has 6 columns, which 4 heads don't share out.
    Why: with fewer key heads w_k is narrower; its heads keep the width Dh.
    Look at: `n_heads` in the two lines that split keys and values.
    """
    return unshared(*args, **kwargs)


@misconception("groups-by-broadcasting", of=ATTENTION)
def groups_by_broadcasting(*args, **kwargs):
    """Your attention leaves the sharing of key heads to broadcasting, which works for one key head and for n_heads, not in between.

    Example: 4 query heads, 2 key heads: axes of length 4 and 2 don't broadcast, a RuntimeError.
    Why: broadcasting repeats an axis of length 1 only.
    Look at: repeat_kv, or an axis of its own for the groups: (B, H_kv, n_rep, T, Dh).
    """
    return attend(*args, **kwargs, repeat=lambda heads, n_rep: heads)


@misconception("groups-repeat-tokens", of=ATTENTION)
def groups_repeat_tokens(*args, **kwargs):
    """Your attention repeats keys and values along the tokens instead of the heads.

    Example: 1 key head, 2 query heads: the scores have twice as many keys as there are tokens; unmasked the doubling cancels out.
    Why: the number of heads has to grow to n_heads, the number of keys stays T.
    Look at: the axis of the repetition: heads are axis 1.
    """
    return attend(*args, **kwargs, repeat=lambda heads, n_rep: heads.repeat_interleave(n_rep, 2))


@misconception("default-one-kv-head", of=ATTENTION)
def default_one_kv_head(*args, **kwargs):
    """Your attention takes n_kv_heads=None for a single shared key head; it means as many as query heads.

    Example: n_heads=2, w_k (D, 2*Dh), no n_kv_heads: plain multi-head attention, and you refuse it.
    Why: grouping is the exception; without it every query head has key and value heads of its own.
    Look at: the line that replaces None: `n_kv_heads = n_heads`.
    """
    x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, mask = named(*args, **kwargs)
    return multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, 1 if n_kv_heads is None else n_kv_heads, mask)


@misconception("result-of-first-sequence", of=ATTENTION)
def result_of_first_sequence(*args, **kwargs):
    """Your attention gives every sequence the result of the first one.

    Example: B=2: the two sequences of the result are equal though those of x differ.
    Why: sequences of a batch know nothing of each other.
    Look at: an index 0, or a batch axis that was lost and broadcast again.
    """
    return attend(*args, **kwargs, mix=lambda weights, v: (weights @ v)[:1].expand(v.shape[0], -1, -1, -1))


@misconception("weights-of-first-sequence", of=ATTENTION)
def weights_of_first_sequence(*args, **kwargs):
    """Your attention uses the weights of the first sequence for the whole batch.

    Example: B=2: the second sequence looks where the first one looks.
    Why: sequences of a batch know nothing of each other.
    Look at: an index 0, or a batch axis that was lost and broadcast again.
    """
    return attend(*args, **kwargs, mix=lambda weights, v: weights[:1] @ v)


@misconception("sequences-averaged", of=ATTENTION)
def sequences_averaged(*args, **kwargs):
    """Your attention averages over the batch somewhere on its way: every sequence gets the same result.

    Example: B=2: the two sequences of the result are equal though those of x differ.
    Why: sequences of a batch know nothing of each other.
    Look at: a mean or sum over axis 0.
    """
    return attend(*args, **kwargs, mix=lambda weights, v: (weights @ v).mean(0, keepdim=True).expand(v.shape[0], -1, -1, -1))
