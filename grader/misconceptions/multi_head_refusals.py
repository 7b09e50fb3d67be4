"""What people get wrong in exercise 04's attention: arguments that it should refuse with a ValueError."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.multi_head_formula import named
from attngrade.misconceptions.multi_head_parts import attend, no_look, refuse_but
from attngrade.solutions.exercise04_multi_head import multi_head_attention

ATTENTION = "multi_head_attention"

def mutual(mask, shape):
    """Refuses a mask that can't be combined with the scores."""
    try:
        torch.broadcast_shapes(mask.shape, shape)
    except RuntimeError:
        raise ValueError("mask") from None


def free_values(*args, **kwargs):
    """Values with a head width of their own, as long as w_o fits them."""
    given = named(*args, **kwargs)
    refuse = refuse_but("w_v", "w_o")

    def looser(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
        refuse(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads)
        if w_v.shape[1] % n_kv_heads or w_o.shape[0] != w_v.shape[1] // n_kv_heads * n_heads:
            raise ValueError("w_v, w_o")

    return attend(*given, refuse=looser)


def inferred(*args, **kwargs):
    """n_kv_heads from w_k where it is None."""
    given = list(named(*args, **kwargs))
    x, w_q, w_k, n_heads = given[0], given[1], given[2], given[5]
    if given[6] is None and x.dim() == 3 and w_q.dim() == w_k.dim() == 2 and n_heads >= 1 and w_q.shape[1] >= n_heads:
        given[6] = max(w_k.shape[1] // (w_q.shape[1] // n_heads), 1)
    return multi_head_attention(*given)


def instead(error):
    """Attention that raises another class."""

    def attention(*args, **kwargs):
        try:
            return multi_head_attention(*args, **kwargs)
        except ValueError as refused:
            raise error(str(refused)) from None

    return attention


@misconception("attention-refuses-nothing", of=ATTENTION)
def attention_refuses_nothing(*args, **kwargs):
    """Your attention checks none of its arguments: what doesn't fit ends in whatever error the next line raises, or in none at all.

    Example: w_o with a column too many gives a result of another width, and n_heads=0 a ZeroDivisionError.
    Why: a ValueError that names the argument is part of the contract; the worst misfits raise nothing by themselves.
    Look at: head counts, ranks and sizes at the top of the function, before the first product.
    """
    return attend(*args, **kwargs, refuse=lambda *sizes: None, look=no_look)


@misconception("attention-no-refusal-of-counts", of=ATTENTION)
def attention_no_refusal_of_counts(*args, **kwargs):
    """Your attention doesn't refuse head counts below 1.

    Example: n_heads=0 ends in a ZeroDivisionError where a ValueError is asked.
    Why: the remainder alone can't tell; it divides by the count.
    Look at: `n_heads < 1` and `n_kv_heads < 1`, before the remainders.
    """
    return attend(*args, **kwargs, refuse=refuse_but("counts"))


@misconception("attention-head-counts-unchecked", of=ATTENTION)
def attention_head_counts_unchecked(*args, **kwargs):
    """Your attention checks neither that head counts are at least 1 nor that n_heads is a multiple of n_kv_heads.

    Example: n_heads=0 ends in a ZeroDivisionError, n_heads=4 with n_kv_heads=3 in a RuntimeError; ValueErrors are asked.
    Why: a ValueError that names the argument is part of the contract; callers catch it.
    Look at: three conditions at the top: both counts at least 1, no remainder.
    """
    return attend(*args, **kwargs, refuse=refuse_but("counts", "multiple"))


@misconception("zero-kv-heads-like-none", of=ATTENTION)
def zero_kv_heads_like_none(*args, **kwargs):
    """Your attention treats n_kv_heads = 0 like None and uses n_heads.

    Example: n_kv_heads=0: a result comes back where a ValueError is asked.
    Why: 0 is false in Python; `n_kv_heads or n_heads` and `if not n_kv_heads` can't tell it from None.
    Look at: `if n_kv_heads is None`.
    """
    given = named(*args, **kwargs)
    return multi_head_attention(*given[:6], given[6] or None, given[7])


@misconception("attention-no-refusal-of-multiple", of=ATTENTION)
def attention_no_refusal_of_multiple(*args, **kwargs):
    """Your attention doesn't look whether n_heads is a multiple of n_kv_heads.

    Example: n_heads=4, n_kv_heads=3: 4 // 3 is 1, so 4 query heads meet 3 key heads, a RuntimeError.
    Why: every key head serves the same number of query heads.
    Look at: `n_heads % n_kv_heads`, before the repetition.
    """
    return attend(*args, **kwargs, refuse=refuse_but("multiple"))


@misconception("x-rank-2-accepted", of=ATTENTION)
def x_rank_2_accepted(*args, **kwargs):
    """Your attention gives an x of rank 2 a batch axis of its own; asked is a ValueError for every rank but 3.

    Example: x of shape (3, 7): you give (1, 3, 7).
    Why: a missing batch axis is nearly always a mistake of the caller, and a guess hides it.
    Look at: `unsqueeze(0)`, or `x[None]`, for rank 2.
    """
    given = named(*args, **kwargs)
    return multi_head_attention(given[0][None] if given[0].dim() == 2 else given[0], *given[1:])


@misconception("x-rank-2-accepted-and-returned", of=ATTENTION)
def x_rank_2_accepted_and_returned(*args, **kwargs):
    """Your attention takes an x of rank 2 as one sequence and gives rank 2 back; asked is a ValueError for every rank but 3.

    Example: x of shape (3, 7): you give (3, 7).
    Why: a missing batch axis is nearly always a mistake of the caller, and a guess hides it.
    Look at: `unsqueeze(0)`, or `x[None]`, for rank 2.
    """
    given = named(*args, **kwargs)
    if given[0].dim() != 2:
        return multi_head_attention(*given)
    return multi_head_attention(given[0][None], *given[1:])[0]


@misconception("weight-rank-unchecked", of=ATTENTION)
def weight_rank_unchecked(*args, **kwargs):
    """Your attention takes weights of rank 3: a leading axis of length 1 broadcasts through the product.

    Example: w_q of shape (1, 7, 12): a result comes back where a ValueError is asked.
    Why: a weight is a matrix; an extra axis is a mistake of the caller that `@` doesn't notice.
    Look at: `w.dim() != 2`, for each of the four.
    """
    return attend(*args, **kwargs, refuse=refuse_but("ranks", "rows", "w_o", "columns"))


@misconception("weight-axis-dropped", of=ATTENTION)
def weight_axis_dropped(*args, **kwargs):
    """Your attention takes weights of rank 3 with a leading axis of length 1 and drops that axis.

    Example: w_q of shape (1, 7, 12): a result comes back where a ValueError is asked.
    Why: a weight is a matrix; an extra axis is a mistake of the caller, and a guess hides it.
    Look at: `squeeze`, `reshape` or `view` on the weights.
    """
    given = named(*args, **kwargs)
    return multi_head_attention(given[0], *(w[0] if w.dim() == 3 and w.shape[0] == 1 else w for w in given[1:5]), *given[5:])


@misconception("w-o-columns-unchecked", of=ATTENTION)
def w_o_columns_unchecked(*args, **kwargs):
    """Your attention doesn't look at the columns of w_o: with 8 columns for D = 7 it gives a result of width 8.

    Example: w_o of shape (12, 8), x of width 7: a result comes back where a ValueError is asked.
    Why: the product fits whatever w_o's columns are, so nothing else notices; the result has to be (B, T, D).
    Look at: `w_o.shape[1]` against `x.shape[2]`.
    """
    return attend(*args, **kwargs, refuse=refuse_but("columns"))


@misconception("w-o-rows-unchecked", of=ATTENTION)
def w_o_rows_unchecked(*args, **kwargs):
    """Your attention doesn't look at the rows of w_o: what doesn't fit the merged heads ends in a RuntimeError of the product.

    Example: w_o of shape (13, 7) for merged heads of width 12: a ValueError is asked.
    Why: a caller catches ValueError for impossible arguments, and reads which one it was.
    Look at: `w_o.shape[0]` against `w_q.shape[1]`.
    """
    return attend(*args, **kwargs, refuse=refuse_but("w_o"))


@misconception("w-o-unchecked", of=ATTENTION)
def w_o_unchecked(*args, **kwargs):
    """Your attention doesn't look at the shape of w_o at all.

    Example: w_o of shape (12, 8), x of width 7: a result of width 8 comes back where a ValueError is asked.
    Why: the product fits whatever w_o's columns are, so nothing else notices; wrong rows end in a RuntimeError.
    Look at: `w_o.shape` against (w_q.shape[1], x.shape[2]).
    """
    return attend(*args, **kwargs, refuse=refuse_but("w_o", "columns"))


@misconception("w-v-width-unchecked", of=ATTENTION)
def w_v_width_unchecked(*args, **kwargs):
    """Your attention lets the values have a head width of their own; w_v has to be as wide as w_k.

    Example: w_v (7, 8) and w_o (16, 7) with heads of width 3: a result comes back where a ValueError is asked.
    Why: the products fit, so nothing else notices; the contract has one head width, Dh.
    Look at: `w_v.shape[1]` against n_kv_heads * Dh.
    """
    return free_values(*args, **kwargs)


@misconception("w-v-unchecked", of=ATTENTION)
def w_v_unchecked(*args, **kwargs):
    """Your attention checks w_k and forgets w_v.

    Example: w_v with the wrong width ends in an error of a reshape or a product, or in none, where a ValueError is asked.
    Why: w_v has to be (D, n_kv_heads * Dh) exactly like w_k.
    Look at: `w_v.shape`, beside the check of w_k.
    """
    return attend(*args, **kwargs, refuse=refuse_but("w_v"))


@misconception("w-k-unchecked", of=ATTENTION)
def w_k_unchecked(*args, **kwargs):
    """Your attention doesn't look at the width of w_k.

    Example: w_k (7, 7) for 2 key heads of width 3 ends in an error of a reshape or a product where a ValueError is asked.
    Why: w_k has to be (D, n_kv_heads * Dh), with Dh from w_q.
    Look at: `w_k.shape[1]` against n_kv_heads * Dh.
    """
    return attend(*args, **kwargs, refuse=refuse_but("w_k"))


@misconception("kv-widths-unchecked", of=ATTENTION)
def kv_widths_unchecked(*args, **kwargs):
    """Your attention doesn't look at the widths of w_k and w_v.

    Example: w_k (7, 12) for 2 key heads of width 3: heads of width 6 meet queries of width 3, a RuntimeError.
    Why: both have to be (D, n_kv_heads * Dh), with Dh from w_q.
    Look at: `w_k.shape[1]` and `w_v.shape[1]` against n_kv_heads * Dh.
    """
    return attend(*args, **kwargs, refuse=refuse_but("w_k", "w_v"))


@misconception("rows-unchecked", of=ATTENTION)
def rows_unchecked(*args, **kwargs):
    """Your attention doesn't look whether w_q, w_k and w_v have as many rows as x has columns; the product ends in a RuntimeError.

    Example: x of width 7, w_q with 8 rows: a ValueError is asked.
    Why: a caller catches ValueError for impossible arguments, and reads which one it was.
    Look at: `w.shape[0]` against `x.shape[2]`, for all three.
    """
    return attend(*args, **kwargs, refuse=refuse_but("rows"))


@misconception("attention-no-refusal-of-sizes", of=ATTENTION)
def attention_no_refusal_of_sizes(*args, **kwargs):
    """Your attention doesn't look at the sizes of the weights; misfits end in a RuntimeError, or in a result of the wrong width.

    Example: w_q with 8 rows for D = 7, or w_o with 8 columns: a ValueError is asked.
    Why: some misfits multiply without a complaint, and the rest raise another class than callers catch.
    Look at: every weight's shape against the one that x and the head counts ask for.
    """
    return attend(*args, **kwargs, refuse=refuse_but("width", "rows", "w_k", "w_v", "w_o", "columns"))


@misconception("kv-heads-inferred", of=ATTENTION)
def kv_heads_inferred(*args, **kwargs):
    """Your attention reads the number of key heads off w_k when n_kv_heads is None; None means n_heads.

    Example: n_heads=4, w_k for 2 heads, no n_kv_heads: a result comes back where a ValueError is asked.
    Why: a w_k that is too narrow is then a mistake of the caller, and a guess hides it.
    Look at: `w_k.shape[1] // Dh` where None is replaced.
    """
    return inferred(*args, **kwargs)


@misconception("mask-no-refusal", of=ATTENTION)
def mask_no_refusal(*args, **kwargs):
    """Your attention doesn't look whether the mask broadcasts to (B, H, T, T).

    Example: mask of shape (4,) for T = 3 ends in a RuntimeError; mask (2, 1, 1, T) for one sequence makes two of it.
    Why: broadcasting works both ways: too large a mask stretches the scores instead of failing.
    Look at: `mask.expand(scores.shape)`, and its RuntimeError turned into a ValueError.
    """
    return attend(*args, **kwargs, look=no_look)


@misconception("mask-stretches-scores", of=ATTENTION)
def mask_stretches_scores(*args, **kwargs):
    """Your attention refuses masks that can't be combined with the scores, and lets those pass that stretch them.

    Example: one sequence, mask (2, 1, 1, T): your result has two sequences.
    Why: the mask has to broadcast *to* (B, H, T, T): its own axes may have length 1, those of the scores may not grow.
    Look at: `torch.broadcast_shapes(...)` must equal the shape of the scores.
    """
    return attend(*args, **kwargs, look=mutual)


@misconception("mask-misfit-runtime-error", of=ATTENTION)
def mask_misfit_runtime_error(*args, **kwargs):
    """Your attention notices that the mask doesn't broadcast, and raises what torch raises: a RuntimeError.

    Example: mask of shape (4,) for T = 3: a ValueError that names mask is asked.
    Why: a caller catches ValueError for impossible arguments, and reads which one it was.
    Look at: `expand` or `broadcast_to` in a try, its RuntimeError turned into a ValueError.
    """
    return attend(*args, **kwargs, look=lambda mask, shape: mask.expand(shape))


@misconception("attention-asserts", of=ATTENTION)
def attention_asserts(*args, **kwargs):
    """Your attention refuses with `assert`; a ValueError is asked.

    Example: n_heads=0 raises AssertionError, and with `python -O` nothing at all.
    Why: assert states what can't happen; a wrong argument can, and callers catch ValueError.
    Look at: `if ...: raise ValueError(...)` in place of each assert.
    """
    return instead(AssertionError)(*args, **kwargs)


@misconception("attention-raises-type-error", of=ATTENTION)
def attention_raises_type_error(*args, **kwargs):
    """Your attention refuses with TypeError; a ValueError is asked.

    Example: n_heads=0 raises TypeError.
    Why: a tensor of the wrong size has the right type; ValueError is the class for impossible values.
    Look at: the class in your raise statements.
    """
    return instead(TypeError)(*args, **kwargs)


@misconception("attention-raises-runtime-error", of=ATTENTION)
def attention_raises_runtime_error(*args, **kwargs):
    """Your attention refuses with RuntimeError; a ValueError is asked.

    Example: n_heads=0 raises RuntimeError.
    Why: callers catch ValueError for impossible arguments; RuntimeError is what torch raises when nobody has looked.
    Look at: the class in your raise statements.
    """
    return instead(RuntimeError)(*args, **kwargs)


@misconception("refuses-other-inner-width", of=ATTENTION)
def refuses_other_inner_width(*args, **kwargs):
    """Your attention refuses weights with H*Dh different from D; only the division by n_heads is asked.

    Example: x of width 7, 3 heads of width 4: w_q is (7, 12), and you refuse it.
    Why: H*Dh equals D in many models and needn't; w_o brings the width back.
    Look at: a comparison of `x.shape[2]` with `w_q.shape[1]` or with n_heads * Dh.
    """
    given = named(*args, **kwargs)
    result = multi_head_attention(*given)
    if given[1].shape[1] != given[0].shape[2]:
        raise ValueError("w_q")
    return result


@misconception("refuses-width-of-x", of=ATTENTION)
def refuses_width_of_x(*args, **kwargs):
    """Your attention wants n_heads to divide the width of x; it has to divide the columns of w_q.

    Example: x of width 7, 3 heads of width 4: w_q is (7, 12), and you refuse it.
    Why: heads are cut from the projections, x itself is never split.
    Look at: `x.shape[2] % n_heads`: w_q's columns count.
    """
    given = named(*args, **kwargs)
    result = multi_head_attention(*given)
    if given[0].shape[2] % given[5]:
        raise ValueError("n_heads")
    return result
