"""What people get wrong in exercise 06: the dtype of sums and results, and memory. {It} as in the files beside."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.online_softmax_walk import BLOCKS, NONE, Walk, refuse_block_size, right, wrong

# ---------------------------------------------------------------- precision and memory


@wrong("output-stays-wide")
class StaysWide(Walk):
    """{It} returns the output in float32; it has the dtype of q.

    Example: float16 inputs: out comes back as float32.
    Why: sums run in float32, and the result is cast back once, at the end.
    Look at: the last line: `.to(q.dtype)`.
    """

    def finish(self, m, l, o):
        return self.divide(l, o), self.lse(m, l).float()


@wrong("float64-computed-in-float32", kernel=False)
class Narrowed(Walk):
    """{It} computes float64 inputs in float32.

    Example: float64: the result agrees to seven digits and no further.
    Why: half precision is to be lifted to float32, and float64 keeps its own.
    Look at: `.float()` on q, k or v, or tensors allocated with dtype=torch.float32: torch.promote_types(q.dtype, torch.float32).
    """

    def width_of_sums(self):
        return torch.float32


@wrong("halves-computed-in-halves", kernel=False)
class InHalves(Walk):
    """{It} computes scores, exponentials and sums in the inputs' half precision; they have to be float32.

    Example: 3001 equal scores in float16: the sum of ones stops growing at 2048. q . k beyond 65504 is infinite.
    Why: float16 has 11 bits and bfloat16 8: a sum of many small terms loses them.
    Look at: `.float()` for q and for each block of k and v; out is cast back once at the end.
    """

    def width_of_sums(self):
        return self.q.dtype

    def scores(self, k):
        return (self.q @ k.mT) * self.scale()


@wrong("halves-scaled-in-halves", kernel=False, extends="halves-computed-in-halves")
class ScaledInHalves(InHalves):
    __doc__ = InHalves.__doc__

    def scores(self, k):
        return Walk.scores(self, k)


@misconception("blocks-all-scores-at-once", of=BLOCKS, question="attention-memory")
def all_at_once(q, k, v, block_size, causal=False):
    """Your part 2 holds the scores of all keys at once; the point is to hold one block of them.

    Example: T_q = T_k = 6144: 144 MiB of scores for one head, and a block of 16 keys needs less than 1 MiB.
    Why: with a running maximum, sum and output nothing of size T_q x T_k is ever needed.
    Look at: a product q @ k^T with all of k in it.
    """
    refuse_block_size(block_size)
    right._refuse_misfits(q, k, v)
    return Walk(q, k, v, k.shape[2], causal).run()


@wrong("whole-mask", kernel=False, question="attention-memory")
class WholeMask(Walk):
    """{It} builds the causal mask of all keys at once, T_q x T_k entries.

    Example: T_q = T_k = 6144: 36 MiB as booleans, and more for the numbers that are compared.
    Why: the mask of a block needs the rows and the keys of that block alone.
    Look at: `tril`, `triu` or a comparison of arange(T_k) with all rows: build the columns from start to start + n.
    """

    def hide(self, s, keys):
        if not self.causal:
            return s
        if not hasattr(self, "mask"):
            self.mask = self.visible(self.rows(), torch.arange(self.t_k, device=keys.device))
        return s.masked_fill(~self.mask[:, keys[0] : keys[-1] + 1], NONE)


@wrong("outputs-of-all-blocks-kept", kernel=False, question="attention-memory")
class KeptOutputs(Walk):
    """{It} keeps the state of every block in a list and merges at the end: T_k / block_size outputs of size T_q x Dh.

    Example: T_q = T_k = 6144, Dh=14, blocks of 16: 384 outputs take 126 MiB, and one takes 336 KiB.
    Why: a running state is merged with each block as it comes; nothing else has to stay.
    Look at: a list that grows inside the loop, or `torch.stack` after it.
    """

    def run(self):
        states = []
        for start in self.starts():
            keys, k, v = self.block(start)
            s = self.hide(self.scores(k), keys)
            m = s.amax(-1)
            p = torch.exp(s - self.anchor(m)[..., None])
            states.append((m, p.sum(-1), p @ v))
        m, l, o = states[0]
        for state in states[1:]:
            m, l, o = right.merge_states((m, l, o), state)
        return self.finish(m, l, o)
