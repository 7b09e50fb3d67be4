"""What people get wrong in exercise 06 around the computation: refusals, what comes back, layouts, what a call leaves behind."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.online_softmax_walk import (
    BLOCKS,
    KERNEL,
    Tiled,
    Walk,
    in_blocks,
    in_kernel,
    launch,
    memory,
    put,
    refuse_block_size,
    refuse_kernel,
)
from attngrade.solutions import exercise06_online_softmax as right

right_blocks, right_kernel = in_blocks(Walk), in_kernel(Walk, 64)


class Changed:
    """Holds the misconceptions that ``after`` makes of one function."""


def after(name, *, extends=None):
    """Two misconceptions from a function of (result, arguments) that spoils a right result: one of part 2, one of part 3."""

    def mark(spoil):
        def blocks(q, k, v, block_size, causal=False):
            return spoil(right_blocks(q, k, v, block_size, causal), q, k, v)

        def kernel(q, k, v, causal=False):
            return spoil(right_kernel(q, k, v, causal), q, k, v)

        holder = type(spoil.__name__, (Changed,), {})
        holder.attngrade_misconceptions = (
            put(f"blocks-{name}", BLOCKS, spoil, "Your part 2", blocks, extends and f"blocks-{extends}", None),
            put(f"kernel-{name}", KERNEL, spoil, "Your part 3", kernel, extends and f"kernel-{extends}", None),
        )
        return holder

    return mark


@after("returns-only-the-output")
def only_out(result, *arguments):
    """{It} returns the output alone; (out, lse) is asked.

    Example: a tensor where a tuple of two is expected.
    Why: lse is what a caller needs to merge your result with that of other keys.
    Look at: the return.
    """
    return result[0]


@after("returns-a-list")
def as_list(result, *arguments):
    """{It} returns a list; several results come as a tuple.

    Example: [out, lse] where (out, lse) is asked.
    Why: the contract says so for every function.
    Look at: the brackets after `return`.
    """
    return list(result)


@after("results-in-the-wrong-order")
def swapped(result, *arguments):
    """{It} returns (lse, out); (out, lse) is asked.

    Example: the first result has shape (B, H, T_q), and (B, H, T_q, Dh) is expected.
    Why: callers unpack by place.
    Look at: the return.
    """
    return result[::-1]


@after("returns-the-state-too")
def with_state(result, *arguments):
    """{It} returns more than (out, lse).

    Example: a tuple of three or more where two are expected.
    Why: callers unpack two.
    Look at: the return.
    """
    return (*result, result[1])


@after("output-laid-out-by-token")
def by_token(result, *arguments):
    """{It} returns the output as (B, T_q, H, Dh); (B, H, T_q, Dh) is asked.

    Example: B=2, H=3, T_q=5: shape (2, 5, 3, Dh).
    Why: out has the shape of q.
    Look at: a transpose before the return, or the shape in which out was allocated.
    """
    return result[0].transpose(1, 2).contiguous(), result[1]


@after("queries-scaled-in-place")
def in_place(result, q, k, v):
    """{It} scales q in place; arguments belong to the caller.

    Example: after the call q is smaller by sqrt(Dh), and a second call gives another result.
    Why: `q *= scale` and `q.mul_(scale)` write into the caller's tensor.
    Look at: in-place operations on q, k or v.
    """
    with torch.no_grad():
        q.mul_(q.shape[-1] ** -0.5)
    return result


def cached(compute, key_of):
    """The first result for each key, for ever."""

    def answer(q, k, v, *rest, causal=False):
        key = key_of(q, k, causal)
        result = compute(q, k, v, *rest, causal=causal)
        return memory(answer).setdefault(key, result)

    return answer


def buffered(compute):
    """Results in buffers that the next call with the same shapes writes into again."""

    def answer(q, k, v, *rest, causal=False):
        result = compute(q, k, v, *rest, causal=causal)
        if result[0].requires_grad:
            return result
        kept = memory(answer).setdefault((q.shape, q.dtype), result)
        with torch.no_grad():
            for old, new in zip(kept, result, strict=True):
                old.copy_(new)
        return kept

    return answer


def forwarded(of, answer):
    """A function with the signature of the exercise."""
    if of == BLOCKS:
        return lambda q, k, v, block_size, causal=False: answer(q, k, v, block_size, causal=causal)
    return lambda q, k, v, causal=False: answer(q, k, v, causal=causal)


class ResultCached:
    """{It} remembers results by shape: a second call with other values gets the first call's answer.

    Example: two calls with q of the same shape and other values: the second result is the first one again.
    Why: a result depends on values, and only what doesn't (a mask, say) may be cached.
    Look at: the key of your cache.
    """


class BufferReused:
    """{It} writes into a buffer that it keeps between calls, so a later call changes an earlier result.

    Example: r1 = f(a), r2 = f(b): after that r1 holds the values of r2.
    Why: a result belongs to the caller and shares memory with no other result.
    Look at: tensors that are allocated once, outside the function or in a dict.
    """


def both(holder, name, make):
    holder.attngrade_misconceptions = tuple(
        put(f"{short}-{name}", of, holder, subject, forwarded(of, make(compute)), None, None)
        for short, of, subject, compute in (("blocks", BLOCKS, "Your part 2", right_blocks), ("kernel", KERNEL, "Your part 3", right_kernel))
    )


both(ResultCached, "result-cached-by-shape", lambda compute: cached(compute, lambda q, k, causal: (q.shape, k.shape, q.dtype, causal)))
both(BufferReused, "buffer-reused", buffered)


@misconception("blocks-detached", of=BLOCKS)
def detached(q, k, v, block_size, causal=False):
    """Your part 2 cuts the graph: no gradient reaches q, k and v.

    Example: loss = out.sum(): backward() finds no graph.
    Why: `no_grad`, `detach`, `.data`, `.item()` and NumPy all leave it; in-place writes into a fresh tensor under no_grad do too.
    Look at: those names.
    """
    return tuple(x.detach() for x in right_blocks(q, k, v, block_size, causal))


@misconception("blocks-lse-detached", of=BLOCKS, extends="blocks-detached")
def lse_detached(q, k, v, block_size, causal=False):
    """Your part 2 returns an lse without a graph: its gradient is lost.

    Example: loss = lse.sum(): backward() finds no graph.
    Why: lse is a result like out, and merging by lse is differentiated through it.
    Look at: `detach`, `no_grad` or `.data` on the way to lse.
    """
    out, lse = right_blocks(q, k, v, block_size, causal)
    return out, lse.detach()


# ---------------------------------------------------------------- refusals


@misconception("block-size-not-refused", of=BLOCKS)
def any_block_size(q, k, v, block_size, causal=False):
    """Your part 2 accepts a block size below 1.

    Example: block_size=-1: `range(0, T_k, -1)` is empty, and the result is that of no keys at all.
    Why: an impossible argument is a ValueError that names it, not a silent wrong result.
    Look at: `if block_size < 1: raise ValueError("block_size ...")`.
    """
    right._refuse_misfits(q, k, v)
    return Walk(q, k, v, block_size, causal).run()


@misconception("block-size-replaced", of=BLOCKS)
def repaired_block_size(q, k, v, block_size, causal=False):
    """Your part 2 replaces a block size below 1 by one that works.

    Example: block_size=0 gives a result, and a ValueError is asked.
    Why: an impossible argument is a mistake of the caller's that he should hear of.
    Look at: `max(1, block_size)` or its like.
    """
    return right_blocks(q, k, v, max(1, block_size), causal)


@misconception("blocks-misfits-not-refused", of=BLOCKS)
def any_shapes(q, k, v, block_size, causal=False):
    """Your part 2 doesn't look at the shapes of q, k and v: misfits end in PyTorch's RuntimeError or in a broadcast.

    Example: k and v with one head beside a q with two: a result comes back, and a ValueError is asked.
    Why: rank, batch, heads, widths and numbers of keys have to fit, and the message names what doesn't.
    Look at: compare the shapes before computing.
    """
    refuse_block_size(block_size)
    return Walk(q, k, v, block_size, causal).run()


@misconception("blocks-nothing-refused", of=BLOCKS)
def anything(q, k, v, block_size, causal=False):
    """Your part 2 refuses nothing: neither a block size below 1 nor shapes that don't fit.

    Example: block_size=-1 gives the result of no keys at all; k and v with one head are broadcast.
    Why: an impossible argument is a ValueError that names it.
    Look at: block_size >= 1, and rank, batch, heads, widths and numbers of keys, before computing.
    """
    return Walk(q, k, v, block_size, causal).run()


def asserting(compute):
    def answer(*args, causal=False):
        try:
            return compute(*args, causal=causal)
        except ValueError:
            raise AssertionError("shapes") from None

    return answer


class Asserted:
    """{It} asserts what has to hold; a ValueError is asked.

    Example: q of rank 3: AssertionError.
    Why: `python -O` removes every assert, and callers can't tell a bug of yours from a mistake of theirs.
    Look at: `assert`: write `if not ...: raise ValueError("q ...")`.
    """


both(Asserted, "refusals-asserted", asserting)


@misconception("kernel-shapes-not-refused", of=KERNEL)
def kernel_any_width(q, k, v, causal=False):
    """Your part 3 accepts any width Dh; 16, 32, 64 and 128 are the ones it is made for.

    Example: Dh=24 gives a result, and a ValueError is asked.
    Why: tl.arange needs a power of two and tl.dot at least 16; other widths need masks that nobody asked for.
    Look at: `if q.shape[-1] not in (16, 32, 64, 128)`.
    """
    if q.dtype in right.TILES and q.dtype == k.dtype == v.dtype and q.stride(-1) == k.stride(-1) == v.stride(-1) == 1:
        right._refuse_misfits(q, k, v)
        launch()
        return Tiled(q, k, v, 64, causal).run()
    return right_kernel(q, k, v, causal)


@misconception("kernel-copies-strided-inputs", of=KERNEL)
def strided_accepted(q, k, v, causal=False):
    """Your part 3 accepts a last axis with a stride (and copies); it has to refuse it.

    Example: q whose last axis has stride 3 gives a result, and a ValueError is asked.
    Why: strided inputs aren't copied: other strides are followed, and a strided last axis is refused.
    Look at: `.contiguous()`, and the check of q.stride(-1).
    """
    return right_kernel(q.contiguous(), k.contiguous(), v.contiguous(), causal)


# ---------------------------------------------------------------- the kernel's own


@misconception("no-kernel", of=KERNEL, question="flash-steps")
def no_kernel(q, k, v, causal=False):
    """Your part 3 is computed by PyTorch; it has to be one Triton kernel of your own.

    Example: the result is right and no kernel was launched.
    Why: the exercise is the kernel: a tile of queries that walks over the keys without leaving the chip.
    Look at: a function under @triton.jit, launched once from flash_attention.
    """
    refuse_kernel(q, k, v)
    return Tiled(q, k, v, 64, causal).run()


def as_if_contiguous(x):
    """What a kernel reads that takes a tensor for contiguous: the memory from its first element on."""
    _, h, t, d = x.shape
    return torch.as_strided(x, x.shape, (h * t * d, t * d, d, 1))


@misconception("strides-taken-for-contiguous", of=KERNEL)
def contiguous_assumed(q, k, v, causal=False):
    """Your kernel computes addresses as if q, k and v were contiguous; it has to follow the strides it is given.

    Example: q that lies in memory as (B, T, H, Dh): the kernel reads rows of another head. A contiguous copy of the same values works.
    Why: a transposed view has the same shape and other strides.
    Look at: pass q.stride(0), q.stride(1), q.stride(2), and the same of k and v, and use each in its own place.
    """
    refuse_kernel(q, k, v)
    launch()
    return Tiled(as_if_contiguous(q), as_if_contiguous(k), as_if_contiguous(v), 64, causal).run()


@misconception("batch-and-head-swapped", of=KERNEL)
def heads_swapped(q, k, v, causal=False):
    """Your kernel takes batch and head from the program id in the wrong order.

    Example: B=2, H=3: program 1 is batch 0, head 1, and you read batch 1, head 0. With B=1 or H=1 nobody notices.
    Why: with B * H programs, batch is pid // H and head is pid % H.
    Look at: `//` and `%`, and by what they divide.
    """
    refuse_kernel(q, k, v)
    launch()
    b, h = q.shape[:2]
    mixed = [torch.stack([x[i % b, i // b] for i in range(b * h)]).reshape(x.shape) for x in (q, k, v)]
    return Tiled(*mixed, 64, causal).run()
