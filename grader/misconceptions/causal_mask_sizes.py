"""What people get wrong in exercise 03 about the two masks: positions, lengths, axes and refusals that few inputs show."""

import torch
from attngrade.misconceptions import misconception
from attngrade.solutions import exercise03_causal_mask as right

__all__: list[str] = []  # filled by `wrong_mask` and `wrong_padding`: every misconception below


def wrong_mask(name, **options):
    """A misconception of causal_mask, exported."""

    def mark(code):
        __all__.append(code.__name__)
        return misconception(name, of="causal_mask", **options)(code)

    return mark


def wrong_padding(name, **options):
    """A misconception of padding_mask, exported."""

    def mark(code):
        __all__.append(code.__name__)
        return misconception(name, of="padding_mask", question="padding-mask", **options)(code)

    return mark


# ---------------------------------------------------------------- causal_mask


@wrong_mask("positions-in-a-byte")
def positions_in_a_byte(t_q, t_k=None, device=None):
    """Your positions are 8-bit numbers: past 255 (or 127) they start again, and far tokens are taken for near ones.

    Example: with 300 keys, key 256 has position 0 and is visible to every query.
    Why: an index has to hold every place there is; int64 is torch's own.
    Look at: the dtype of `arange`.
    """
    t_k = t_q if t_k is None else t_k
    right.causal_mask(t_q, t_k)
    queries, keys = (torch.arange(start, start + t, device=device).to(torch.uint8) for start, t in ((t_k - t_q, t_q), (0, t_k)))
    return keys <= queries[:, None]


@wrong_mask("positions-in-half-precision")
def positions_in_half(t_q, t_k=None, device=None):
    """Your positions are float16 numbers: past 2048 neighbours are rounded to the same place.

    Example: 2049 becomes 2048, so a query there sees one key more or less than it should.
    Why: float16 has 11 bits.
    Look at: the dtype of `arange`; positions are whole numbers.
    """
    t_k = t_q if t_k is None else t_k
    right.causal_mask(t_q, t_k)
    queries = torch.arange(t_q, device=device).to(torch.float16) + float(t_k - t_q)
    return torch.arange(t_k, device=device).to(torch.float16) <= queries[:, None]


@wrong_mask("more-queries-cut-to-the-keys", question="causal-alignment")
def cut_to_keys(t_q, t_k=None, device=None):
    """You cut the last T_q rows from a square of the keys; with more queries than keys there are fewer rows than queries.

    Example: T_q=3, T_k=2: you return (2, 2), and (3, 2) is right, its first row all False.
    Why: a query that sees nothing has a row, too.
    Look at: `[-t_q:]`.
    """
    t_k = t_q if t_k is None else t_k
    return right.causal_mask(t_k, t_k, device)[max(0, t_k - t_q):] if t_q >= 0 else right.causal_mask(t_q, t_k, device)


@wrong_mask("more-queries-emptied-at-the-end", question="causal-alignment")
def emptied_at_the_end(t_q, t_k=None, device=None):
    """With more queries than keys your empty rows stand at the end; the first queries are those that see nothing.

    Example: t_q=3, t_k=2: your rows are TF, TT, FF, and right are FF, TF, TT.
    Why: the last query sits on the last key, so t_q - t_k queries come before the first key.
    Look at: a square mask that is filled up with rows of False: they belong in front.
    """
    mask = right.causal_mask(t_q, t_k, device)
    return mask.roll(-max(0, t_q - mask.shape[1]), 0)


@wrong_mask("unequal-sizes-refused", question="causal-alignment")
def sizes_unequal_refused(t_q, t_k=None, device=None):
    """You refuse T_q and T_k of different size; both may be any.

    Example: T_q=1, T_k=4 is one new token over a cache.
    Why: keys are kept from earlier steps, queries aren't.
    Look at: `t_q != t_k` in your refusal.
    """
    if t_k is not None and t_q != t_k:
        raise ValueError("t_q and t_k")
    return right.causal_mask(t_q, t_k, device)


@wrong_mask("negative-t-q-unchecked")
def t_q_unchecked(t_q, t_k=None, device=None):
    """You refuse a negative t_k and leave a negative t_q to PyTorch, whose RuntimeError doesn't name it.

    Example: `causal_mask(-2, 3)` has to raise a ValueError with `t_q` in its message.
    Why: both are sizes.
    Look at: the check of t_q.
    """
    if (t_q if t_k is None else t_k) < 0:
        raise ValueError("t_k")
    torch.ones(t_q, 1)
    return right.causal_mask(t_q, t_k, device)


@wrong_mask("sizes-refused-only-together")
def sizes_together(t_q, t_k=None, device=None):
    """You refuse negative sizes only if both are negative; one is enough.

    Example: `causal_mask(3, -1)` has to raise a ValueError with `t_k` in its message.
    Why: each of them is a mistake of its own.
    Look at: `and` where `or` belongs.
    """
    if t_q < 0 and (t_k is None or t_k < 0):
        raise ValueError("t_q and t_k")
    torch.ones(t_q, t_q if t_k is None else t_k)
    return right.causal_mask(t_q, t_k, device)


@wrong_mask("device-as-a-string-alone")
def device_string(t_q, t_k=None, device=None):
    """You take `device` for a string; a torch.device is as good, and fails.

    Example: `causal_mask(2, 3, device=torch.device("cpu"))`.
    Why: `q.device` is a torch.device, and that is what callers have at hand.
    Look at: methods of strings on `device`; hand it on to PyTorch as it is.
    """
    if device is not None:
        device.startswith("cuda")
    return right.causal_mask(t_q, t_k, device)


# ---------------------------------------------------------------- padding_mask


@wrong_padding("padding-positions-in-a-byte")
def padding_in_a_byte(lengths, t_k):
    """Your positions are 8-bit numbers: past 255 (or 127) they start again, and padding far behind counts as real.

    Example: with t_k=300 and a length of 10, key 256 has position 0 and is visible.
    Why: an index has to hold every place there is; int64 is torch's own.
    Look at: the dtype of `arange`, or of the lengths.
    """
    right.padding_mask(lengths, t_k)
    return (torch.arange(t_k, device=lengths.device).to(torch.uint8) < lengths[:, None])[:, None, None, :]


@wrong_padding("padding-lengths-in-a-byte")
def lengths_in_a_byte(lengths, t_k):
    """You cast the lengths to 8-bit numbers: longer rows come out short.

    Example: a length of 260 becomes 4.
    Why: a length has to hold every size there is; int64 came in.
    Look at: the cast of `lengths`.
    """
    right.padding_mask(lengths, t_k)
    return (torch.arange(t_k, device=lengths.device) < lengths.to(torch.uint8)[:, None].long())[:, None, None, :]


@wrong_padding("padding-positions-in-half-precision")
def padding_in_half(lengths, t_k):
    """You compare float16 numbers: past 2048 neighbours are rounded to the same place.

    Example: with a length of 2049, key 2048 is hidden.
    Why: float16 has 11 bits.
    Look at: the dtypes of positions and lengths; both are whole numbers.
    """
    right.padding_mask(lengths, t_k)
    return (torch.arange(t_k, device=lengths.device).to(torch.float16) < lengths.to(torch.float16)[:, None])[:, None, None, :]


@wrong_padding("padding-batch-on-the-head-axis")
def batch_on_heads(lengths, t_k):
    """Your padding mask has the shape (1, B, 1, t_k): the sequences lie where the heads belong.

    Example: lengths=[1, 3], t_k=3: you return (1, 2, 1, 3), and (2, 1, 1, 3) is right.
    Why: scores are (B, H, T_q, T_k), and a mask lines up with them from the right.
    Look at: where the new axes are put in.
    """
    return right.padding_mask(lengths, t_k).transpose(0, 1)


@wrong_padding("padding-of-the-first-row-for-all")
def first_row_for_all(lengths, t_k):
    """Every row gets the padding of the first one.

    Example: lengths=[1, 3], t_k=3: your second row hides two real tokens.
    Why: each sequence has a length of its own.
    Look at: `lengths[0]`, or a mask that is expanded over the batch.
    """
    mask = right.padding_mask(lengths, t_k)
    return mask[:1].expand_as(mask)


@wrong_padding("padding-keeps-one-key")
def keeps_one_key(lengths, t_k):
    """A row of length 0 keeps its first key visible, so that no row is empty; nothing in it is real.

    Example: lengths=[0], t_k=3: you return [True, False, False], and all False is right.
    Why: rows that see nothing are the business of the softmax, which makes them 0.
    Look at: `clamp(min=1)`, or a first column that is always True.
    """
    right.padding_mask(lengths, t_k)
    return right.padding_mask(lengths.clamp(min=min(1, t_k)), t_k)


@wrong_padding("padding-by-sorted-lengths")
def sorted_lengths(lengths, t_k):
    """You sort the lengths; row b of the mask belongs to row b of the batch.

    Example: lengths=[1, 3], t_k=3: your first row is that of the length 3.
    Why: packing wants sorted lengths, a mask doesn't.
    Look at: `sort`.
    """
    return right.padding_mask(lengths.sort(descending=True).values, t_k)


@wrong_padding("padding-counts-from-one")
def starts_at_one(lengths, t_k):
    """Your padding mask hides the first token of every row as well: positions count from 0.

    Example: lengths=[2], t_k=3: you return [False, True, False], and [True, True, False] is right.
    Why: key j is real for 0 <= j < length.
    Look at: a second condition beside j < lengths[b].
    """
    mask = right.padding_mask(lengths, t_k).clone()
    mask[..., :1] = False
    return mask
