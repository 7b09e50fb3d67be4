"""What people get wrong in exercise 04's attention: which matrix goes where."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.multi_head_parts import ATTENTION, NAMES, attend, fitting, named
from attngrade.solutions.exercise04_multi_head import multi_head_attention


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


@misconception("keys-from-w-v", of=ATTENTION)
def keys_from_w_v(*args, **kwargs):
    """Your attention makes keys with w_v: w_k has no part in the result.

    Example: with another w_k your result stays the same.
    Why: keys are what queries are compared with, values are what is passed on, each through a matrix of its own.
    Look at: `w_v` in the line that makes the keys.
    """
    return replaced(w_k="w_v")(*args, **kwargs)


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


@misconception("w-o-transposed-when-square", of=ATTENTION, extends="w-o-transposed")
def w_o_transposed_when_square(*args, **kwargs):
    """Your attention multiplies by w_o.T where w_o is square: there it fits as well as w_o; projections act from the right, `merged @ w_o`.

    Example: D = H*Dh: your result differs, for other sizes it is right.
    Why: whether a weight is (in, out) or (out, in) is a convention and can't be read off its shape; here a weight is (in, out).
    Look at: a condition on shapes around the last product, or `F.linear` in it.
    """
    w_o = named(*args, **kwargs)[4]
    square = w_o.dim() == 2 and w_o.shape[0] == w_o.shape[1]
    return turned_weights("w_o")(*args, **kwargs) if square else multi_head_attention(*args, **kwargs)


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
