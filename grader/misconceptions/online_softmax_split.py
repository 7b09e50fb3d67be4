"""What people get wrong in exercise 06 where a kernel's loop is split: whole tiles without a mask first, then those that need one. {It} as in the files beside."""

import torch
from attngrade.misconceptions.online_softmax_walk import OWN, TILES, Walk, wrong
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
