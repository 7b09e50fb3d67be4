"""What people get wrong in exercise 04: repeat_kv here; the other pieces, and attention itself, in the files multi_head_*."""

from attngrade.misconceptions import misconception
from attngrade.misconceptions.multi_head_formula import *  # noqa: F403
from attngrade.misconceptions.multi_head_groups import *  # noqa: F403
from attngrade.misconceptions.multi_head_masks import *  # noqa: F403
from attngrade.misconceptions.multi_head_matrices import *  # noqa: F403
from attngrade.misconceptions.multi_head_merge import *  # noqa: F403
from attngrade.misconceptions.multi_head_numbers import *  # noqa: F403
from attngrade.misconceptions.multi_head_parts import memory
from attngrade.misconceptions.multi_head_refusals import *  # noqa: F403
from attngrade.misconceptions.multi_head_results import *  # noqa: F403
from attngrade.misconceptions.multi_head_split import *  # noqa: F403
from attngrade.misconceptions.multi_head_together import *  # noqa: F403
from attngrade.solutions.exercise04_multi_head import repeat_kv

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
