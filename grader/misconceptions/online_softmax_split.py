"""What people get wrong in exercise 06 in a kernel's loop and around it: one that is split in two, where it ends, what is hidden when, how the output lies. {It} as in the files beside."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.online_softmax_tails import Ended
from attngrade.misconceptions.online_softmax_walk import KERNEL, NONE, OWN, TILES, Tiled, Walk, launch, refuse_kernel, wrong
from attngrade.solutions import exercise06_online_softmax as right

SPLIT = (*TILES[:2], OWN)


class Split(Walk):
    """A walk that knows which keys the loop without a mask meets."""

    def unmasked(self, keys):
        """(T_q, n), True where a key lies in a tile that every query of a row's tile may see whole."""
        rows, tiles = self.rows(), right.TILES.get(self.q.dtype, {}).get(self.d, (self.block_size, 0))
        height = tiles[0] if tiles[1] == self.block_size else self.block_size
        seen = rows // height * height + (self.t_k - self.t_q) + 1 if self.causal else torch.full_like(rows, self.t_k)
        return keys < seen.clamp(0, self.t_k) // self.block_size * self.block_size


class Bare(Split):
    """A walk in which some scores miss their scale."""

    def bare(self, keys):
        """(T_q, n), True where a score isn't scaled."""
        return self.unmasked(keys)

    def hide(self, s, keys):
        return super().hide(torch.where(self.bare(keys), s / self.scale(), s), keys)


@wrong("scale-missing-before-the-mask", blocks=False, tiles=SPLIT, extends="unscaled", question="score-variance")
class WholeTilesBare(Bare):
    """{It} scales the scores in the loop with the mask, and not in the loop over the whole tiles before it.

    Example: T_k=131, Dh=16: keys 0 to 127 have four times the score that keys 128 to 130 would have.
    Why: both loops are one softmax, so both need the same scores.
    Look at: what the second loop does to its scores and the first one doesn't; a function that both call can't differ.
    """


@wrong("scale-missing-behind-the-mask", blocks=False, tiles=SPLIT, extends="unscaled", question="score-variance")
class MaskedTilesBare(Bare):
    """{It} scales the scores in the loop over whole tiles, and not in the loop with the mask.

    Example: T_k=3, Dh=16: all keys lie in a tile that needs the mask, and their scores are four times too large.
    Why: both loops are one softmax, so both need the same scores.
    Look at: what the first loop does to its scores and the second one doesn't; a function that both call can't differ.
    """

    def bare(self, keys):
        return ~self.unmasked(keys)


# ---------------------------------------------------------------- where the loop ends, and what is hidden when


@wrong("loop-ends-with-the-first-row", blocks=False, tiles=TILES[:2], extends="loop-ends-before-the-diagonal")
class EndsWithFirstRow(Ended):
    """{It} ends its causal loop with the tile that holds the last key of its *first* query; the queries below it see further.

    Example: T_q=128, T_k=129, causal, tiles of 32: query 31 may see key 32, and your loop ends after the tile that holds key 1.
    Why: the last query of a tile decides how far the tile has to walk.
    Look at: the upper bound of the loop: first_row + BLOCK_M + T_k - T_q, not first_row + T_k - T_q + 1.
    """

    def ends(self, first_row):
        return -(-torch.clamp(first_row + self.t_k - self.t_q + 1, min=0) // self.block_size) * self.block_size


@wrong("maximum-before-the-mask", blocks=False)
class MaximumBeforeMask(Walk):
    """{It} takes the maximum before it hides anything, so hidden keys, and zeros beyond the end, count in it.

    Example: all scores near -125 and a tile that isn't full: the zeros that fill it up are the maximum, and every exponential is 0.
    Why: a maximum that no visible key has is only a shift as long as it is near; far above them it takes all their digits.
    Look at: the order of `tl.where(..., float("-inf"))` and `tl.max`: hide first.
    """

    def scores(self, k):
        self.bare = super().scores(k)
        return self.bare

    def top(self, m, s):
        seen = torch.maximum(m, self.bare.amax(-1))
        return seen if s.shape[-1] == self.block_size else seen.clamp(min=0.0)

    def lse(self, m, l):
        return (m + torch.log(self.safe(l))).masked_fill(l == 0, NONE)


@wrong("hidden-keys-pushed-down-by-ten-thousand", extends="hidden-keys-score-ten-thousand", question="empty-row")
class PushedDown(Walk):
    """{It} adds -10000 to the scores of hidden keys; they have to be -inf.

    Example: T_q=2, T_k=1, causal: query 0 sees nothing, and all its scores lie 10000 lower, which is a softmax over hidden keys.
    Why: a softmax doesn't change when all scores of a row are lowered alike: only -inf hides.
    Look at: the bias: float("-inf") where a key is hidden, and a row without keys guarded.
    """

    def hide(self, s, keys):
        return s - 1e4 * ~self.visible(self.rows(), keys) if self.causal else s


# ---------------------------------------------------------------- how the output lies


@misconception("kernel-output-lies-like-q", of=KERNEL)
def output_like_q(q, k, v, causal=False):
    """Your part 3 makes its output with empty_like(q), which keeps the order of q's axes in memory, and the kernel stores as if it were contiguous.

    Example: q that lies in memory as (B, T, H, Dh): the right numbers come back in another order. With a contiguous q nobody notices.
    Why: empty_like copies strides where it can; only a tensor that was made with a shape is sure to be contiguous.
    Look at: torch.empty(q.shape, ...), or hand the output's own strides to the kernel.
    """
    refuse_kernel(q, k, v)
    launch()
    right_out, lse = Tiled(q, k, v, 64, causal).run()
    out = torch.empty_like(q)
    torch.as_strided(out, (out.numel(),), (1,)).copy_(right_out.reshape(-1))
    return out, lse
