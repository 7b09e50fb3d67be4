"""What people get wrong in exercise 06 in a kernel alone: which program does what, where it reads, what nobody writes, what is rounded on the way."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.online_softmax_walk import KERNEL, TILES, Tiled, Walk, in_kernel, launch, memory, put, refuse_kernel, right, wrong

NAN = float("nan")
right_kernel = in_kernel(Walk, 64)


def program(name, tiles=(None,), extends=None):
    """A misconception of the kernel from a function of (result, arguments, tile): one for each tile size that makes a difference."""

    def mark(spoil):
        made = []
        for tile in tiles:

            def flash_attention(q, k, v, causal=False, tile=tile):
                refuse_kernel(q, k, v)
                launch()
                return spoil(Tiled(q, k, v, 64, causal).run(), q, k, v, causal, tile)

            id_of = f"kernel-{name}" if tile in (None, tiles[0]) else f"kernel-{name}-tile-{tile}"
            made.append(put(id_of, KERNEL, spoil, "Your kernel", with_signature(flash_attention), extends, None))
        holder = type(spoil.__name__, (), {})
        holder.attngrade_misconceptions = tuple(made)
        return holder

    return mark


def with_signature(compute):
    def flash_attention(q, k, v, causal=False):
        return compute(q, k, v, causal)

    return flash_attention


def unwritten(result, rows):
    """The result with rows that no program has written: whatever the memory held."""
    return tuple(part.masked_fill(rows if part.ndim == rows.ndim else rows[..., None], NAN) for part in result)


def rows_of(q, chosen):
    """(B, H, T_q), True where ``chosen`` of the row's number is."""
    return chosen(torch.arange(q.shape[2])).expand(q.shape[:3])


# ---------------------------------------------------------------- which program does what


@program("writes-the-first-tile-alone", tiles=TILES)
def first_tile(result, q, k, v, causal, tile):
    """{It} computes the first tile of queries in every program; the rows of later tiles are never written.

    Example: T_q=131 with tiles of 64: rows 64 to 130 hold whatever the memory held.
    Why: program i owns rows i * BLOCK_M to (i + 1) * BLOCK_M - 1.
    Look at: `tl.program_id(0) * BLOCK_M` in the row numbers, and a grid that covers all T_q rows.
    """
    return unwritten(result, rows_of(q, lambda row: row >= tile))


@program("leaves-out-the-last-tile", tiles=TILES)
def floor_of_tiles(result, q, k, v, causal, tile):
    """{It} is launched for T_q // BLOCK_M tiles: the rows of a last, shorter tile are never written.

    Example: T_q=1: no program runs at all, and out and lse hold whatever the memory held.
    Why: the number of tiles is T_q / BLOCK_M rounded *up*.
    Look at: the grid: triton.cdiv(T_q, BLOCK_M).
    """
    return unwritten(result, rows_of(q, lambda row: row >= q.shape[2] // tile * tile))


@program("computes-the-first-batch-alone")
def first_batch(result, q, k, v, causal, tile):
    """{It} is launched for one batch only: the others are never written.

    Example: B=2: out[1] holds whatever the memory held.
    Why: each of the B * H heads needs programs of its own.
    Look at: the grid: tiles times B * H.
    """
    return unwritten(result, (torch.arange(len(q)) > 0)[:, None, None].expand(q.shape[:3]))


@program("computes-the-first-head-alone")
def first_head(result, q, k, v, causal, tile):
    """{It} is launched for one head of each batch only: the others are never written.

    Example: H=3: out[:, 1] and out[:, 2] hold whatever the memory held.
    Why: each of the B * H heads needs programs of its own.
    Look at: the grid: tiles times B * H.
    """
    return unwritten(result, (torch.arange(q.shape[1]) > 0)[:, None].expand(q.shape[:3]))


@program("never-writes-lse")
def no_lse(result, q, k, v, causal, tile):
    """{It} stores the output and never lse.

    Example: lse holds whatever the memory held.
    Why: both are asked, and m + log(l) is at hand when the loop is over.
    Look at: a second `tl.store`.
    """
    return result[0], torch.full_like(result[1], NAN)


def blind_tiles(q, k, causal, tile):
    """Rows of tiles in which no query sees a key."""
    blind = q.shape[2] - k.shape[2] if causal else 0
    return rows_of(q, lambda row: (row // tile + 1) * tile <= blind)


@program("returns-early-from-empty-tiles", tiles=(64, 16))
def empty_unwritten(result, q, k, v, causal, tile):
    """{It} returns before it stores anything where no query of the tile sees a key.

    Example: T_q=150, T_k=5, causal, tiles of 64: rows 0 to 127 hold whatever the memory held; out is 0 and lse -inf there.
    Why: memory from torch.empty is not zero, and a result is due for every row.
    Look at: a `return` before the stores: an empty loop needs no special case.
    """
    return unwritten(result, blind_tiles(q, k, causal, tile))


@program("lse-zero-in-empty-tiles", tiles=(64, 16))
def empty_zero(result, q, k, v, causal, tile):
    """{It} leaves lse at 0 where no query of the tile sees a key; it is -inf there.

    Example: T_q=150, T_k=5, causal, tiles of 64: lse of rows 0 to 127 must be -inf.
    Why: a `return` before the stores leaves what the buffer was filled with, and zeros are right for out alone.
    Look at: the early `return`, or `torch.zeros` for lse: an empty loop gives m = -inf by itself.
    """
    return result[0], result[1].masked_fill(blind_tiles(q, k, causal, tile), 0.0)


# ---------------------------------------------------------------- where it reads


def reading(name, which, text):
    """A kernel that reads another head or batch of some of q, k, v."""

    def flash_attention(q, k, v, causal=False):
        refuse_kernel(q, k, v)
        launch()
        return Tiled(*which(q, k, v), 64, causal).run()

    flash_attention.__doc__ = text
    return misconception(f"kernel-{name}", of=KERNEL)(flash_attention)


def first_of_batch(x):
    return x[:1].expand(x.shape)


def first_of_heads(x):
    return x[:, :1].expand(x.shape)


batch_forgotten = reading("reads-the-first-batch", lambda q, k, v: map(first_of_batch, (q, k, v)), """Your kernel reads q, k and v of batch 0 in every batch.

    Example: B=2: out[1] is out[0] again. With B=1 nobody notices.
    Why: an address is pointer + batch * stride(0) + head * stride(1) + row * stride(2) + column.
    Look at: the term batch * stride(0) of all three.
    """)

head_forgotten = reading("reads-the-first-head", lambda q, k, v: map(first_of_heads, (q, k, v)), """Your kernel reads q, k and v of head 0 in every head.

    Example: H=3: out[:, 1] is out[:, 0] again. With H=1 nobody notices.
    Why: an address is pointer + batch * stride(0) + head * stride(1) + row * stride(2) + column.
    Look at: the term head * stride(1) of all three.
    """)

keys_of_first_batch = reading("reads-keys-of-the-first-batch", lambda q, k, v: (q, first_of_batch(k), first_of_batch(v)), """Your kernel reads k and v of batch 0 in every batch; q is right.

    Example: B=2: the queries of batch 1 attend to the keys of batch 0. With B=1 nobody notices.
    Why: keys and values have a batch of their own, and offsets of their own.
    Look at: the term batch * stride(0) of k and of v.
    """)

keys_of_first_head = reading("reads-keys-of-the-first-head", lambda q, k, v: (q, first_of_heads(k), first_of_heads(v)), """Your kernel reads k and v of head 0 in every head; q is right.

    Example: H=3: the queries of heads 1 and 2 attend to the keys of head 0. With H=1 nobody notices.
    Why: keys and values have a head of their own, and offsets of their own.
    Look at: the term head * stride(1) of k and of v.
    """)

values_of_first_batch = reading("reads-values-of-the-first-batch", lambda q, k, v: (q, k, first_of_batch(v)), """Your kernel reads v of batch 0 in every batch; q and k are right.

    Example: B=2: lse is right everywhere, and out[1] averages the values of batch 0. With B=1 nobody notices.
    Why: values have offsets of their own.
    Look at: the term batch * stride(0) of v.
    """)

values_of_first_head = reading("reads-values-of-the-first-head", lambda q, k, v: (q, k, first_of_heads(v)), """Your kernel reads v of head 0 in every head; q and k are right.

    Example: H=3: lse is right everywhere, and out[:, 1] averages the values of head 0. With H=1 nobody notices.
    Why: values have offsets of their own.
    Look at: the term head * stride(1) of v.
    """)


@wrong("mask-counts-rows-inside-the-tile", blocks=False, tiles=TILES)
class LocalRows(Walk):
    """{It} numbers the queries from 0 in every tile, so the mask of later tiles hides the past.

    Example: T_q = T_k = 131, causal, tiles of 64: query 64 compares itself as query 0 and sees key 0 alone.
    Why: the mask compares places in the whole sequence: row number tile * BLOCK_M + i.
    Look at: the row numbers in the mask: those of the pointers.
    """

    def visible(self, rows, keys):
        return super().visible(rows % self.block_size, keys)


# ---------------------------------------------------------------- what is rounded on the way


@wrong("scores-in-halves", blocks=False)
class ScoresInHalves(Walk):
    """{It} rounds the products q . k to half precision; they have to stay float32.

    Example: float16, q . k = 115200: beyond 65504 it is infinite, and the output is NaN.
    Why: tl.dot gives float32 by itself. Scores go into an exponential, where an absolute error of 0.03 is 3%.
    Look at: `.to(tl.float16)`, `out_dtype` or a buffer of q's dtype on the way to the maximum.
    """

    def scores(self, k):
        return (self.q.to(self.wide) @ k.mT).to(self.q.dtype).to(self.wide) * self.scale()


class Rounded(Walk):
    """A walk whose running state is held in the inputs' dtype."""

    def held(self, x):
        return x.to(self.q.dtype).to(self.wide)


@wrong("sum-in-halves", tiles=TILES[:2])
class SumInHalves(Rounded):
    """{It} keeps the running sum in half precision; it has to be float32.

    Example: 2500 equal scores in float16: from 2048 on the sum counts in steps of 2.
    Why: a sum of many small terms loses them where it is held with 11 bits.
    Look at: the dtype in which l begins, and what each new l is cast to: float32 (or wider) until the end.
    """

    def fold(self, l, o, forget, p, v):
        l, o = super().fold(l, o, forget, p, v)
        return self.held(l), o


@wrong("output-in-halves", blocks=False, tiles=TILES[:2])
class OutputInHalves(Rounded):
    """{It} keeps the running output in half precision; it has to be float32.

    Example: 2500 values of 40 in float16: the running output passes 65504 and is infinite.
    Why: the output isn't divided yet, so it grows with the number of keys; it is cast once, after the division.
    Look at: the dtype of the accumulator: tl.zeros(..., dtype=tl.float32).
    """

    def fold(self, l, o, forget, p, v):
        l, o = super().fold(l, o, forget, p, v)
        return l, self.held(o)


@wrong("state-in-halves", blocks=False, tiles=TILES[:2])
class StateInHalves(Rounded):
    """{It} keeps running sum and output in half precision; both have to be float32.

    Example: 2500 equal scores, values of 40, in float16: the sum counts in steps of 2 from 2048 on, and the output passes 65504 and is infinite.
    Why: neither is divided yet, so both grow with the number of keys; the result is cast once, after the division.
    Look at: the dtype of l and of the accumulator: tl.zeros(..., dtype=tl.float32).
    """

    def fold(self, l, o, forget, p, v):
        l, o = super().fold(l, o, forget, p, v)
        return self.held(l), self.held(o)


# ---------------------------------------------------------------- what is kept between calls


def keeping(name, place, text):
    """A kernel that writes one of its results into a buffer that it keeps by shape."""

    def flash_attention(q, k, v, causal=False):
        result = list(right_kernel(q, k, v, causal))
        kept = memory(name).setdefault((result[place].shape, result[place].dtype), result[place])
        kept.copy_(result[place])
        result[place] = kept
        return tuple(result)

    flash_attention.__doc__ = text
    return misconception(f"kernel-{name}", of=KERNEL, extends="kernel-buffer-reused")(flash_attention)


lse_kept = keeping("lse-buffer-reused", 1, """Your part 3 writes lse into a buffer that it keeps between calls, so a later call changes an earlier lse.

    Example: r1 = f(a), r2 = f(b): after that r1's lse holds the values of r2; its out is as it was.
    Why: a result belongs to the caller and shares memory with no other result.
    Look at: tensors that are allocated once, outside the function or in a dict.
    """)

out_kept = keeping("out-buffer-reused", 0, """Your part 3 writes the output into a buffer that it keeps between calls, so a later call changes an earlier output.

    Example: r1 = f(a), r2 = f(b): after that r1's out holds the values of r2; its lse is as it was.
    Why: a result belongs to the caller and shares memory with no other result.
    Look at: tensors that are allocated once, outside the function or in a dict.
    """)


# ---------------------------------------------------------------- what may be asked


@misconception("kernel-causal-by-default", of=KERNEL, extends="kernel-always-causal")
def causal_by_default(q, k, v, causal=True):
    """Your part 3 is causal unless it is told otherwise; the default is causal=False.

    Example: T_q = T_k = 2 without `causal`: query 0 may see both keys, and you hide key 1.
    Why: the signature is part of the contract.
    Look at: the default of `causal`.
    """
    return right_kernel(q, k, v, causal)


@misconception("kernel-refuses-more-queries-than-keys", of=KERNEL)
def more_queries(q, k, v, causal=False):
    """Your part 3 refuses more queries than keys.

    Example: T_q=2, T_k=1, causal: you raise a ValueError; out is 0 and lse -inf for query 0, and key 0's value for query 1.
    Why: queries that see nothing are legal, and their result is part of the contract.
    Look at: the refusal.
    """
    if causal and q.shape[-2] > k.shape[-2]:
        raise ValueError("q, k, v")
    return right_kernel(q, k, v, causal)


def accepting(name, accepts, text):
    """A kernel that accepts dtypes which have to be refused."""

    def flash_attention(q, k, v, causal=False):
        if not accepts(q.dtype, k.dtype, v.dtype):
            return right_kernel(q, k, v, causal)
        right._refuse_misfits(q, k, v)
        launch()
        return Tiled(q, k, v, 64, causal).run()

    flash_attention.__doc__ = text
    return misconception(f"kernel-{name}", of=KERNEL)(flash_attention)


uniform = accepting("any-dtype-accepted", lambda q, k, v: q == k == v, """Your part 3 accepts any dtype that q, k and v have in common; float16, bfloat16 and float32 are the ones it is made for.

    Example: float64 (or int32) inputs give a result, and a ValueError is asked.
    Why: a kernel that sums in float32 has no float64 to give, and scores of integers are none.
    Look at: a list of dtypes beside the comparison of the three.
    """)

double = accepting("float64-accepted", lambda q, k, v: q == k == v == torch.float64, """Your part 3 accepts float64; float16, bfloat16 and float32 are the dtypes it is made for.

    Example: float64 inputs give a result, and a ValueError is asked.
    Why: a kernel that sums in float32 has no float64 to give.
    Look at: the list of dtypes.
    """)

mixed = accepting("mixed-dtypes-accepted", lambda q, k, v: q in right.TILES, """Your part 3 looks at the dtype of q alone, and accepts k or v of another.

    Example: q in float16, k and v in float32 give a result, and a ValueError is asked.
    Why: mixed dtypes are a mistake of the caller's; a conversion would be a copy of an input.
    Look at: q.dtype == k.dtype == v.dtype.
    """)

whatever = accepting("dtypes-not-refused", lambda q, k, v: True, """Your part 3 doesn't look at dtypes: float64, integers and mixtures are accepted.

    Example: float64 inputs give a result, and a ValueError is asked.
    Why: float16, bfloat16 and float32 are what the kernel is made for, one for all three.
    Look at: q.dtype == k.dtype == v.dtype, and a list of the three that are allowed.
    """)
