"""What people get wrong in exercise 03: padding_mask."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.causal_mask_parts import memory
from attngrade.solutions import exercise03_causal_mask as right

# ---------------------------------------------------------------- padding_mask


@misconception("padding-inverted", of="padding_mask", question="mask-polarity")
def padding_inverted(lengths, t_k):
    """Your padding mask is True at the padding; True means that a key may be attended to, so the real tokens are True.

    Example: lengths=[2], t_k=3: you return [False, False, True], and [True, True, False] is right.
    Why: some APIs (nn.MultiheadAttention's key_padding_mask) mark what is ignored; the masks here mark what is visible.
    Look at: the direction of the comparison, or a `~` too many.
    """
    return ~right.padding_mask(lengths, t_k)


@misconception("padding-one-too-many", of="padding_mask")
def padding_inclusive(lengths, t_k):
    """Your padding mask shows one key of the padding in every row.

    Example: lengths=[2], t_k=3: you show keys 0, 1 and 2; two tokens are keys 0 and 1.
    Why: positions start at 0, so the last real key is lengths[b] - 1: visible iff j < lengths[b].
    Look at: `<=` where `<` is meant.
    """
    right.padding_mask(lengths, t_k)
    return (torch.arange(t_k, device=lengths.device) <= lengths[:, None])[:, None, None, :]


@misconception("padding-one-too-few", of="padding_mask")
def padding_short(lengths, t_k):
    """Your padding mask hides the last real token of every row.

    Example: lengths=[2], t_k=3: you show key 0 alone; two tokens are keys 0 and 1.
    Why: visible iff j < lengths[b]; subtracting one from the length and comparing with `<` takes off one twice.
    Look at: a `- 1` at the length, or positions that start at 1.
    """
    right.padding_mask(lengths, t_k)
    return (torch.arange(t_k, device=lengths.device) + 1 < lengths[:, None])[:, None, None, :]


@misconception("padding-on-the-left", of="padding_mask")
def padding_left(lengths, t_k):
    """Your padding mask takes the padding to stand before the tokens; it stands after them.

    Example: lengths=[2], t_k=3: you show keys 1 and 2; key j is visible iff j < 2.
    Why: this exercise pads on the right, so the first lengths[b] keys are real.
    Look at: `t_k - lengths` in the comparison, or a flip.
    """
    return right.padding_mask(lengths, t_k).flip(-1)


@misconception("padding-on-the-query-axis", of="padding_mask", question="padding-mask")
def padding_of_queries(lengths, t_k):
    """Your padding mask has the shape (B, 1, t_k, 1): it hides whole queries instead of keys.

    Example: lengths=[2], t_k=3: you return the shape (1, 1, 3, 1), and (1, 1, 1, 3) was asked.
    Why: a padded key has to vanish for every query; hiding the padded queries leaves its weight in all the other rows.
    Look at: where the new axes are put in: keys are the last axis of the scores.
    """
    return right.padding_mask(lengths, t_k).transpose(-1, -2)


@misconception("padding-batch-on-the-query-axis", of="padding_mask", question="padding-mask")
def padding_batch_of_queries(lengths, t_k):
    """Your padding mask has the shape (1, 1, B, t_k): the sequences lie where the queries belong.

    Example: lengths=[2, 3], t_k=3: you return the shape (1, 1, 2, 3), and (2, 1, 1, 3) was asked.
    Why: the scores are (B, H, T_q, T_k): a length belongs to a sequence, so the batch is the first axis, and heads and queries share it.
    Look at: where the new axes are put in: `[:, None, None, :]`.
    """
    return right.padding_mask(lengths, t_k).permute(1, 2, 0, 3)


@misconception("padding-without-axes", of="padding_mask", question="padding-mask")
def padding_flat(lengths, t_k):
    """Your padding mask is (B, t_k), without the axes of heads and queries.

    Example: lengths=[1, 3], t_k=3: you return the shape (2, 3), and (2, 1, 1, 3) was asked.
    Why: broadcasting lines shapes up from the right, so (B, t_k) would be read as (T_q, T_k) against scores of (B, H, T_q, T_k).
    Look at: the last line: two axes of length 1 belong between rows and keys.
    """
    return right.padding_mask(lengths, t_k)[:, 0, 0]


@misconception("padding-with-one-axis-too-few", of="padding_mask", question="padding-mask")
def padding_three_axes(lengths, t_k):
    """Your padding mask is (B, 1, t_k); (B, 1, 1, t_k) was asked.

    Example: lengths=[1, 3], t_k=3: you return the shape (2, 1, 3), and (2, 1, 1, 3) was asked.
    Why: against scores of (B, H, T_q, T_k) your first axis lands on the heads: every batch row is hidden by another row's length.
    Look at: the last line: an axis of length 1 for the heads and one for the queries.
    """
    return right.padding_mask(lengths, t_k)[:, 0]


@misconception("padding-expanded-to-queries", of="padding_mask", question="padding-mask")
def padding_expanded(lengths, t_k):
    """Your padding mask is (B, 1, t_k, t_k): the axis of queries has a length, and it is that of the keys.

    Example: lengths=[2], t_k=3: you return the shape (1, 1, 3, 3), and (1, 1, 1, 3) was asked.
    Why: an axis of length 1 fits any number of queries; t_k rows fit only when there are as many queries as keys.
    Look at: an `expand` or `repeat` at the end.
    """
    return right.padding_mask(lengths, t_k).expand(-1, -1, t_k, -1)


@misconception("padding-as-long-as-the-longest", of="padding_mask")
def padding_longest(lengths, t_k):
    """Your padding mask is as long as the longest row instead of t_k.

    Example: lengths=[4, 2], t_k=7: you return 4 columns, and there are 7 keys.
    Why: the keys may be padded further than the longest row of this batch needs.
    Look at: `lengths.max()` where t_k is meant.
    """
    return right.padding_mask(lengths, t_k)[..., : int(lengths.max())]


@misconception("padding-of-numbers", of="padding_mask")
def padding_floats(lengths, t_k):
    """Your padding mask holds the floats 1.0 and 0.0 where booleans were asked.

    Example: lengths=[2], t_k=3: you return [1.0, 1.0, 0.0], and [True, True, False] is right.
    Why: mask_scores refuses masks of numbers, because nobody can say whether they are to be added or multiplied.
    Look at: the `dtype`.
    """
    return right.padding_mask(lengths, t_k).float()


@misconception("padding-of-integers", of="padding_mask")
def padding_integers(lengths, t_k):
    """Your padding mask holds the integers 1 and 0 where booleans were asked.

    Example: lengths=[2], t_k=3: you return [1, 1, 0], and [True, True, False] is right.
    Why: mask_scores refuses masks of numbers, because nobody can say whether they are to be added or multiplied.
    Look at: the `dtype`.
    """
    return right.padding_mask(lengths, t_k).long()


@misconception("padding-the-same-for-all", of="padding_mask")
def padding_same(lengths, t_k):
    """Your padding mask gives every row the length of the longest one.

    Example: lengths=[1, 3], t_k=3: row 0 shows three keys, and it has one token.
    Why: each row of the batch has a length of its own.
    Look at: `max()` over the lengths.
    """
    right.padding_mask(lengths, t_k)
    return right.padding_mask(lengths.max().expand(len(lengths)), t_k)


@misconception("lengths-unchecked", of="padding_mask")
def lengths_unchecked(lengths, t_k):
    """Your padding_mask takes lengths below 0 and above t_k as if they were possible.

    Example: lengths=[4], t_k=3 has to raise a ValueError with `lengths` in its message; you return three True.
    Why: a length that can't be is a mistake upstream (truncated keys, say), and a silent mask hides it.
    Look at: what happens to the lengths before they are used: nothing, or a clamp, which makes a mistake look possible.
    """
    return (torch.arange(t_k, device=lengths.device) < lengths[:, None])[:, None, None, :]


@misconception("long-lengths-unchecked", of="padding_mask")
def long_lengths_unchecked(lengths, t_k):
    """You refuse negative lengths and take lengths above t_k as if they were possible.

    Example: lengths=[4], t_k=3 has to raise a ValueError with `lengths` in its message; you return three True.
    Why: a row that is longer than the keys has lost tokens somewhere; a silent mask hides it.
    Look at: the condition of your ValueError: the upper bound is missing.
    """
    if (lengths < 0).any():
        raise ValueError("lengths")
    return lengths_unchecked(lengths, t_k)


@misconception("negative-lengths-unchecked", of="padding_mask")
def negative_lengths_unchecked(lengths, t_k):
    """You refuse lengths above t_k and take negative lengths as if they were possible.

    Example: lengths=[-1], t_k=3 has to raise a ValueError with `lengths` in its message; you return three False.
    Why: a negative length is a mistake upstream, and a row that sees nothing hides it.
    Look at: the condition of your ValueError: the lower bound is missing.
    """
    if (lengths > t_k).any():
        raise ValueError("lengths")
    return lengths_unchecked(lengths, t_k)


@misconception("lengths-refused-only-together", of="padding_mask")
def lengths_all(lengths, t_k):
    """You refuse the lengths only if every one of them is out of range; one is enough.

    Example: lengths=[2, 6, 1], t_k=5 has to raise a ValueError: the second row can't be.
    Why: each row of the batch stands for itself.
    Look at: `all` where `any` is meant.
    """
    if ((lengths < 0) | (lengths > t_k)).all():
        raise ValueError("lengths")
    return lengths_unchecked(lengths, t_k)


@misconception("only-the-first-length-checked", of="padding_mask")
def first_length(lengths, t_k):
    """You look at the first length only.

    Example: lengths=[2, 6, 1], t_k=5 has to raise a ValueError: the second row can't be.
    Why: each row of the batch stands for itself.
    Look at: the index in your condition.
    """
    if not 0 <= lengths[0] <= t_k:
        raise ValueError("lengths")
    return lengths_unchecked(lengths, t_k)


@misconception("length-zero-refused", of="padding_mask")
def zero_refused(lengths, t_k):
    """You refuse a length of 0; an empty row is legal, and its mask is all False.

    Example: lengths=[3, 0, 5, 1], t_k=5: row 1 shows no key, and nothing is wrong with that.
    Why: only lengths outside 0..t_k can't be, and both ends belong to the range.
    Look at: `<= 0` or `< 1` where `< 0` is meant.
    """
    if (lengths < 1).any():
        raise ValueError("lengths")
    return right.padding_mask(lengths, t_k)


@misconception("full-length-refused", of="padding_mask")
def full_refused(lengths, t_k):
    """You refuse a length of t_k, which is a row without any padding.

    Example: lengths=[1, 3], t_k=3: row 1 shows all three keys.
    Why: only lengths outside 0..t_k can't be, and both ends belong to the range.
    Look at: `>= t_k` where `> t_k` is meant.
    """
    if (lengths >= t_k).any():
        raise ValueError("lengths")
    return right.padding_mask(lengths, t_k)


@misconception("lengths-asserted", of="padding_mask")
def lengths_asserted(lengths, t_k):
    """You assert that the lengths are possible; a ValueError that names them was asked.

    Example: lengths=[4], t_k=3 has to raise a ValueError with `lengths` in its message.
    Why: assertions state what can't happen, vanish under `python -O`, and no caller catches them.
    Look at: the `assert`: an `if` and a `raise ValueError(...)` say the same to the caller.
    """
    assert (lengths >= 0).all()
    assert (lengths <= t_k).all()
    return right.padding_mask(lengths, t_k)


@misconception("lengths-an-index-error", of="padding_mask")
def lengths_index_error(lengths, t_k):
    """You refuse impossible lengths with an IndexError; this exercise asks for a ValueError that names `lengths`.

    Example: lengths=[4], t_k=3: `except ValueError` in the caller doesn't catch what you raise.
    Why: one class for every impossible argument lets a caller handle them in one place.
    Look at: the class after `raise`.
    """
    if ((lengths < 0) | (lengths > t_k)).any():
        raise IndexError("lengths")
    return right.padding_mask(lengths, t_k)


@misconception("padding-remembered-by-shape", of="padding_mask")
def padding_by_shape(lengths, t_k):
    """You keep padding masks by their shape: other lengths of the same number get the first mask.

    Example: lengths=[4, 1, 5] after lengths=[0, 3, 2], t_k=5: the first mask comes back.
    Why: a cache is right only if its key holds everything that the result depends on, and here that's the lengths themselves.
    Look at: the key of your cache.
    """
    mask = right.padding_mask(lengths, t_k)
    return memory().setdefault((len(lengths), t_k), mask).clone()


@misconception("lengths-clamped", of="padding_mask", extends="lengths-unchecked")
def lengths_clamped(lengths, t_k):
    """You clamp the caller's lengths in place: what can't be is silently made possible, and the caller's tensor has changed.

    Example: lengths=[4], t_k=3 has to raise a ValueError; after your call the caller holds [3].
    Why: a length that can't be is a mistake upstream, and nobody expects a mask to write into its argument.
    Look at: `clamp_`.
    """
    return lengths_unchecked(lengths.clamp_(0, t_k), t_k)
