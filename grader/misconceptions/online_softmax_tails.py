"""What people get wrong in exercise 06 where a block, a tile or a loop ends. {It} is part 2's loop or part 3's kernel."""

import torch
from attngrade.misconceptions.online_softmax_walk import TILES, Walk, wrong

# ---------------------------------------------------------------- the last block


@wrong("padding-counts-as-keys", tiles=TILES)
class Padded(Walk):
    """{It} fills the last block up with zeros and doesn't hide them: each padded key has score 0 and weight exp(0 - m).

    Example: T_k=3 in blocks of two: a fourth key with score 0 and value 0 takes part in every sum.
    Why: a key of zeros is a key like any other to the softmax; only a score of -inf takes it out.
    Look at: the mask of the scores: beside `causal` it needs keys < T_k (loading with other=0.0 is not enough).
    """

    def block(self, start):
        keys, k, v = super().block(start)
        short = self.block_size - k.shape[-2]
        keys = torch.arange(start, start + self.block_size, device=k.device)
        return keys, *(torch.cat([x, x.new_zeros(*x.shape[:2], short, self.d)], 2) for x in (k, v))


@wrong("tail-dropped", tiles=TILES[:2])
class Dropped(Walk):
    """{It} leaves out the last block if it isn't full.

    Example: T_k=3 in blocks of two: key 2 is never seen.
    Why: the number of blocks is T_k / block_size rounded *up*.
    Look at: `T_k // block_size`: it rounds down.
    """

    def starts(self):
        return range(0, self.t_k // self.block_size * self.block_size, self.block_size)


@wrong("tail-seen-twice", kernel=False)
class Overlapped(Walk):
    """{It} moves the last block back so that it is full, and sees some keys twice.

    Example: T_k=3 in blocks of two: the blocks are 0-1 and 1-2, and key 1 counts twice.
    Why: states may be merged only if their key sets are disjoint.
    Look at: the start of the last block; a shorter block needs no padding in PyTorch.
    """

    def starts(self):
        return [min(start, max(0, self.t_k - self.block_size)) for start in super().starts()]


@wrong("first-block-only", tiles=TILES[:2])
class FirstOnly(Walk):
    """{It} sees the first block of keys and no other.

    Example: T_k=3 in blocks of two: key 2 is never seen.
    Why: a `return` inside the loop, or a loop that never advances, ends the walk early.
    Look at: the indentation after the loop, and what moves from block to block.
    """

    def starts(self):
        return range(0, min(self.t_k, self.block_size), self.block_size)


@wrong("same-block-again", tiles=TILES[:2])
class NeverAdvances(Walk):
    """{It} reads the first block of keys and values again in every turn.

    Example: T_k=4 in blocks of two: keys 0 and 1 count twice, keys 2 and 3 never.
    Why: the addresses (or slices) have to move on by a block in every turn.
    Look at: `start` inside the loop, or pointers that aren't advanced.
    """

    def block(self, start):
        keys, _, _ = super().block(start)
        return keys, self.k[..., : len(keys), :].to(self.wide), self.v[..., : len(keys), :].to(self.wide)


# ---------------------------------------------------------------- loops that end too early, in a kernel


class Ended(Walk):
    """A causal kernel whose loop ends at a place that depends on the tile of queries."""

    def ends(self, first_row):
        raise NotImplementedError

    def visible(self, rows, keys):
        first = rows // self.block_size * self.block_size
        return super().visible(rows, keys) & (keys < self.ends(first))


@wrong("loop-forgets-the-cache", blocks=False, tiles=TILES[:2], question="causal-alignment")
class WithoutCache(Ended):
    """{It} ends its causal loop at the tile's last row and forgets the T_k - T_q keys that come before the first query.

    Example: T_q=1, T_k=70, causal: the query may see all keys, and your loop ends after the first tile of them.
    Why: the last key that a tile may see is its last row plus T_k - T_q.
    Look at: the upper bound of the loop over the keys: min(T_k, first_row + BLOCK_M + T_k - T_q), and not below 0.
    """

    def ends(self, first_row):
        return -(-(first_row + self.block_size) // self.block_size) * self.block_size


@wrong("loop-ends-before-the-diagonal", blocks=False, tiles=TILES[:2])
class BeforeDiagonal(Ended):
    """{It} ends its causal loop before the tile that holds the diagonal.

    Example: T_q = T_k = 5, causal: everything that may be seen lies in the first tile, and your loop never enters it.
    Why: the tile of the diagonal is partly visible, so it has to be walked over, with a mask.
    Look at: the upper bound of the loop: first_row + BLOCK_M (rounded up), not first_row.
    """

    def ends(self, first_row):
        return torch.clamp(first_row + self.t_k - self.t_q, min=0) // self.block_size * self.block_size


# ---------------------------------------------------------------- bounds that are off where a tile ends; tiles of queries and of keys may differ


class Bounded(Ended):
    """A causal kernel with tiles of queries of a size of their own."""

    queries: int | None = None  # None: as many as keys

    def tile_of(self, rows):
        """The first query of each query's tile, and the first of the next."""
        size = self.queries or self.block_size
        return rows // size * size, rows // size * size + size


class KeyShort(Bounded):
    """{It} ends its causal loop one key short, which shows where the last visible key is the first of a tile.

    Example: T_q=128, T_k=129, causal, tiles of 64: query 127 may see key 128, the first of the third tile, and your loop ends before it.
    Why: the bound of a range is exclusive: the last row sees key first_row + BLOCK_M - 1 + T_k - T_q, so the loop runs up to one more.
    Look at: the upper bound of the loop over the keys: min(T_k, first_row + BLOCK_M + T_k - T_q).
    """

    def visible(self, rows, keys):
        stop = self.tile_of(rows)[1] - 1 + self.t_k - self.t_q
        return Walk.visible(self, rows, keys) & (keys < -(-stop // self.block_size) * self.block_size)


class DiagonalUnmasked(Bounded):
    """{It} masks too few tiles: those that the last query of a tile sees whole count as whole for the first one too, and the future shows.

    Example: T_q = T_k = 64, causal, one tile of queries, keys in one tile of 64: query 0 sees all 64 keys.
    Why: a tile of keys needs no mask only if the first query of the tile may see all of it.
    Look at: where the loop without a mask ends: at first_row + T_k - T_q + 1, rounded down to whole tiles, and not at first_row + BLOCK_M.
    """

    def visible(self, rows, keys):
        whole = torch.clamp(self.tile_of(rows)[1] + self.t_k - self.t_q, min=0) // self.block_size * self.block_size
        return Walk.visible(self, rows, keys) | (keys < whole)


def of_queries(walk, size):
    """The idea in a kernel with tiles of so many queries."""
    return type(walk.__name__, (walk,), {"queries": size, "__doc__": walk.__doc__})


wrong("loop-ends-a-key-short", blocks=False, tiles=TILES)(KeyShort)
wrong("diagonal-without-a-mask", blocks=False, tiles=TILES)(DiagonalUnmasked)
for _size, _tiles in ((32, (64, 16)), (64, (32, 128, 16)), (128, (64,)), (16, (32, 64))):
    globals()[f"DiagonalUnmasked{_size}"] = wrong(f"diagonal-without-a-mask-of-{_size}-queries", blocks=False, tiles=_tiles)(of_queries(DiagonalUnmasked, _size))
