"""What people get wrong in exercise 04: split_heads."""

from attngrade.misconceptions import misconception
from attngrade.misconceptions.multi_head_parts import memory
from attngrade.solutions.exercise04_multi_head import split_heads

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


@misconception("split-without-swap-of-unpacked-memory", of="split_heads")
def split_without_swap_of_unpacked_memory(x, n_heads):
    """Your split_heads swaps the axes of a packed x alone; a view (a slice, a transpose) is reshaped straight to (B, H, T, Dh).

    Example: x and x.contiguous() hold the same values, and your heads differ: the view's list of tokens is cut into heads.
    Why: reshape copies where memory doesn't suit it, and still never moves an axis; the swap is needed for every layout.
    Look at: the branch on `is_contiguous()`: reshape to (B, T, H, Dh) and transpose(1, 2) work for both.
    """
    b, t, h, dh = cut(x, n_heads)
    return split_heads(x, n_heads) if x.is_contiguous() else x.reshape(b, h, t, dh)


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
