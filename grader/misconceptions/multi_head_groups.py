"""What people get wrong in exercise 04's attention: heads, groups of heads, sequences."""

from attngrade.misconceptions import misconception
from attngrade.misconceptions.multi_head_parts import ATTENTION, MERGE, attend, fitting, named, staged, through
from attngrade.solutions.exercise04_multi_head import multi_head_attention


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
