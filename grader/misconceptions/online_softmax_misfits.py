"""What people get wrong in exercise 06: misfits of q, k and v that part 2 or part 3 doesn't look at, and what a call does to the shape of a result. {It} as beside."""

from attngrade.misconceptions.online_softmax_walk import BLOCKS, KERNEL, Tiled, Walk, in_kernel, launch, put, refuse_block_size, wrong

right_kernel = in_kernel(Walk, 64)


def overlooks(name):
    """Two misconceptions from a predicate of three shapes: what it doesn't complain of is computed, whatever comes of it."""

    def mark(complains):
        def blocks(q, k, v, block_size, causal=False):
            refuse_block_size(block_size)
            refuse(q, k, v)
            return Walk(q, k, v, block_size, causal).run()

        def kernel(q, k, v, causal=False):
            refuse(q, k, v)
            if fits(q, k, v):
                return right_kernel(q, k, v, causal)
            launch()
            return Tiled(q, k, v, 64, causal).run()

        def refuse(*arrays):
            if complains(*(tuple(x.shape) for x in arrays)):
                raise ValueError("q, k and v")

        holder = type(complains.__name__, (), {})
        holder.attngrade_misconceptions = (
            put(f"blocks-{name}", BLOCKS, complains, "Your part 2", blocks, "blocks-misfits-not-refused", None),
            put(f"kernel-{name}", KERNEL, complains, "Your part 3", kernel, None, None),
        )
        return holder

    return mark


def fits(q, k, v):
    return q.ndim == k.ndim == v.ndim == 4 and k.shape == v.shape and q.shape[:2] == k.shape[:2] and q.shape[3] == k.shape[3]


def ranks(q, k, v):
    return not len(q) == len(k) == len(v) == 4


@overlooks("ranks-not-refused")
def any_rank(q, k, v):
    """{It} doesn't look at the number of axes: three axes, or five, go through.

    Example: q, k and v of rank 3: a result comes back, and a ValueError is asked.
    Why: what an axis means is part of the contract: (B, H, T, Dh). With one axis fewer it is open whether B or H is missing.
    Look at: `q.dim() == 4`, and the same for k and v.
    """
    return len({len(q), len(k), len(v)}) > 1 or k != v or q[:-2] != k[:-2] or q[-1] != k[-1]


@overlooks("batch-and-heads-not-compared")
def any_heads(q, k, v):
    """{It} compares widths and numbers of keys, and not how many batches and heads q, k and v have.

    Example: q with two heads, k and v with one: they are broadcast, and a ValueError is asked.
    Why: every query head has keys of its own here; a k that stands for several heads has to be repeated by the caller.
    Look at: q.shape[:2] == k.shape[:2] == v.shape[:2].
    """
    return ranks(q, k, v) or k[2] != v[2] or not q[3] == k[3] == v[3]


@overlooks("heads-not-compared")
def heads_alone(q, k, v):
    """{It} compares batches, widths and numbers of keys, and not how many heads q, k and v have.

    Example: q with two heads, k and v with one: they are broadcast, and a ValueError is asked.
    Why: every query head has keys of its own here; a k that stands for several heads has to be repeated by the caller.
    Look at: q.shape[1] == k.shape[1] == v.shape[1].
    """
    return ranks(q, k, v) or k[2] != v[2] or not q[3] == k[3] == v[3] or not q[0] == k[0] == v[0]


@overlooks("batches-not-compared")
def batches_alone(q, k, v):
    """{It} compares heads, widths and numbers of keys, and not how many batches q, k and v have.

    Example: q with two batches, k and v with one: they are broadcast, and a ValueError is asked.
    Why: every batch has keys of its own.
    Look at: q.shape[0] == k.shape[0] == v.shape[0].
    """
    return ranks(q, k, v) or k[2] != v[2] or not q[3] == k[3] == v[3] or not q[1] == k[1] == v[1]


@overlooks("queries-not-compared-with-keys")
def keys_and_values(q, k, v):
    """{It} compares k with v, and neither of them with q.

    Example: q with two heads, k and v with one: they are broadcast, and a ValueError is asked.
    Why: q and k may differ in their number of tokens alone.
    Look at: batch, heads and width of q beside those of k.
    """
    return ranks(q, k, v) or k != v


@overlooks("values-not-compared")
def queries_and_keys(q, k, v):
    """{It} compares q with k, and v with neither.

    Example: three keys and one value: the value is broadcast, and a ValueError is asked.
    Why: every key has a value, of the width that out has.
    Look at: k.shape == v.shape.
    """
    return ranks(q, k, v) or q[:2] != k[:2] or q[3] != k[3]


@overlooks("keys-and-values-not-counted")
def numbers_of_keys(q, k, v):
    """{It} compares batches, heads and widths, and not the numbers of keys and values.

    Example: three keys and one value: the value is broadcast, and a ValueError is asked.
    Why: every key has a value.
    Look at: k.shape[2] == v.shape[2].
    """
    return ranks(q, k, v) or not q[:2] == k[:2] == v[:2] or not q[3] == k[3] == v[3]


@overlooks("width-of-values-not-compared")
def width_of_values(q, k, v):
    """{It} lets v have a width of its own.

    Example: q and k of width 4 and v of width 8: an output of width 8 comes back, and a ValueError is asked.
    Why: out has the shape of q; the sums would allow it, the contract doesn't.
    Look at: k.shape == v.shape, all four sizes.
    """
    return ranks(q, k, v) or q[:2] != k[:2] or q[3] != k[3] or k[:3] != v[:3]


# ---------------------------------------------------------------- shapes of results


@wrong("heads-folded-into-the-batch")
class Folded(Walk):
    """{It} returns (B * H, T_q, Dh) and (B * H, T_q); batch and head are two axes.

    Example: B=2, H=3: out of shape (6, 5, Dh) where (2, 3, 5, Dh) is asked.
    Why: out has the shape of q.
    Look at: a `flatten` or `reshape` before the work: undo it after.
    """

    def finish(self, m, l, o):
        return tuple(part.flatten(0, 1) for part in super().finish(m, l, o))


@wrong("lse-with-heads-folded-into-the-batch")
class LseFolded(Walk):
    """{It} returns lse as (B * H, T_q); it is (B, H, T_q).

    Example: B=2, H=3: shape (6, 5) where (2, 3, 5) is asked.
    Why: lse goes with out, which is (B, H, T_q, Dh).
    Look at: the shape in which lse was allocated.
    """

    def finish(self, m, l, o):
        out, lse = super().finish(m, l, o)
        return out, lse.flatten(0, 1)
