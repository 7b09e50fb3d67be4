"""What people get wrong in exercise 04's attention: arguments changed in place, what is kept between calls, the kind of result."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.multi_head_formula import named
from attngrade.misconceptions.multi_head_parts import ATTENTION, attend, memory, staged, wide
from attngrade.solutions.exercise04_multi_head import multi_head_attention, refuse_misfits


def shrinking(place):
    """Attention that scales one of its arguments in place, after the lift: half precision is a copy by then."""

    def attention(*args, **kwargs):
        given = list(named(*args, **kwargs))
        dtype = given[0].dtype
        refuse_misfits(*given[:6], given[5] if given[6] is None else given[6])
        given[:5] = [wide(tensor) for tensor in given[:5]]
        with torch.no_grad():
            given[place].mul_((given[1].shape[1] // given[5]) ** -0.5)
        return attend(*given, scale=lambda d, h, t, dh: 1.0).to(dtype)

    return attention


def remembering(what):
    """Attention that keeps keys, masks or results by shape."""

    def attention(*args, **kwargs):
        given = named(*args, **kwargs)
        result = multi_head_attention(*given)
        key = (what, *(tuple(item.shape) if isinstance(item, torch.Tensor) else item for item in given), given[0].dtype, given[0].requires_grad)
        if what == "result":
            return memory().setdefault(key, result)
        if what == "weights":
            kept = [memory().setdefault((what, i, tuple(w.shape), w.dtype, w.requires_grad), w) for i, w in enumerate(given[1:5])]
            return multi_head_attention(given[0], *kept, *given[5:])
        if what == "mask":
            return multi_head_attention(*given[:7], None if given[7] is None else memory().setdefault((what, tuple(given[7].shape)), given[7].clone()))
        x, w_k = given[0], given[2]
        key = (what, tuple(x.shape), tuple(w_k.shape), given[5] if given[6] is None else given[6], x.dtype, x.requires_grad)
        kept = memory().setdefault(key, wide(x) @ wide(w_k))
        turn = iter((False, True, False))
        return attend(*given, split=lambda projected, heads: staged("split_heads")(kept if next(turn) else projected, heads))

    return attention


def with_weights(first):
    """Attention that gives its weights as well."""

    def attention(*args, **kwargs):
        seen = []
        result = attend(*args, **kwargs, weigh=lambda scores: (seen.append(scores.softmax(-1)), seen[0])[1])
        return (seen[0], result) if first else (result, seen[0])

    return attention


@misconception("mask-changed-in-place", of=ATTENTION)
def mask_changed_in_place(*args, **kwargs):
    """Your attention inverts the caller's mask in place: after the call it means the opposite.

    Example: calling twice with the same mask gives two different results.
    Why: a function may change its own tensors, never those of its caller.
    Look at: the underscore of `logical_not_`, or `mask[...] = ...`.
    """
    return attend(*args, **kwargs, hide=lambda scores, mask: scores.masked_fill(mask.logical_not_(), float("-inf")))


@misconception("w-q-changed-in-place", of=ATTENTION)
def w_q_changed_in_place(*args, **kwargs):
    """Your attention multiplies the scale into the caller's w_q, in place.

    Example: after a few calls w_q has shrunk to nothing.
    Why: a function may change its own tensors, never those of its caller.
    Look at: `w_q *= ...` or `mul_`; `w_q = w_q * ...` makes a tensor of your own.
    """
    return shrinking(1)(*args, **kwargs)


@misconception("keys-cached-by-shape", of=ATTENTION)
def keys_cached_by_shape(*args, **kwargs):
    """Your attention keeps projections from an earlier call and uses them again where the shapes are the same.

    Example: another x of the same shape: your result still follows the first one.
    Why: equal shapes don't mean equal values; a result depends on its own call alone.
    Look at: a dictionary or an lru_cache whose key holds shapes.
    """
    return remembering("keys")(*args, **kwargs)


@misconception("weights-cached-by-shape", of=ATTENTION)
def weights_cached_by_shape(*args, **kwargs):
    """Your attention keeps the weights of an earlier call and uses them again where the shapes are the same.

    Example: a second layer of the same size: its result comes from the first layer's weights.
    Why: equal shapes don't mean equal values; a result depends on its own call alone.
    Look at: a dictionary or an lru_cache whose key holds shapes, perhaps around a fused or converted weight.
    """
    return remembering("weights")(*args, **kwargs)


@misconception("mask-cached-by-shape", of=ATTENTION)
def mask_cached_by_shape(*args, **kwargs):
    """Your attention keeps the mask of an earlier call and uses it again where the shape is the same.

    Example: a lower triangle first, then an upper one: your second result still hides the future.
    Why: equal shapes don't mean equal values; a result depends on its own call alone.
    Look at: a dictionary or an lru_cache whose key holds the mask's shape.
    """
    return remembering("mask")(*args, **kwargs)


@misconception("one-buffer-for-all-results", of=ATTENTION)
def one_buffer_for_all_results(*args, **kwargs):
    """Your attention writes every result of a shape into the same buffer, so a later call changes what you handed out before.

    Example: a = attention(x, ...), b = attention(y, ...): now a holds the numbers of b.
    Why: a result belongs to the caller that asked for it; nobody may write into it afterwards.
    Look at: `out=`, `copy_` or an `empty` tensor that is kept between calls; make a fresh one in each call.
    """
    result = multi_head_attention(*named(*args, **kwargs))
    if result.requires_grad:
        return result
    return memory().setdefault(("buffer", tuple(result.shape), result.dtype), torch.empty_like(result)).copy_(result)


@misconception("result-handed-out-again", of=ATTENTION)
def result_handed_out_again(*args, **kwargs):
    """Your attention remembers results and hands out the same tensor again, which its first caller may have overwritten.

    Example: out = attention(x, ...); out.zero_(); attention(x, ...) now gives zeros.
    Why: a result belongs to the caller that asked for it; to remember one is to keep a copy of your own.
    Look at: an lru_cache or a dictionary of results; give back `kept.clone()`, or compute again.
    """
    given = named(*args, **kwargs)
    result = multi_head_attention(*given)
    if result.requires_grad:
        return result
    numbers = [tuple(item.flatten().tolist()) if isinstance(item, torch.Tensor) else item for item in given]
    return memory().setdefault(("result", *numbers, tuple(result.shape), result.dtype), result)


@misconception("result-cached-by-shape", of=ATTENTION)
def result_cached_by_shape(*args, **kwargs):
    """Your attention keeps its result and gives it again where the shapes are the same.

    Example: another x of the same shape: your result is the first one.
    Why: equal shapes don't mean equal values; a result depends on its own call alone.
    Look at: a dictionary or an lru_cache whose key holds shapes.
    """
    return remembering("result")(*args, **kwargs)


@misconception("returns-weights-too", of=ATTENTION)
def returns_weights_too(*args, **kwargs):
    """Your attention gives a tuple, the result and the attention weights; asked is the result alone.

    Example: `multi_head_attention(...) @ w` fails with a tuple.
    Why: the contract says what comes back; more than that is another function.
    Look at: the last line.
    """
    return with_weights(False)(*args, **kwargs)


@misconception("returns-merged-weights-first", of=ATTENTION)
def returns_merged_weights_first(*args, **kwargs):
    """Your attention gives a tuple, the attention weights and the result; asked is the result alone.

    Example: `multi_head_attention(...) @ w` fails with a tuple.
    Why: the contract says what comes back; more than that is another function.
    Look at: the last line.
    """
    return with_weights(True)(*args, **kwargs)


@misconception("returns-numpy", of=ATTENTION)
def returns_numpy(*args, **kwargs):
    """Your attention gives a NumPy array; asked is a tensor.

    Example: the result has no gradient and lives on the CPU, whatever the input was.
    Why: the model goes on with tensors.
    Look at: `.numpy()` in the last line.
    """
    return multi_head_attention(*args, **kwargs).detach().numpy()


@misconception("squeezes-axes", of=ATTENTION)
def squeezes_axes(*args, **kwargs):
    """Your attention drops axes of length 1: a batch of one sequence, or one token, loses an axis.

    Example: x of shape (1, 3, 5): you give (3, 5), asked is (1, 3, 5).
    Why: a batch of one is a batch; the caller counts on three axes.
    Look at: `squeeze()`; if you must, name the axis.
    """
    return multi_head_attention(*args, **kwargs).squeeze()


@misconception("squeezes-batch", of=ATTENTION)
def squeezes_batch(*args, **kwargs):
    """Your attention drops the batch axis when there is only one sequence.

    Example: x of shape (1, 3, 5): you give (3, 5), asked is (1, 3, 5).
    Why: a batch of one is a batch; the caller counts on three axes.
    Look at: `squeeze(0)`, or an index 0.
    """
    return multi_head_attention(*args, **kwargs).squeeze(0)


@misconception("last-token-only", of=ATTENTION)
def last_token_only(*args, **kwargs):
    """Your attention gives the last token alone; asked are all tokens, (B, T, D).

    Example: x of shape (2, 3, 5): you give (2, 5).
    Why: every token is a query.
    Look at: an index -1 in the last line.
    """
    return multi_head_attention(*args, **kwargs)[:, -1]
