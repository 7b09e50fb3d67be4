"""What people get wrong in exercise 04: merge_heads."""

from attngrade.misconceptions import misconception
from attngrade.misconceptions.multi_head_parts import memory
from attngrade.solutions.exercise04_multi_head import merge_heads

# ---------------------------------------------------------------- merge_heads


def joined(x):
    """B, H, T, Dh of a legal merge; refuses like the solution."""
    merge_heads(x)
    return x.shape


@misconception("merge-without-swap", of="merge_heads")
def merge_without_swap(x):
    """Your merge_heads reshapes (B, H, T, Dh) straight to (B, T, D): a token gets rows of head 0 alone, one after the other.

    Example: head 0 with rows (0 1) (2 3), head 1 with (4 5) (6 7): your token 0 is 0 1 2 3; it should be 0 1 4 5.
    Why: a reshape reads memory in order and never moves anything; tokens have to stand before heads first.
    Look at: the swap of axes 1 and 2 before the reshape. A round trip with a split that has the same flaw looks perfect.
    """
    b, h, t, dh = joined(x)
    return x.reshape(b, t, h * dh)


@misconception("merge-views-without-swap", of="merge_heads", extends="merge-without-swap")
def merge_views_without_swap(x):
    """Your merge_heads views (B, H, T, Dh) straight as (B, T, D): a token gets rows of head 0 alone, one after the other.

    Example: head 0 with rows (0 1) (2 3), head 1 with (4 5) (6 7): your token 0 is 0 1 2 3; it should be 0 1 4 5.
    Why: a view never moves a number; tokens have to stand before heads first. For other memory layouts it ends in an error, too.
    Look at: the swap of axes 1 and 2 before the reshape. A round trip with a split that has the same flaw looks perfect.
    """
    b, h, t, dh = joined(x)
    return x.view(b, t, h * dh)


@misconception("merge-interleaves-heads", of="merge_heads")
def merge_interleaves_heads(x):
    """Your merge_heads shuffles the heads into each other: column 0 of every head, then column 1 of every head, and so on.

    Example: token t has (0 1) in head 0 and (4 5) in head 1: you give 0 4 1 5; it should be 0 1 4 5.
    Why: the last axis of a reshape runs fastest, and with (B, T, Dh, H) that is the head.
    Look at: the permutation before the reshape: (B, T, H, Dh).
    """
    return joined(x) and x.permute(0, 2, 3, 1).flatten(2)


@misconception("merge-swaps-other-axes", of="merge_heads")
def merge_swaps_other_axes(x):
    """Your merge_heads swaps tokens with the columns of a head; tokens and heads are the two that change places.

    Example: with a single head, where nothing at all should move, your result is already scrambled.
    Why: (B, H, T, Dh) became (B, T, H, Dh) by one swap, and the same swap undoes it.
    Look at: the two axes of your transpose: 1 and 2.
    """
    b, h, t, dh = joined(x)
    return x.transpose(2, 3).reshape(b, t, h * dh)


@misconception("merge-views-a-transpose", of="merge_heads")
def merge_views_a_transpose(x):
    """Your merge_heads calls `view` on a transposed tensor, and view refuses: memory is not in the order of the axes any more.

    Example: any input with more than one head and more than one token ends in a RuntimeError about size and stride.
    Why: a transpose moves no numbers, it only changes strides; joining two axes is possible without a copy only where they are neighbours.
    Look at: `reshape`, or `contiguous().view`: both copy when they must.
    """
    b, h, t, dh = joined(x)
    return x.transpose(1, 2).view(b, t, h * dh)


@misconception("merge-needs-packed-memory", of="merge_heads")
def merge_needs_packed_memory(x):
    """Your merge_heads works for packed tensors alone; for a view (a slice, a transpose) it ends in an error.

    Example: the transposed view that split_heads gives, which is what merge_heads mostly meets.
    Why: `view` joins axes only where memory allows it, and callers hand over tensors in every layout.
    Look at: `view` where `reshape` would copy when it must.
    """
    b, h, t, dh = joined(x)
    return x.view(b, h, t * dh).reshape(b, h, t, dh).transpose(1, 2).reshape(b, t, h * dh)


@misconception("merge-assumes-packed-memory", of="merge_heads")
def merge_assumes_packed_memory(x):
    """Your merge_heads trusts that x lies packed in memory; for a view (a slice, a transpose) it reads the wrong numbers.

    Example: x and x.contiguous() hold the same values, and your results differ.
    Why: strides tell where a value lies; computing them from the shape is right for one layout only.
    Look at: `as_strided`, or whatever else works with memory instead of values. reshape copes with every layout.
    """
    b, h, t, dh = joined(x)
    return x.as_strided((b, t, h, dh), (h * t * dh, dh, t * dh, 1), x.storage_offset()).reshape(b, t, h * dh)


@misconception("merge-assumes-split-memory", of="merge_heads")
def merge_assumes_split_memory(x):
    """Your merge_heads takes for granted that x is the transposed view that split_heads made; a packed tensor comes out scrambled.

    Example: the result of a matrix product, weights @ v, lies packed as (B, H, T, Dh) and not as (B, T, H, Dh).
    Why: the same values can lie in memory in many ways, and the result may depend on the values alone.
    Look at: `as_strided`, `_base` or whatever else works with memory instead of values.
    """
    b, h, t, dh = joined(x)
    return x.as_strided((b, t, h * dh), (t * h * dh, h * dh, 1), x.storage_offset())


@misconception("merge-assumes-adjacent-heads", of="merge_heads", extends="merge-assumes-split-memory")
def merge_assumes_adjacent_heads(x):
    """Your merge_heads takes for granted that a transposed view has its heads side by side; where heads were left out or repeated by a view it reads the wrong numbers.

    Example: split_heads(x, 4)[:, ::2]: head 1 lies two widths behind head 0, and you read the width behind it.
    Why: the same values can lie in memory in many ways, and the result may depend on the values alone.
    Look at: `as_strided` without the stride of the heads; reshape copies where it must.
    """
    b, h, t, dh = joined(x)
    if x.stride(1) < x.stride(2):
        return x.as_strided((b, t, h * dh), (x.stride(0), x.stride(2), x.stride(3)), x.storage_offset())
    return x.transpose(1, 2).reshape(b, t, h * dh)


@misconception("merge-adds-heads", of="merge_heads")
def merge_adds_heads(x):
    """Your merge_heads adds the heads up, (B, T, Dh); asked are all heads side by side, (B, T, H*Dh).

    Example: (0 1) in head 0 and (4 5) in head 1: you give 4 6; it should be 0 1 4 5.
    Why: a sum can't be undone; mixing the heads is the task of w_o.
    Look at: `sum(dim=1)` where two axes should become one.
    """
    return joined(x) and x.sum(dim=1)


@misconception("merge-averages-heads", of="merge_heads")
def merge_averages_heads(x):
    """Your merge_heads averages over the heads, (B, T, Dh); asked are all heads side by side, (B, T, H*Dh).

    Example: (0 1) in head 0 and (4 5) in head 1: you give 2 3; it should be 0 1 4 5.
    Why: a mean can't be undone, and many heads would be worth no more than one; mixing them is the task of w_o.
    Look at: `mean(dim=1)` where two axes should become one.
    """
    return joined(x) and x.mean(dim=1)


@misconception("merge-joins-batch-and-tokens", of="merge_heads")
def merge_joins_batch_and_tokens(x):
    """Your merge_heads joins batch and tokens into one axis, (B*T, D); the batch stays an axis of its own, (B, T, D).

    Example: x of shape (2, 3, 4, 5): you give (8, 15), asked is (2, 4, 15).
    Why: only the head axis was made by split_heads, so only that one goes away.
    Look at: the sizes in the last reshape.
    """
    return merge_heads(x).flatten(0, 1)


@misconception("merge-joins-heads-and-tokens", of="merge_heads")
def merge_joins_heads_and_tokens(x):
    """Your merge_heads puts the heads one after the other along the tokens, (B, H*T, Dh); they belong side by side, (B, T, H*Dh).

    Example: x of shape (2, 3, 4, 5): you give (2, 12, 5), asked is (2, 4, 15).
    Why: a head is a block of columns of every token; the number of tokens never changes.
    Look at: the axis of your `cat`, or which axes your flatten joins.
    """
    return joined(x) and x.flatten(1, 2)


@misconception("merge-puts-width-second", of="merge_heads")
def merge_puts_width_second(x):
    """Your merge_heads gives (B, D, T): the joined columns stand before the tokens.

    Example: x of shape (2, 3, 4, 5): you give (2, 15, 4), asked is (2, 4, 15).
    Why: heads have to move behind the tokens before they can join the columns.
    Look at: the swap of axes 1 and 2 before the reshape.
    """
    return merge_heads(x).transpose(1, 2)


@misconception("merge-reverses-heads", of="merge_heads")
def merge_reverses_heads(x):
    """Your merge_heads lays the heads side by side in reverse order: the last head comes first.

    Example: (0 1) in head 0 and (4 5) in head 1: you give 4 5 0 1; it should be 0 1 4 5.
    Why: head h owns columns h*Dh up to (h+1)*Dh - 1, and row h*Dh of w_o waits for it there.
    Look at: the order in which you collect the heads.
    """
    return merge_heads(x.flip(1)) if x.dim() == 4 else merge_heads(x)


@misconception("merge-cached-by-shape", of="merge_heads")
def merge_cached_by_shape(x):
    """Your merge_heads keeps its result and gives it again where the shapes are the same.

    Example: another x of the same shape: your result still holds the numbers of the first one.
    Why: equal shapes don't mean equal values; a result depends on its own call alone.
    Look at: a dictionary, a buffer or an lru_cache whose key holds shapes.
    """
    return memory().setdefault(("merge", tuple(x.shape), x.dtype, x.requires_grad), merge_heads(x))


@misconception("merge-cuts-the-graph", of="merge_heads")
def merge_cuts_the_graph(x):
    """Your merge_heads cuts the graph: its result knows nothing of x, so no gradient flows back.

    Example: merge_heads(x).sum().backward() fails, or leaves x.grad empty.
    Why: `detach`, `.data`, `torch.tensor(x)`, NumPy and no_grad all give values without history.
    Look at: where the values of x are taken out; reshape and transpose keep the graph.
    """
    return merge_heads(x).detach()


@misconception("merge-loses-dtype", of="merge_heads")
def merge_loses_dtype(x):
    """Your merge_heads always gives float32, whatever the dtype of x.

    Example: a float64 x comes back as float32, with half of its digits gone.
    Why: `torch.empty` and `torch.zeros` make float32 unless they are told; a merge moves values and changes none.
    Look at: a new tensor without `dtype=x.dtype`, or a `.float()`.
    """
    return merge_heads(x).float()


@misconception("merge-takes-any-rank", of="merge_heads")
def merge_takes_any_rank(x):
    """Your merge_heads takes tensors of any rank and joins what stands third from the end; only (B, H, T, Dh) is asked.

    Example: x of shape (2, 3, 4): you give (3, 8) where a ValueError is asked.
    Why: a missing axis is nearly always a mistake of the caller, and silence hides it.
    Look at: `if x.dim() != 4: raise ValueError(...)`.
    """
    return x.transpose(-3, -2).flatten(-2)


@misconception("merge-rank-unchecked", of="merge_heads")
def merge_rank_unchecked(x):
    """Your merge_heads never looks at the rank of x: it swaps axes 1 and 2 of anything and joins what comes behind.

    Example: x of shape (2, 3, 4): you give (2, 4, 3) where a ValueError is asked.
    Why: a missing or an extra axis is nearly always a mistake of the caller, and silence hides it.
    Look at: `if x.dim() != 4: raise ValueError(...)`.
    """
    return x.transpose(1, 2).flatten(2)


@misconception("merge-asserts", of="merge_heads")
def merge_asserts(x):
    """Your merge_heads refuses with `assert`; a ValueError is asked.

    Example: x of shape (2, 3, 4) raises AssertionError, and with `python -O` nothing at all.
    Why: assert states what can't happen; a wrong argument can, and callers catch ValueError.
    Look at: `if ...: raise ValueError(...)` in place of the assert.
    """
    try:
        return merge_heads(x)
    except ValueError as error:
        raise AssertionError(str(error)) from None
