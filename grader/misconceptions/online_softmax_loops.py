"""What people get wrong in exercise 06: where a loop over the keys ends, and which keys it meets. {It} as in the files beside."""

import torch
from attngrade.misconceptions.online_softmax_walk import NONE, TILES, Walk, wrong

LN2 = 0.6931471805599453

# ---------------------------------------------------------------- where the loop ends


@wrong("loop-ends-at-the-queries", kernel=False, question="causal-alignment")
class EndsAtQueries(Walk):
    """{It} ends, when causal, with the block that holds key T_q: later keys are never read.

    Example: T_q=1, T_k=5, causal, blocks of one: the query may see all five keys, and your loop ends after the first.
    Why: with a cache the queries sit at the end: the last one, T_q - 1, sits on key T_k - 1.
    Look at: the condition that ends the loop: a block is out of sight from key T_q + (T_k - T_q) = T_k on, so there is nothing to gain here.
    """

    def starts(self):
        return [start for start in super().starts() if not self.causal or start < self.t_q]


@wrong("loop-ends-at-the-first-query", kernel=False)
class EndsAtFirstQuery(Walk):
    """{It} ends, when causal, where the first query sees no more; the later queries still do.

    Example: T_q = T_k = 4, causal, blocks of one: query 0 sees key 0 alone, and your loop ends there for all four.
    Why: the queries of a tile see different numbers of keys, and the loop has to go on for the last of them.
    Look at: the condition that ends the loop: the *last* row decides.
    """

    def starts(self):
        return [start for start in super().starts() if not self.causal or start <= self.t_k - self.t_q]


@wrong("partly-hidden-blocks-skipped", kernel=False)
class PartlyHidden(Walk):
    """{It} skips every block in which some query may not see some key; only a block that nobody sees may be skipped.

    Example: T_q = T_k = 4, causal, blocks of two: the first block is hidden from query 0 in part, so you skip it for all.
    Why: the blocks on the diagonal are partly visible, so they have to be walked over, with a mask.
    Look at: `any` where `all` is meant, in the condition that skips a block.
    """

    def starts(self):
        return [start for start in super().starts() if not self.causal or min(start + self.block_size, self.t_k) - 1 <= self.t_k - self.t_q]


@wrong("only-the-last-block-masked", kernel=False)
class LastMasked(Walk):
    """{It} hides the future in the last block alone.

    Example: T_q = T_k = 4, causal, blocks of two: query 0 sees key 1, which lies in the first block.
    Why: the diagonal crosses every block between key T_k - T_q and the last one.
    Look at: the condition around the mask.
    """

    def hide(self, s, keys):
        return super().hide(s, keys) if keys[-1] == self.t_k - 1 else s


@wrong("mask-offset-never-negative", question="empty-row")
class OffsetClamped(Walk):
    """{It} shifts the causal mask by max(0, T_k - T_q): with more queries than keys the first queries see keys that aren't theirs.

    Example: T_q=2, T_k=1, causal: query 0 sees nothing, and you let it see key 0.
    Why: the last query sits on the last key, so the first T_q - T_k queries come before all keys. Rows that see nothing are legal.
    Look at: `max(0, ...)` or `clamp` on the offset; on a place where a loop ends it is right, in the mask it isn't.
    """

    def visible(self, rows, keys):
        return keys <= rows + max(0, self.t_k - self.t_q)


@wrong("tail-repeats-the-last-key", tiles=TILES)
class Clamped(Walk):
    """{It} fills the last block up by reading the last key again, and lets each copy count.

    Example: T_k=3 in blocks of two: the last block holds key 2 twice, so it gets twice its weight.
    Why: an index that is clamped to T_k - 1 is safe to read; its score still has to be -inf.
    Look at: `minimum` or `clamp` on the key's number: mask the scores by the number before it was clamped.
    """

    def block(self, start):
        keys = torch.arange(start, start + self.block_size, device=self.q.device).clamp(max=self.t_k - 1)
        return keys, self.k[..., keys, :].to(self.wide), self.v[..., keys, :].to(self.wide)


@wrong("last-key-dropped")
class LastKey(Walk):
    """{It} leaves out the last key.

    Example: T_k=1: nothing is left, and the output has to be that key's value.
    Why: the keys are 0 to T_k - 1, and `range`, slices and `arange` leave their end out by themselves.
    Look at: T_k - 1 as the end of a slice, of the loop, or beside `<` in a mask.
    """

    def hide(self, s, keys):
        return super().hide(s, keys).masked_fill(keys == self.t_k - 1, NONE)


@wrong("first-key-dropped")
class FirstKey(Walk):
    """{It} leaves out the first key.

    Example: T_k=1: nothing is left, and the output has to be that key's value.
    Why: keys are numbered from 0.
    Look at: `>` where `>=` is meant, or an `arange` that starts at 1.
    """

    def hide(self, s, keys):
        return super().hide(s, keys).masked_fill(keys == 0, NONE)
