"""What people get wrong in exercise 04: the three pieces. What goes wrong in attention itself is in the files multi_head_*."""

from attngrade.misconceptions import misconception
from attngrade.misconceptions.multi_head_formula import *  # noqa: F403
from attngrade.misconceptions.multi_head_masks import *  # noqa: F403
from attngrade.misconceptions.multi_head_numbers import *  # noqa: F403
from attngrade.misconceptions.multi_head_parts import memory
from attngrade.misconceptions.multi_head_refusals import *  # noqa: F403
from attngrade.misconceptions.multi_head_together import *  # noqa: F403
from attngrade.solutions.exercise04_multi_head import merge_heads, repeat_kv, split_heads

# ---------------------------------------------------------------- split_heads


def cut(x, n_heads):
    """B, T, H, Dh of a legal split; refuses like the solution."""
    batch, heads, tokens, width = split_heads(x, n_heads).shape
    return batch, tokens, heads, width


@misconception("split-without-swap", of="split_heads")
def split_without_swap(x, n_heads):
    """Your split_heads reshapes straight to (B, H, T, Dh): it cuts the list of tokens into heads, not the columns of each token.

    Example: tokens (0 1) and (2 3), two heads: your head 0 holds 0 and 1, all of token 0; it should hold 0 and 2.
    Why: a reshape reads memory in order and never moves anything; heads come out of the *last* axis, so they start behind T.
    Look at: reshape to (B, T, H, Dh) first, then swap axes 1 and 2. A round trip with a merge that has the same flaw looks perfect.
    """
    b, t, h, dh = cut(x, n_heads)
    return x.reshape(b, h, t, dh)


@misconception("split-views-without-swap", of="split_heads", extends="split-without-swap")
def split_views_without_swap(x, n_heads):
    """Your split_heads views x straight as (B, H, T, Dh): it cuts the list of tokens into heads, not the columns of each token.

    Example: tokens (0 1) and (2 3), two heads: your head 0 holds 0 and 1, all of token 0; it should hold 0 and 2.
    Why: a view never moves a number; heads come out of the *last* axis, so they start behind T.
    Look at: view as (B, T, H, Dh) first, then swap axes 1 and 2. A round trip with a merge that has the same flaw looks perfect.
    """
    b, t, h, dh = cut(x, n_heads)
    return x.view(b, h, t, dh)


@misconception("split-interleaves-columns", of="split_heads")
def split_interleaves_columns(x, n_heads):
    """Your split_heads deals the columns out like cards: head h gets columns h, h + H, h + 2H, ... instead of a block of neighbours.

    Example: columns 0 1 2 3, two heads: your head 0 holds 0 and 2; it should hold 0 and 1.
    Why: the last axis of a reshape runs fastest; cutting D into (Dh, H) puts the head index there.
    Look at: the order of the two factors when you cut the width; heads come first: (H, Dh).
    """
    b, t, h, dh = cut(x, n_heads)
    return x.reshape(b, t, dh, h).permute(0, 3, 1, 2)


@misconception("split-leaves-heads-third", of="split_heads")
def split_leaves_heads_third(x, n_heads):
    """Your split_heads stops at (B, T, H, Dh); heads belong in front of the tokens, (B, H, T, Dh).

    Example: x of shape (2, 3, 20), 4 heads: you give (2, 3, 4, 5), asked is (2, 4, 3, 5).
    Why: matrix products act on the last two axes; with heads third they would multiply heads with heads, within one token.
    Look at: the swap of axes 1 and 2 after the reshape.
    """
    b, t, h, dh = cut(x, n_heads)
    return x.reshape(b, t, h, dh)


@misconception("split-swaps-tokens-and-width", of="split_heads")
def split_swaps_tokens_and_width(x, n_heads):
    """Your split_heads gives (B, H, Dh, T): tokens stand last, where the columns of a head belong.

    Example: x of shape (2, 3, 20), 4 heads: you give (2, 4, 5, 3), asked is (2, 4, 3, 5).
    Why: each token's part is a row of its head; q k^T then sums over the last axis, the head width.
    Look at: which axes are swapped, and when: T and H trade places, T and the width never do.
    """
    return split_heads(x, n_heads).transpose(2, 3)


@misconception("split-transposes-first", of="split_heads")
def split_transposes_first(x, n_heads):
    """Your split_heads swaps tokens and width first and then cuts as if it hadn't: numbers of different tokens end up in one row.

    Example: with one head, where nothing at all should move, your result is already scrambled.
    Why: after the swap memory runs along tokens, so a reshape to (..., T, Dh) fills rows with numbers from several tokens.
    Look at: reshape first, while each token's columns are neighbours; swap afterwards, and swap H with T.
    """
    b, t, h, dh = cut(x, n_heads)
    return x.transpose(1, 2).reshape(b, h, t, dh)


@misconception("split-takes-n-heads-for-width", of="split_heads")
def split_takes_n_heads_for_width(x, n_heads):
    """Your split_heads takes n_heads for the width of a head: it makes D / n_heads heads of width n_heads.

    Example: x of shape (2, 3, 20), n_heads=4: you give 5 heads of width 4, asked are 4 heads of width 5.
    Why: the second argument counts heads; the width of a head is what remains, D // n_heads.
    Look at: the order of the last two sizes in the reshape.
    """
    b, t, h, dh = cut(x, n_heads)
    return x.reshape(b, t, dh, h).transpose(1, 2)


@misconception("split-puts-heads-before-batch", of="split_heads")
def split_puts_heads_before_batch(x, n_heads):
    """Your split_heads gives (H, B, T, Dh): heads stand before the batch.

    Example: x of shape (2, 3, 20), 4 heads: you give (4, 2, 3, 5), asked is (2, 4, 3, 5).
    Why: the batch stays the first axis everywhere, so that a mask (B, 1, 1, T) and the rest of the model fit.
    Look at: the axis along which you stack, or the first entry of the permutation.
    """
    return split_heads(x, n_heads).transpose(0, 1)


@misconception("split-folds-heads-into-batch", of="split_heads")
def split_folds_heads_into_batch(x, n_heads):
    """Your split_heads joins batch and heads into one axis, (B*H, T, Dh); four axes are asked, (B, H, T, Dh).

    Example: x of shape (2, 3, 20), 4 heads: you give (8, 3, 5), asked is (2, 4, 3, 5).
    Why: the folded form serves a `bmm`; here masks and key/value groups need the heads as an axis of their own.
    Look at: the last reshape or flatten of your function.
    """
    return split_heads(x, n_heads).flatten(0, 1)


@misconception("split-gives-a-list", of="split_heads")
def split_gives_a_list(x, n_heads):
    """Your split_heads gives a list with one tensor per head; asked is one tensor, (B, H, T, Dh).

    Example: x of shape (2, 3, 20), 4 heads: you give four tensors (2, 3, 5).
    Why: one tensor lets a single matrix product serve all heads.
    Look at: `torch.stack(..., dim=1)` around your list.
    """
    return list(split_heads(x, n_heads).unbind(1))


@misconception("split-gives-a-tuple", of="split_heads")
def split_gives_a_tuple(x, n_heads):
    """Your split_heads gives a tuple with one tensor per head, as `chunk` does; asked is one tensor, (B, H, T, Dh).

    Example: x of shape (2, 3, 20), 4 heads: you give four tensors (2, 3, 5).
    Why: one tensor lets a single matrix product serve all heads.
    Look at: `torch.stack(..., dim=1)` around the chunks.
    """
    return split_heads(x, n_heads).unbind(1)


@misconception("split-reverses-heads", of="split_heads")
def split_reverses_heads(x, n_heads):
    """Your split_heads gives the heads in reverse order: head 0 holds the last columns.

    Example: columns 0 1 2 3, two heads: your head 0 holds 2 and 3; it should hold 0 and 1.
    Why: head h owns columns h*Dh up to (h+1)*Dh - 1, so that w_q, w_k, w_v and w_o agree about which head is which.
    Look at: the order in which you collect the heads.
    """
    return split_heads(x, n_heads).flip(1)


@misconception("split-assumes-packed-memory", of="split_heads")
def split_assumes_packed_memory(x, n_heads):
    """Your split_heads trusts that x lies packed in memory; for a view (a slice, a transpose) it reads the wrong numbers.

    Example: x and x.contiguous() hold the same values, and your heads differ.
    Why: strides tell where a value lies; computing them from the shape is right for one layout only.
    Look at: `as_strided`, or whatever else works with memory instead of values. reshape copes with every layout.
    """
    b, t, h, dh = cut(x, n_heads)
    return x.as_strided((b, h, t, dh), (t * h * dh, dh, h * dh, 1), x.storage_offset())


@misconception("split-needs-packed-memory", of="split_heads")
def split_needs_packed_memory(x, n_heads):
    """Your split_heads works for packed tensors alone; for a view (a slice, a transpose) it ends in an error.

    Example: x with gaps between its rows, or a transposed tensor with the same values.
    Why: `view` joins or cuts axes only where memory allows it, and callers hand over tensors in every layout.
    Look at: `view` where `reshape` would copy when it must.
    """
    b, t, h, dh = cut(x, n_heads)
    return x.view(-1).view(b, t, h, dh).transpose(1, 2)


@misconception("split-cached-by-shape", of="split_heads")
def split_cached_by_shape(x, n_heads):
    """Your split_heads keeps its result and gives it again where the shapes are the same.

    Example: another x of the same shape: your result still holds the numbers of the first one.
    Why: equal shapes don't mean equal values; a result depends on its own call alone.
    Look at: a dictionary, a buffer or an lru_cache whose key holds shapes.
    """
    return memory().setdefault(("split", tuple(x.shape), n_heads, x.dtype, x.requires_grad), split_heads(x, n_heads))


@misconception("split-cuts-the-graph", of="split_heads")
def split_cuts_the_graph(x, n_heads):
    """Your split_heads cuts the graph: its result knows nothing of x, so no gradient flows back.

    Example: split_heads(x, 2).sum().backward() fails, or leaves x.grad empty.
    Why: `detach`, `.data`, `torch.tensor(x)`, NumPy and no_grad all give values without history.
    Look at: where the values of x are taken out; reshape and transpose keep the graph.
    """
    return split_heads(x, n_heads).detach()


@misconception("split-loses-dtype", of="split_heads")
def split_loses_dtype(x, n_heads):
    """Your split_heads always gives float32, whatever the dtype of x.

    Example: a float64 x comes back as float32, with half of its digits gone.
    Why: `torch.empty` and `torch.zeros` make float32 unless they are told; a split moves values and changes none.
    Look at: a new tensor without `dtype=x.dtype`, or a `.float()`.
    """
    return split_heads(x, n_heads).float()


@misconception("split-no-refusal-of-width", of="split_heads")
def split_no_refusal_of_width(x, n_heads):
    """Your split_heads doesn't look whether n_heads divides the width; the error comes from reshape, a RuntimeError.

    Example: D=12, n_heads=5: a ValueError that names n_heads is asked.
    Why: a caller catches ValueError for impossible arguments, and reads which one it was.
    Look at: `if x.shape[-1] % n_heads: raise ValueError(...)`, before the reshape.
    """
    if x.dim() != 3 or n_heads < 1:
        return split_heads(x, n_heads)
    return x.reshape(x.shape[0], x.shape[1], n_heads, x.shape[2] // n_heads).transpose(1, 2)


@misconception("split-drops-columns", of="split_heads")
def split_drops_columns(x, n_heads):
    """Your split_heads throws columns away: where n_heads doesn't divide the width it keeps n_heads * (D // n_heads) columns.

    Example: D=12, n_heads=5: you give 5 heads of width 2 and lose columns 10 and 11. A ValueError is asked.
    Why: 12 // 5 * 5 is 10, not 12; nothing later would notice the loss.
    Look at: the rounding division, and the missing check that nothing remains.
    """
    if x.dim() == 3 and n_heads >= 1:
        x = x[:, :, : x.shape[2] // n_heads * n_heads]
    return split_heads(x, n_heads)


@misconception("split-no-refusal-of-head-count", of="split_heads")
def split_no_refusal_of_head_count(x, n_heads):
    """Your split_heads doesn't refuse n_heads below 1: 0 ends in a ZeroDivisionError, negative counts in a RuntimeError.

    Example: n_heads=0: `D % 0` raises before your message can.
    Why: the remainder alone can't tell; it divides by n_heads.
    Look at: `n_heads < 1` comes before the remainder in the condition.
    """
    if x.dim() == 3 and (n_heads == 0 or x.shape[2] % n_heads == 0):
        return x.reshape(x.shape[0], x.shape[1], n_heads, x.shape[2] // n_heads).transpose(1, 2)
    return split_heads(x, n_heads)


@misconception("split-no-refusal-of-negative-heads", of="split_heads")
def split_no_refusal_of_negative_heads(x, n_heads):
    """Your split_heads refuses 0 heads and not -1 or -3: a remainder of 0 lets them through to reshape, a RuntimeError.

    Example: D=12, n_heads=-3: 12 % -3 is 0.
    Why: a head count is at least 1; "not zero" is a weaker condition.
    Look at: `n_heads < 1` where you compare with 0.
    """
    if x.dim() == 3 and n_heads < 0 and x.shape[2] % n_heads == 0:
        return x.reshape(x.shape[0], x.shape[1], n_heads, x.shape[2] // n_heads).transpose(1, 2)
    return split_heads(x, n_heads)


@misconception("split-asserts", of="split_heads")
def split_asserts(x, n_heads):
    """Your split_heads refuses with `assert`; a ValueError is asked.

    Example: n_heads=0 raises AssertionError, and with `python -O` nothing at all.
    Why: assert states what can't happen; a wrong argument can, and callers catch ValueError.
    Look at: `if ...: raise ValueError(...)` in place of each assert.
    """
    try:
        return split_heads(x, n_heads)
    except ValueError as error:
        raise AssertionError(str(error)) from None


@misconception("split-refuses-nothing", of="split_heads")
def split_refuses_nothing(x, n_heads):
    """Your split_heads checks none of its arguments: what doesn't fit ends in whatever error the next line happens to raise.

    Example: n_heads=0 raises ZeroDivisionError, n_heads=5 for 12 columns a RuntimeError of reshape.
    Why: a ValueError that names the argument is part of the contract; callers catch it.
    Look at: three conditions before the reshape: rank 3, n_heads at least 1, no remainder.
    """
    batch, tokens, width = x.shape
    return x.reshape(batch, tokens, n_heads, width // n_heads).transpose(1, 2)


@misconception("split-takes-any-rank", of="split_heads")
def split_takes_any_rank(x, n_heads):
    """Your split_heads takes tensors of any rank and splits the last axis; only (B, T, D) is asked, the rest is refused.

    Example: x of shape (3, 12), 4 heads: you give (4, 3, 3) where a ValueError is asked.
    Why: a missing batch axis is nearly always a mistake of the caller, and silence hides it.
    Look at: `if x.dim() != 3: raise ValueError(...)`.
    """
    if x.dim() == 3 or n_heads < 1 or x.shape[-1] % n_heads:
        return split_heads(x, n_heads)
    return x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads).transpose(-2, -3)


@misconception("split-adds-a-batch", of="split_heads")
def split_adds_a_batch(x, n_heads):
    """Your split_heads gives a tensor (T, D) a batch axis of its own; asked is a ValueError for every rank but 3.

    Example: x of shape (3, 12), 4 heads: you give (1, 4, 3, 3).
    Why: a missing batch axis is nearly always a mistake of the caller, and a guess hides it.
    Look at: `unsqueeze(0)`, or `x[None]`, for rank 2.
    """
    return split_heads(x[None] if x.dim() == 2 else x, n_heads)


@misconception("split-rank-unchecked", of="split_heads")
def split_rank_unchecked(x, n_heads):
    """Your split_heads never looks at the rank of x: rank 4 is reshaped as if its third axis were the width.

    Example: x of shape (2, 2, 3, 12), 4 heads: you give (2, 4, 2, 9) where a ValueError is asked.
    Why: `x.shape[0], x.shape[1]` exist for every rank from 2 up, and -1 swallows what is left.
    Look at: `if x.dim() != 3: raise ValueError(...)`.
    """
    if x.dim() == 3 or n_heads < 1 or x.shape[-1] % n_heads:
        return split_heads(x, n_heads)
    return x.reshape(x.shape[0], x.shape[1], n_heads, -1).transpose(1, 2)


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


# ---------------------------------------------------------------- repeat_kv


def legal(x, n_rep):
    """x itself; refuses like the solution."""
    repeat_kv(x, n_rep)
    return x


@misconception("repeat-tiles-heads", of="repeat_kv")
def repeat_tiles_heads(x, n_rep):
    """Your repeat_kv repeats the whole list of heads, 0 1 0 1: query head h gets key head h % H_kv instead of h // n_rep.

    Example: two heads, n_rep=2: you give heads 0 1 0 1; right is 0 0 1 1.
    Why: query heads of one group are neighbours in w_q, so the copies of their key head have to be neighbours too.
    Look at: `repeat` copies the list, `repeat_interleave` copies each entry; with expand the new axis stands *behind* the heads.
    """
    return legal(x, n_rep).repeat(1, n_rep, 1, 1)


@misconception("repeat-repeats-tokens", of="repeat_kv")
def repeat_repeats_tokens(x, n_rep):
    """Your repeat_kv repeats tokens: the sequence becomes n_rep times as long and the number of heads stays.

    Example: x of shape (2, 3, 4, 5), n_rep=2: you give (2, 3, 8, 5), asked is (2, 6, 4, 5).
    Why: without a mask doubled keys change nothing in the result, so this hides well; with a mask nothing fits any more.
    Look at: the axis: heads are axis 1 of (B, H_kv, T, Dh).
    """
    return legal(x, n_rep).repeat_interleave(n_rep, dim=2)


@misconception("repeat-tiles-tokens", of="repeat_kv")
def repeat_tiles_tokens(x, n_rep):
    """Your repeat_kv appends the sequence to itself along the tokens; the number of heads should grow, not the number of tokens.

    Example: x of shape (2, 3, 4, 5), n_rep=2: you give (2, 3, 8, 5), asked is (2, 6, 4, 5).
    Why: without a mask doubled keys change nothing in the result, so this hides well; with a mask nothing fits any more.
    Look at: the axis: heads are axis 1 of (B, H_kv, T, Dh).
    """
    return legal(x, n_rep).repeat(1, 1, n_rep, 1)


@misconception("repeat-repeats-batch", of="repeat_kv")
def repeat_repeats_batch(x, n_rep):
    """Your repeat_kv repeats along the batch; the number of heads should grow, not the number of sequences.

    Example: x of shape (2, 3, 4, 5), n_rep=2: you give (4, 3, 4, 5), asked is (2, 6, 4, 5).
    Why: every sequence keeps its own keys; only its query heads share them.
    Look at: the axis: heads are axis 1 of (B, H_kv, T, Dh).
    """
    return legal(x, n_rep).repeat_interleave(n_rep, dim=0)


@misconception("repeat-repeats-width", of="repeat_kv")
def repeat_repeats_width(x, n_rep):
    """Your repeat_kv repeats along the last axis: heads get wider instead of more.

    Example: x of shape (2, 3, 4, 5), n_rep=2: you give (2, 3, 4, 10), asked is (2, 6, 4, 5).
    Why: query and key heads have the same width Dh; it is their number that differs.
    Look at: the axis: heads are axis 1 of (B, H_kv, T, Dh).
    """
    return legal(x, n_rep).repeat_interleave(n_rep, dim=3)


@misconception("repeat-flattens", of="repeat_kv")
def repeat_flattens(x, n_rep):
    """Your repeat_kv calls repeat_interleave without an axis: the tensor is flattened and every single number repeated.

    Example: x of shape (2, 3, 4, 5), n_rep=2: you give 240 numbers in one axis, asked is (2, 6, 4, 5).
    Why: without `dim` repeat_interleave works on the flattened input.
    Look at: `dim=1`.
    """
    return legal(x, n_rep).repeat_interleave(n_rep)


@misconception("repeat-first-head-only", of="repeat_kv")
def repeat_first_head_only(x, n_rep):
    """Your repeat_kv gives every query head the first key/value head; the others are never used.

    Example: two heads, n_rep=2: you give heads 0 0 0 0; right is 0 0 1 1.
    Why: that is multi-query attention, right for H_kv = 1 alone; here query head h uses head h // n_rep.
    Look at: the slice or index that picks head 0.
    """
    return legal(x, n_rep)[:, :1].expand(-1, x.shape[1] * n_rep, -1, -1)


@misconception("repeat-leaves-five-axes", of="repeat_kv")
def repeat_leaves_five_axes(x, n_rep):
    """Your repeat_kv leaves the copies in an axis of their own, (B, H_kv, n_rep, T, Dh); heads and copies belong in one axis.

    Example: x of shape (2, 3, 4, 5), n_rep=2: you give (2, 3, 2, 4, 5), asked is (2, 6, 4, 5).
    Why: queries come as (B, H, T, Dh), and keys have to stand beside them head by head.
    Look at: the reshape or flatten that is missing after `expand`.
    """
    return legal(x, n_rep)[:, :, None].expand(-1, -1, n_rep, -1, -1)


@misconception("repeat-does-nothing", of="repeat_kv")
def repeat_does_nothing(x, n_rep):
    """Your repeat_kv gives x back as it came: no head is repeated.

    Example: x of shape (2, 3, 4, 5), n_rep=2: you give (2, 3, 4, 5), asked is (2, 6, 4, 5).
    Why: broadcasting later replaces a repetition only where there is a single key/value head.
    Look at: a result that is computed and not returned: `repeat_interleave` changes nothing in place.
    """
    return legal(x, n_rep)


@misconception("repeat-one-copy-too-many", of="repeat_kv")
def repeat_one_copy_too_many(x, n_rep):
    """Your repeat_kv adds n_rep copies to each head, which makes n_rep + 1 of them.

    Example: x of shape (2, 3, 4, 5), n_rep=2: you give 9 heads, asked are 6.
    Why: n_rep counts how often each head stands in the result, the original included; n_rep=1 changes nothing.
    Look at: where the original is counted a second time.
    """
    return legal(x, n_rep).repeat_interleave(n_rep + 1, dim=1)


@misconception("repeat-assumes-packed-memory", of="repeat_kv")
def repeat_assumes_packed_memory(x, n_rep):
    """Your repeat_kv trusts that x lies packed in memory; for a view (a slice, a transpose) it reads the wrong numbers.

    Example: x and x.contiguous() hold the same values, and your results differ.
    Why: strides tell where a value lies; computing them from the shape is right for one layout only.
    Look at: `as_strided`, or whatever else works with memory instead of values.
    """
    b, g, t, dh = legal(x, n_rep).shape
    return x.as_strided((b, g, n_rep, t, dh), (g * t * dh, t * dh, 0, dh, 1), x.storage_offset()).reshape(b, g * n_rep, t, dh)


@misconception("repeat-needs-packed-memory", of="repeat_kv")
def repeat_needs_packed_memory(x, n_rep):
    """Your repeat_kv ends in an error for tensors that aren't packed in memory, or once copies share memory.

    Example: `expand(...).view(...)`: an expanded axis has stride 0, and view can't join it with its neighbour.
    Why: `view` never copies; where axes are no neighbours in memory a copy is needed.
    Look at: `reshape` where you call `view`.
    """
    b, g, t, dh = legal(x, n_rep).shape
    return x[:, :, None].expand(b, g, n_rep, t, dh).view(b, g * n_rep, t, dh)


@misconception("repeat-cached-by-shape", of="repeat_kv")
def repeat_cached_by_shape(x, n_rep):
    """Your repeat_kv keeps its result and gives it again where the shapes are the same.

    Example: another x of the same shape: your result still holds the numbers of the first one.
    Why: equal shapes don't mean equal values; a result depends on its own call alone.
    Look at: a dictionary, a buffer or an lru_cache whose key holds shapes.
    """
    return memory().setdefault(("repeat", tuple(x.shape), n_rep, x.dtype, x.requires_grad), repeat_kv(x, n_rep))


@misconception("repeat-cuts-the-graph", of="repeat_kv")
def repeat_cuts_the_graph(x, n_rep):
    """Your repeat_kv cuts the graph: its result knows nothing of x, so no gradient flows back.

    Example: repeat_kv(x, 2).sum().backward() fails; right is a gradient that adds up over the copies.
    Why: `detach`, `.data`, `torch.tensor(x)`, NumPy and no_grad all give values without history.
    Look at: where the values of x are taken out; repeat_interleave, expand and indexing keep the graph.
    """
    return repeat_kv(x, n_rep).detach()


@misconception("repeat-loses-dtype", of="repeat_kv")
def repeat_loses_dtype(x, n_rep):
    """Your repeat_kv always gives float32, whatever the dtype of x.

    Example: a float64 x comes back as float32, with half of its digits gone.
    Why: `torch.empty` and `torch.zeros` make float32 unless they are told; a repetition moves values and changes none.
    Look at: a new tensor without `dtype=x.dtype`, or a `.float()`.
    """
    return repeat_kv(x, n_rep).float()


@misconception("repeat-no-refusal-of-n-rep", of="repeat_kv")
def repeat_no_refusal_of_n_rep(x, n_rep):
    """Your repeat_kv doesn't refuse n_rep below 1: 0 gives a tensor without heads, negative numbers end in a RuntimeError.

    Example: n_rep=0: you give a shape with 0 heads where a ValueError that names n_rep is asked.
    Why: no query head can use no key head; an empty tensor only fails much later, far from the cause.
    Look at: `if n_rep < 1: raise ValueError(...)`.
    """
    return x.repeat_interleave(n_rep, dim=1) if x.dim() == 4 else repeat_kv(x, n_rep)


@misconception("repeat-no-refusal-of-negative-n-rep", of="repeat_kv")
def repeat_no_refusal_of_negative_n_rep(x, n_rep):
    """Your repeat_kv refuses n_rep = 0 and not -1: negative numbers end in a RuntimeError.

    Example: n_rep=-1: a ValueError that names n_rep is asked.
    Why: a number of copies is at least 1; "not zero" is a weaker condition.
    Look at: `n_rep < 1` where you compare with 0.
    """
    return x.repeat_interleave(n_rep, dim=1) if x.dim() == 4 and n_rep else repeat_kv(x, n_rep)


@misconception("repeat-takes-small-n-rep-for-one", of="repeat_kv")
def repeat_takes_small_n_rep_for_one(x, n_rep):
    """Your repeat_kv treats every n_rep below 1 like 1 and gives x back; a ValueError is asked.

    Example: n_rep=0: you give x unchanged.
    Why: `if n_rep <= 1: return x` is a fine shortcut for 1, and it hides that 0 and -1 are impossible.
    Look at: the shortcut; it should say `== 1`, behind a refusal of everything smaller.
    """
    return repeat_kv(x, max(n_rep, 1))


@misconception("repeat-rank-unchecked", of="repeat_kv")
def repeat_rank_unchecked(x, n_rep):
    """Your repeat_kv never looks at the rank of x: it repeats axis 1 of anything.

    Example: x of shape (3, 4, 5), n_rep=2: you give (3, 8, 5), repeated tokens, where a ValueError is asked.
    Why: a missing batch axis is nearly always a mistake of the caller, and here it shifts heads into tokens.
    Look at: `if x.dim() != 4: raise ValueError(...)`.
    """
    return x.repeat_interleave(n_rep, dim=1) if n_rep >= 1 else repeat_kv(x, n_rep)


@misconception("repeat-takes-any-rank", of="repeat_kv")
def repeat_takes_any_rank(x, n_rep):
    """Your repeat_kv takes tensors of any rank and repeats the third axis from the end; only (B, H_kv, T, Dh) is asked.

    Example: x of shape (3, 4, 5), n_rep=2: you give (6, 4, 5) where a ValueError is asked.
    Why: a missing batch axis is nearly always a mistake of the caller, and silence hides it.
    Look at: `if x.dim() != 4: raise ValueError(...)`.
    """
    return x.repeat_interleave(n_rep, dim=-3) if n_rep >= 1 else repeat_kv(x, n_rep)


@misconception("repeat-refuses-nothing", of="repeat_kv")
def repeat_refuses_nothing(x, n_rep):
    """Your repeat_kv checks neither n_rep nor the rank of x.

    Example: n_rep=0 gives a tensor without heads; x of shape (3, 4, 5) has its tokens repeated.
    Why: a ValueError that names the argument is part of the contract; an empty or shifted tensor only fails much later.
    Look at: two conditions before anything else: rank 4, and n_rep at least 1.
    """
    return x.repeat_interleave(n_rep, dim=1)


@misconception("repeat-asserts-n-rep", of="repeat_kv")
def repeat_asserts_n_rep(x, n_rep):
    """Your repeat_kv refuses n_rep below 1 with `assert`; a ValueError is asked.

    Example: n_rep=0 raises AssertionError, and with `python -O` nothing at all.
    Why: assert states what can't happen; a wrong argument can, and callers catch ValueError.
    Look at: `if n_rep < 1: raise ValueError(...)` in place of the assert.
    """
    assert x.dim() != 4 or n_rep >= 1
    return repeat_kv(x, n_rep)


@misconception("repeat-asserts", of="repeat_kv")
def repeat_asserts(x, n_rep):
    """Your repeat_kv refuses with `assert`; a ValueError is asked.

    Example: n_rep=0 raises AssertionError, and with `python -O` nothing at all.
    Why: assert states what can't happen; a wrong argument can, and callers catch ValueError.
    Look at: `if ...: raise ValueError(...)` in place of each assert.
    """
    try:
        return repeat_kv(x, n_rep)
    except ValueError as error:
        raise AssertionError(str(error)) from None
