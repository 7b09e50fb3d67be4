"""What people get wrong in exercise 03: the causal mask here; padding, scores, weights and attention in the files causal_mask_*."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.causal_mask_attention import *  # noqa: F403
from attngrade.misconceptions.causal_mask_axes import *  # noqa: F403
from attngrade.misconceptions.causal_mask_dtypes import *  # noqa: F403
from attngrade.misconceptions.causal_mask_padding import *  # noqa: F403
from attngrade.misconceptions.causal_mask_parts import memory
from attngrade.misconceptions.causal_mask_paths import *  # noqa: F403
from attngrade.misconceptions.causal_mask_scores import *  # noqa: F403
from attngrade.misconceptions.causal_mask_shares import *  # noqa: F403
from attngrade.misconceptions.causal_mask_sizes import *  # noqa: F403
from attngrade.misconceptions.causal_mask_softmax import *  # noqa: F403
from attngrade.misconceptions.causal_mask_weights import *  # noqa: F403
from attngrade.solutions import exercise03_causal_mask as right


def square(t_q, t_k):
    """Both sizes, the second of them given or not; negative ones refused."""
    right.causal_mask(t_q, t_k)
    return t_q, t_q if t_k is None else t_k


# ---------------------------------------------------------------- causal_mask


@misconception("mask-aligned-top-left", of="causal_mask", question="causal-alignment")
def top_left(t_q, t_k=None, device=None):
    """Your mask lines the first query up with the first key; with a cache the last query sits on the last key.

    Example: T_q=1, T_k=4: you let the query see key 0 alone, and it may see all four.
    Why: with more keys than queries the extra keys are the past, so query i may see key j iff j <= i + (T_k - T_q).
    Look at: the `diagonal` argument of `torch.tril`, or the number that is added to the query's position.
    """
    t_q, t_k = square(t_q, t_k)
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).tril()


@misconception("mask-of-the-hidden-top-left", of="causal_mask", question="mask-polarity")
def hidden_top_left(t_q, t_k=None, device=None):
    """Your mask is True where a key is hidden, and lines the first query up with the first key; True means may attend, and the last query sits on the last key.

    Example: T_q=1, T_k=4: you return False, True, True, True, and all four are True in the right one.
    Why: one upper triangle holds two mix-ups: its meaning is the opposite, and with extra keys it starts in the wrong corner.
    Look at: `triu`; a lower triangle with `diagonal=t_k - t_q` says which keys may be seen.
    """
    t_q, t_k = square(t_q, t_k)
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).triu(1)


@misconception("mask-inverted", of="causal_mask", question="mask-polarity")
def inverted(t_q, t_k=None, device=None):
    """Your mask says True where a key is hidden; here True means that a query may attend.

    Example: T=2: you return [[False, True], [False, False]] and [[True, False], [True, True]] is right.
    Why: both conventions exist (some of PyTorch's own layers hide where True), so every statement has to pick one.
    Look at: `triu` against `tril`, or a missing `~`.
    """
    return ~right.causal_mask(t_q, t_k, device)


@misconception("mask-shows-the-future", of="causal_mask", question="causal-mask-place")
def future(t_q, t_k=None, device=None):
    """Your mask shows each query its own place and the future, and hides the past: it is the wrong triangle.

    Example: T=2: query 0 sees both keys and query 1 sees key 1 alone; it has to be the other way round.
    Why: rows are queries and columns are keys, so the past of query i are the columns up to i: the lower triangle.
    Look at: `triu` where `tril` is meant, or a comparison with queries and keys swapped.
    """
    t_q, t_k = square(t_q, t_k)
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).triu(t_k - t_q)


@misconception("mask-hides-the-present", of="causal_mask")
def strict(t_q, t_k=None, device=None):
    """Your mask hides the query's own place: a token has to see itself too.

    Example: T=1: you hide the only key there is, and it has to be visible.
    Why: j <= i + (T_k - T_q) holds with equality for the key that the query sits on.
    Look at: `<` where `<=` is meant, or a diagonal that is one too small.
    """
    t_q, t_k = square(t_q, t_k)
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).tril(t_k - t_q - 1)


@misconception("mask-shows-one-ahead", of="causal_mask", question="causal-mask-place")
def ahead(t_q, t_k=None, device=None):
    """Your mask lets every query see one key of its future.

    Example: T=2: query 0 sees key 1, which is the token that it is asked to predict.
    Why: j <= i + (T_k - T_q) and nothing more; one place too far is enough to give the answer away.
    Look at: a diagonal that is one too large, or `i + 1` where positions start at 0.
    """
    t_q, t_k = square(t_q, t_k)
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).tril(t_k - t_q + 1)


@misconception("mask-offset-reversed", of="causal_mask", question="causal-alignment")
def reversed_offset(t_q, t_k=None, device=None):
    """Your mask shifts the queries by T_q - T_k; the shift is T_k - T_q.

    Example: T_q=2, T_k=3: query 1 sees key 0 alone and query 0 sees nothing; they may see three keys and two.
    Why: with more keys than queries the queries stand at the end of the keys, so their places move to the right.
    Look at: the sign of the offset.
    """
    t_q, t_k = square(t_q, t_k)
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).tril(t_q - t_k)


@misconception("mask-offset-clamped", of="causal_mask", question="causal-alignment")
def clamped(t_q, t_k=None, device=None):
    """With more queries than keys your mask falls back to lining up the first query with the first key.

    Example: T_q=2, T_k=1: query 0 sees the key, and it sits before it: it sees nothing. Query 1 alone sees it.
    Why: the last query sits on the last key in this case too; rows without a visible key are legal here.
    Look at: a `max(0, ...)`, a `clamp` or an `if` around the offset.
    """
    t_q, t_k = square(t_q, t_k)
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).tril(max(0, t_k - t_q))


@misconception("mask-prefix-counted-from-the-end", of="causal_mask", question="causal-alignment")
def from_the_end(t_q, t_k=None, device=None):
    """With more queries than keys your first rows are cut with a negative length, which counts from the end: they see keys that they mustn't.

    Example: T_q=5, T_k=3: row 0 takes `[:-1]` and sees keys 0 and 1, where it sees nothing.
    Why: row i sees i + 1 + (T_k - T_q) keys; below 0 that means none, and a slice takes it for something else.
    Look at: max(0, ...) around the length of the slice.
    """
    t_q, t_k = square(t_q, t_k)
    mask = torch.zeros(t_q, t_k, dtype=torch.bool, device=device)
    for i in range(t_q):
        mask[i, : i + 1 + t_k - t_q] = True
    return mask


@misconception("mask-first-key-always-visible", of="causal_mask", question="empty-row")
def first_key(t_q, t_k=None, device=None):
    """Your mask lets a query that has no key of its own see the first key, so that its row isn't empty.

    Example: T_q=2, T_k=1: query 0 sees key 0, which lies in its future.
    Why: rows that see nothing are legal; the softmax has to cope with them (all zeros), not the mask.
    Look at: what you do with rows in which nothing is True.
    """
    mask = right.causal_mask(t_q, t_k, device)
    mask[~mask.any(1), :1] = True
    return mask


@misconception("mask-empty-rows-see-everything", of="causal_mask", question="empty-row")
def empty_sees_all(t_q, t_k=None, device=None):
    """Your mask shows all the keys to a query that may see none, so that its row isn't empty.

    Example: T_q=3, T_k=2: query 0 sees both keys, and both lie in its future.
    Why: rows that see nothing are legal; the softmax has to cope with them (all zeros), not the mask.
    Look at: what you do with rows in which nothing is True.
    """
    mask = right.causal_mask(t_q, t_k, device)
    mask[~mask.any(1)] = True
    return mask


@misconception("more-queries-refused", of="causal_mask", question="causal-alignment")
def more_queries_refused(t_q, t_k=None, device=None):
    """You refuse more queries than keys; that is legal, and the first queries see nothing.

    Example: T_q=2, T_k=1: query 0 sees nothing and query 1 sees the key: [[False], [True]].
    Why: the last query sits on the last key whatever the two sizes are, and rows without a visible key are legal here.
    Look at: the condition of your ValueError.
    """
    t_q, t_k = square(t_q, t_k)
    if t_q > t_k:
        raise ValueError("t_q")
    return right.causal_mask(t_q, t_k, device)


@misconception("mask-only-when-square", of="causal_mask", question="causal-alignment")
def only_square(t_q, t_k=None, device=None):
    """Your mask hides nothing at all when T_q and T_k differ.

    Example: T_q=2, T_k=3: query 0 sees key 2, which belongs to query 1.
    Why: one query over a cache sees everything, but a chunk of several queries has a future inside the chunk.
    Look at: the case that you made for T_q != T_k.
    """
    t_q, t_k = square(t_q, t_k)
    return right.causal_mask(t_q, t_k, device) if t_q == t_k else torch.ones(t_q, t_k, dtype=torch.bool, device=device)


@misconception("mask-dropped-over-a-cache", of="causal_mask", question="causal-alignment")
def dropped_over_cache(t_q, t_k=None, device=None):
    """Your mask hides nothing when there are more keys than queries.

    Example: T_q=2, T_k=3: query 0 sees key 2, which belongs to query 1.
    Why: one query over a cache sees everything, but a chunk of several queries has a future inside the chunk.
    Look at: the case that you made for T_k > T_q.
    """
    mask = right.causal_mask(t_q, t_k, device)
    return mask if mask.shape[0] >= mask.shape[1] else torch.ones_like(mask)


@misconception("mask-hides-the-cache", of="causal_mask", question="causal-alignment")
def hides_cache(t_q, t_k=None, device=None):
    """Your mask is causal among the new tokens and hides everything before them: the cache can't be seen.

    Example: T_q=1, T_k=4: the query sees key 3 alone, and it may see all four.
    Why: the extra keys are the past, which is exactly what a query may look at.
    Look at: the columns to the left of the triangle: they are True for every query.
    """
    mask = right.causal_mask(t_q, t_k, device)
    past = max(0, mask.shape[1] - mask.shape[0])
    mask[:, :past] = False
    return mask


@misconception("mask-ignores-t-k", of="causal_mask")
def ignores_t_k(t_q, t_k=None, device=None):
    """Your mask is (T_q, T_q) whatever T_k is.

    Example: T_q=2, T_k=3: you return two columns, and there are three keys.
    Why: rows are queries and columns are keys, and with a cache there are more of the second.
    Look at: where t_k is used.
    """
    square(t_q, t_k)
    return right.causal_mask(t_q, t_q, device)


@misconception("mask-transposed", of="causal_mask")
def transposed(t_q, t_k=None, device=None):
    """Your mask has keys as rows and queries as columns.

    Example: T_q=2, T_k=3: you return the shape (3, 2), and (2, 3) was asked.
    Why: the mask is laid on the scores q @ k^T, whose rows are queries.
    Look at: the order of t_q and t_k where the mask is made.
    """
    return right.causal_mask(t_q, t_k, device).T


@misconception("mask-of-floats", of="causal_mask")
def floats(t_q, t_k=None, device=None):
    """Your mask holds the floats 1.0 and 0.0 where booleans were asked.

    Example: T=1: you return [[1.0]], and [[True]] is right.
    Why: a mask of numbers gets added or multiplied somewhere sooner or later, and both are wrong; booleans can only choose.
    Look at: the `dtype` of `torch.ones`, or a comparison that is missing at the end.
    """
    return right.causal_mask(t_q, t_k, device).float()


@misconception("mask-of-integers", of="causal_mask")
def integers(t_q, t_k=None, device=None):
    """Your mask holds the integers 1 and 0 where booleans were asked.

    Example: T=1: you return [[1]], and [[True]] is right.
    Why: `~` of an integer mask flips all its bits (~1 is -2, which counts as True), and a mask of numbers gets added sooner or later.
    Look at: the `dtype` of the mask.
    """
    return right.causal_mask(t_q, t_k, device).long()


@misconception("mask-additive", of="causal_mask", question="mask-polarity")
def additive(t_q, t_k=None, device=None):
    """Your mask is the additive kind, 0 where a query may look and -inf elsewhere; a boolean one was asked, True = may attend.

    Example: T=1: you return [[0.0]], and [[True]] is right. Read as a boolean, every entry of yours means the opposite.
    Why: the other functions of this exercise take booleans; turning them into -inf is what mask_scores is for.
    Look at: the last line, where the booleans are filled into floats.
    """
    mask = right.causal_mask(t_q, t_k, device)
    return torch.zeros(mask.shape, device=device).masked_fill(~mask, float("-inf"))


@misconception("mask-with-extra-axes", of="causal_mask")
def extra_axes(t_q, t_k=None, device=None):
    """Your mask has two more axes, (1, 1, T_q, T_k); (T_q, T_k) was asked.

    Example: T=2: you return the shape (1, 1, 2, 2), and (2, 2) was asked.
    Why: a (T_q, T_k) mask broadcasts over batch and heads as it is; with extra axes it no longer fits scores of two or three axes.
    Look at: `None`, `unsqueeze` or `view` on the result.
    """
    return right.causal_mask(t_q, t_k, device)[None, None]


@misconception("mask-device-ignored", of="causal_mask")
def device_ignored(t_q, t_k=None, device=None):
    """Your mask is always made on the CPU: `device` is never used.

    Example: causal_mask(2, 3, device="cuda") comes back on the CPU, and the first masked_fill with scores on the GPU fails.
    Why: a mask has to live where the scores live.
    Look at: every `torch.ones`, `torch.arange` and `torch.tensor` in the function takes `device=device`.
    """
    return right.causal_mask(t_q, t_k)


@misconception("mask-needs-t-k", of="causal_mask")
def needs_t_k(t_q, t_k, device=None):
    """Your causal_mask can't be called without t_k; left out or None, it means t_q.

    Example: causal_mask(3) fails, and the 3 x 3 triangle was asked.
    Why: as many keys as queries is the usual case in training.
    Look at: the default of t_k, and what the first line does with None.
    """
    if t_q < 0 or t_k < 0:
        raise ValueError("t_q, t_k")
    return right.causal_mask(t_q, t_k, device)


@misconception("negative-sizes-fail-late", of="causal_mask")
def negative_fails_late(t_q, t_k=None, device=None):
    """You leave a negative size to PyTorch, which raises a RuntimeError; a ValueError that names the argument was asked.

    Example: causal_mask(-1) has to raise a ValueError with `t_q` in its message.
    Why: the caller learns which argument was wrong, and can tell a bad argument from a failure inside.
    Look at: the first lines of the function: nothing looks at the sizes before they are used.
    """
    t_k = t_q if t_k is None else t_k
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).tril(t_k - t_q)


@misconception("negative-sizes-taken-as-empty", of="causal_mask")
def negative_is_empty(t_q, t_k=None, device=None):
    """You answer a negative size with an empty mask; a ValueError that names the argument was asked.

    Example: causal_mask(-1) has to raise a ValueError with `t_q` in its message.
    Why: a negative size is always a mistake in the caller's arithmetic, and an empty result hides it.
    Look at: `range` and slices, which take a negative bound silently.
    """
    t_k = t_q if t_k is None else t_k
    return right.causal_mask(max(t_q, 0), max(t_k, 0), device)


@misconception("negative-sizes-asserted", of="causal_mask")
def negative_asserted(t_q, t_k=None, device=None):
    """You assert that sizes aren't negative; a ValueError that names the argument was asked.

    Example: causal_mask(-1) has to raise a ValueError with `t_q` in its message.
    Why: assertions state what can't happen, vanish under `python -O`, and no caller catches them.
    Look at: the `assert`: an `if` and a `raise ValueError(...)` say the same to the caller.
    """
    assert t_q >= 0
    assert t_k is None or t_k >= 0
    return right.causal_mask(t_q, t_k, device)


@misconception("zero-taken-as-missing", of="causal_mask")
def zero_missing(t_q, t_k=None, device=None):
    """You take t_k=0 for a t_k that wasn't given, and answer with a square mask.

    Example: causal_mask(3, 0) has no keys: its mask is empty, or it is refused; yours has three columns.
    Why: `t_k or t_q` and `if not t_k` can't tell 0 from None.
    Look at: `t_k is None`.
    """
    return right.causal_mask(t_q, t_k or t_q, device)


@misconception("mask-shared-between-calls", of="causal_mask")
def shared(t_q, t_k=None, device=None):
    """Your masks come out of a cache, and every caller gets the same tensor: whoever writes into his changes everybody's.

    Example: after `causal_mask(3, 5).logical_not_()` your next causal_mask(3, 5) comes back inverted.
    Why: a result never shares memory with the result of another call. Keep a copy back (`clone`), or drop the cache: the mask is cheap.
    Look at: `lru_cache`, a dictionary or a global tensor.
    """
    key = (t_q, t_k, str(device))
    if key not in memory():
        memory()[key] = right.causal_mask(t_q, t_k, device)
    return memory()[key]


@misconception("slices-of-one-big-mask", of="causal_mask")
def slices(t_q, t_k=None, device=None):
    """Your masks are views of one big mask: whoever writes into his changes everybody's.

    Example: after `causal_mask(3, 5).logical_not_()` other masks of yours come back with wrong entries.
    Why: a result never shares memory with the result of another call. A slice is a view; `clone` makes it a copy.
    Look at: the global (or cached) mask that you slice.
    """
    t_q, t_k = square(t_q, t_k)
    if t_q > t_k:
        return right.causal_mask(t_q, t_k, device)
    big = memory().setdefault("big", right.causal_mask(64))
    return big[t_k - t_q : t_k, :t_k].to(device or "cpu")


@misconception("negative-t-k-unchecked", of="causal_mask")
def only_t_q_checked(t_q, t_k=None, device=None):
    """You refuse a negative t_q and leave a negative t_k to PyTorch, whose RuntimeError doesn't name it.

    Example: causal_mask(3, -1) has to raise a ValueError with `t_k` in its message.
    Why: every size that can't be is refused by name.
    Look at: the condition of your ValueError: t_k is missing from it.
    """
    if t_q < 0:
        raise ValueError("t_q")
    return negative_fails_late(t_q, t_k, device)
