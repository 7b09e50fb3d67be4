"""What people get wrong in exercise 06 about memory. Copies of other kinds are told by the check itself: their calls are too large to be kept."""

from attngrade.misconceptions.online_softmax_walk import Walk, wrong


@wrong("keys-cast-at-once", kernel=False, question="attention-memory")
class CastAtOnce(Walk):
    """{It} casts all of k and v to float32 before it takes a block of them.

    Example: T_k=40001, Dh=32, float16: two copies of 4.9 MiB, where a block of 500 keys takes a sixteenth of a MiB.
    Why: blocks are there so that nothing grows with T_k; a cast of everything is a copy of everything.
    Look at: `.float()` or `.to(...)` before the loop: slice first, cast the slice.
    """

    def __init__(self, q, k, v, block_size, causal):
        super().__init__(q, k.float() if k.dtype.itemsize < 4 else k, v.float() if v.dtype.itemsize < 4 else v, block_size, causal)
