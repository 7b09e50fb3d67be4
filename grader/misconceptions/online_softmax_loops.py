"""What people get wrong in exercise 06: where a loop over the keys ends, what its sums are measured from, in which base. {It} as in the files beside."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.online_softmax_walk import BLOCKS, NONE, OWN, TILES, Walk, in_blocks, refuse_block_size, right, wrong

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


# ---------------------------------------------------------------- what sums are measured from


class Stale(Walk):
    """Remembers the weights measured from the maximum before the block."""

    def run(self):
        m = torch.full(self.q.shape[:-1], NONE, dtype=self.wide, device=self.q.device)
        l, o = torch.zeros_like(m), torch.zeros_like(self.q, dtype=self.wide)
        for start in self.starts():
            keys, k, v = self.block(start)
            s = self.hide(self.scores(k), keys)
            new = self.top(m, s)
            at = self.anchor(new)
            old = torch.where(m == NONE, self.before(at), m)
            p, late = self.exp(s - at[..., None]), self.exp(s - old[..., None])
            (l, o), m = self.fold_late(l, o, self.exp(m - at), p, late, v), new
        return self.finish(m, l, o)

    def before(self, at):
        return at


@wrong("sum-from-the-old-maximum", tiles=(*TILES, OWN), question="online-softmax-rescale")
class StaleSum(Stale):
    """{It} adds exp(s - m_old) to the sum, where the old sum has been moved to m_new.

    Example: scores 0, then 2, in blocks of one: l is exp(-2) + exp(2), and exp(-2) + 1 is right. One block shows nothing.
    Why: old part and new part have to be measured from one maximum before they are added.
    Look at: the exponent of the weights that are summed: it needs the new maximum.
    """

    def fold_late(self, l, o, forget, p, late, v):
        return l * forget + late.sum(-1), o * forget[..., None] + p @ v


@wrong("block-from-the-old-maximum", tiles=(*TILES, OWN), question="online-softmax-rescale")
class StaleBlock(Stale):
    """{It} measures the block's weights from the maximum before it, where sum and output have been moved to the new one.

    Example: scores 0, then 2, in blocks of one: key 1 gets exp(2) beside exp(-2), and 1 beside exp(-2) is right. One block shows nothing.
    Why: old part and new part have to be measured from one maximum before they are added.
    Look at: the order of the lines: the new maximum comes first, then exp(s - m_new) and exp(m_old - m_new).
    """

    def fold_late(self, l, o, forget, p, late, v):
        return l * forget + late.sum(-1), o * forget[..., None] + late @ v


@wrong("block-from-the-old-maximum-first-from-zero", tiles=TILES[:2], extends="block-from-the-old-maximum", question="online-softmax-rescale")
class StaleFromZero(StaleBlock):
    __doc__ = StaleBlock.__doc__

    def before(self, at):
        return torch.zeros_like(at)


@wrong("rescaled-after-adding", tiles=TILES[:2], question="online-softmax-rescale")
class AddedFirst(Walk):
    """{It} adds the new block first and multiplies everything by exp(m_old - m_new) then.

    Example: one block: exp(-inf - m) = 0 wipes out what was just added, and nothing is left.
    Why: only what was summed *before* is measured from the old maximum; the new weights are measured from the new one already.
    Look at: the brackets: l * forget + p.sum(), not (l + p.sum()) * forget.
    """

    def fold(self, l, o, forget, p, v):
        return (l + p.sum(-1)) * forget, (o + p @ v) * forget[..., None]


@wrong("output-rescaled-after-adding", tiles=TILES[:2], question="online-softmax-rescale")
class OutputAddedFirst(Walk):
    """{It} adds the new block to the output first and multiplies both by exp(m_old - m_new) then; the sum is right.

    Example: one block: exp(-inf - m) = 0 wipes out what was just added, and the output is 0.
    Why: only what was summed *before* is measured from the old maximum; the new weights are measured from the new one already.
    Look at: the brackets in the line of the output: o * forget + p @ v.
    """

    def fold(self, l, o, forget, p, v):
        return l * forget + p.sum(-1), (o + p @ v) * forget[..., None]


class Stopping(Walk):
    """A walk whose kernel ends, for each of its tiles of rows, at the last key that one of them sees."""

    def met(self, keys):
        """(T_q,): which rows meet a block at all."""
        rows = self.rows()[:, 0]
        if not (self.causal and self.tile):
            return torch.ones_like(rows, dtype=torch.bool)
        tall, long, *_ = right.TILES[self.q.dtype][self.d]
        tall = tall if long == self.block_size else self.block_size
        return keys[0] <= (rows // tall + 1) * tall - 1 + (self.t_k - self.t_q)

    def run(self):
        m = torch.full(self.q.shape[:-1], NONE, dtype=self.wide, device=self.q.device)
        l, o = torch.zeros_like(m), torch.zeros_like(self.q, dtype=self.wide)
        for start in self.starts():
            keys, k, v = self.block(start)
            met, s = self.met(keys), self.hide(self.scores(k), keys)
            new = self.top(m, s)
            at = self.anchor(new)
            sum_, mixed = self.fold(l, o, self.exp(m - at), self.exp(s - at[..., None]), v)
            l, o, m = torch.where(met, sum_, l), torch.where(met[:, None], mixed, o), torch.where(met, self.carried(m, new), m)
        return self.finish(m, l, o)

    def carried(self, m, new):
        return new


@wrong("maximum-never-carried", tiles=(*TILES[:2], OWN), question="online-softmax-rescale")
class NeverCarried(Stopping):
    """{It} works out the new maximum of every block and never makes it the old one: m stays -inf, so exp(m - m_new) = 0 forgets what went before.

    Example: T_k=2 in blocks of one: the output is v1 whatever the scores are, and lse is -inf.
    Why: the next block has to know what the state is measured from.
    Look at: the end of the loop: m = m_new is missing.
    """

    def carried(self, m, new):
        return m


@wrong("maximum-of-the-block-up-to-the-diagonal", blocks=False, tiles=(*TILES[:2], OWN), extends="maximum-of-the-block")
class BlockMaximumToTheDiagonal(Stopping):
    """{It} takes the maximum of the current block alone, not that of everything seen so far.

    Example: scores 0 in the first block and -100 in the second: the factor exp(0 - (-100)) overflows float32.
    Why: on paper any reference gives the same; only the running maximum keeps every factor at most 1.
    Look at: the new maximum: max(m_old, max of the block).
    """

    def top(self, m, s):
        return s.amax(-1)


@wrong("empty-row-minus-infinity-twice-and-lse-spared", blocks=False, extends="empty-row-minus-infinity-twice", question="empty-row")
class MinusInfinityTwiceLseSpared(Stopping):
    """{It} subtracts -inf from -inf in rows that have seen no key: their output is NaN. (Their lse is right, since NaN isn't larger than 0.)

    Example: T_q=2, T_k=1, causal: out[0] is NaN; it should be 0.
    Why: exp(s - m) with s = m = -inf is exp(NaN). Replace m by 0 there before you subtract it.
    Look at: the exponent, in rows whose maximum is still -inf.
    """

    def anchor(self, m):
        return m

    def safe(self, l):
        return torch.where(l > 0, l, 1.0)


@wrong("old-state-rescaled-twice", tiles=TILES[:2], question="online-softmax-rescale")
class RescaledTwice(Walk):
    """{It} multiplies the old output by exp(m_old - m_new) twice.

    Example: scores 0, then 2, in blocks of one: o is exp(-4) v0 + v1, and exp(-2) v0 + v1 is right. One block shows nothing.
    Why: when m grows by d, o shrinks by exp(-d), once, as l does.
    Look at: an output that is scaled before it goes into the line that scales it.
    """

    def fold(self, l, o, forget, p, v):
        return l * forget + p.sum(-1), o * (forget * forget)[..., None] + p @ v


@wrong("lse-of-the-last-maximum", tiles=TILES[:2])
class LastMaximum(Walk):
    """{It} adds log(l) to the maximum of the last block, not to the running one.

    Example: scores 2, then 0, in blocks of one: lse is 0 + log(1 + exp(-2)), and 2 + log(1 + exp(-2)) is right.
    Why: l is measured from the largest of all scores.
    Look at: which variable stands in the line that sets lse.
    """

    def top(self, m, s):
        self.last = s.amax(-1)
        return super().top(m, s)

    def lse(self, m, l):
        return self.last + torch.log(self.safe(l))


# ---------------------------------------------------------------- exp and exp2, each in one place


def exponents(weights, rescale, scale_by):
    """A walk whose weights and rescaling factors are taken by different exponentials."""

    class Mixed(Walk):
        def scale(self):
            return super().scale() * scale_by

        def exp(self, x):
            return (rescale if x.ndim == self.q.ndim - 1 else weights)(x)

        def lse(self, m, l):
            return m / scale_by + torch.log(self.safe(l))

    return Mixed


@wrong("factor-by-exp-in-base-two", tiles=TILES[:2])
class FactorByExp(exponents(torch.exp2, torch.exp, 1 / LN2)):
    """{It} works in base 2 and takes exp for the factor of the old state; it has to be exp2, as for the weights.

    Example: scores 0, then 2, in blocks of one: the old state shrinks by exp(-2.885) = 0.056, and 2**-2.885 = exp(-2) = 0.135 is right.
    Why: with log2(e) folded into the scale the maximum is in base 2 as well.
    Look at: exp(m_old - m_new). One block shows nothing.
    """


@wrong("factor-by-exp2-of-natural", tiles=TILES[:2])
class FactorByExpTwo(exponents(torch.exp, torch.exp2, 1.0)):
    """{It} takes exp for the weights and exp2 for the factor of the old state, with natural scores.

    Example: scores 0, then 2, in blocks of one: the old state shrinks by 2**-2 = 0.25, and exp(-2) = 0.135 is right.
    Why: weights and factor are the same function of the same scores.
    Look at: exp2(m_old - m_new). One block shows nothing.
    """


@wrong("weights-by-exp-in-base-two", tiles=TILES[:2])
class WeightsByExp(exponents(torch.exp, torch.exp2, 1 / LN2)):
    """{It} works in base 2 and takes exp for the weights; they have to be exp2, as the factor of the old state is.

    Example: scores 0 and 1: the second key gets exp(1.443) = 4.23 times the weight of the first, and exp(1) = 2.72 is right.
    Why: with log2(e) folded into the scale, exp(s) is 2**(s log2(e)).
    Look at: exp(s - m).
    """


@wrong("weights-by-exp2-of-natural", tiles=TILES[:2])
class WeightsByExpTwo(exponents(torch.exp2, torch.exp, 1.0)):
    """{It} takes exp2 for the weights and exp for the factor of the old state, with natural scores.

    Example: scores 0 and 1: the second key gets twice the weight of the first, and exp(1) = 2.72 times is right.
    Why: exp2(s) = exp(s log 2): it wants scores that were multiplied by log2(e).
    Look at: exp2(s - m), and the scale.
    """


# ---------------------------------------------------------------- numbers


@wrong("values-are-keys")
class Keys(Walk):
    """{It} averages keys in place of values.

    Example: one key: the output has to be its value, and yours is the key itself.
    Why: keys decide the weights; what is averaged are the values.
    Look at: the second product, or the pointer that values are loaded from.
    """

    def block(self, start):
        keys, k, _ = super().block(start)
        return keys, k, k


@wrong("scaled-by-the-number-of-keys")
class ByKeys(Walk):
    """{It} divides the scores by sqrt(T_k); it is sqrt(Dh).

    Example: T_k=1: the scores aren't scaled at all.
    Why: the scale undoes the growth of a sum of Dh products; how many keys there are doesn't matter to any one score.
    Look at: which size goes into the root.
    """

    def scale(self):
        return self.t_k**-0.5


@wrong("lse-keeps-the-width-of-sums", kernel=False)
class WideLse(Walk):
    """{It} returns an lse in float64 for float64 inputs; it is float32 always.

    Example: float64 inputs: lse comes back as float64. With half precision nobody notices.
    Why: the contract has one dtype for lse, so that those who merge by it needn't ask.
    Look at: the last line: `.float()` on lse.
    """

    def finish(self, m, l, o):
        return super().finish(m, l, o)[0], self.lse(m, l)


class Epsilon(Walk):
    eps = 1e-6

    def divide(self, l, o):
        return o / (l + self.eps)[..., None]


@wrong("sum-has-an-epsilon", kernel=False)
class Million(Epsilon):
    """{It} adds a small number to the sum before it divides.

    Example: one key: its weight has to be 1, and yours is 1 / (1 + 1e-6); in float64 that shows.
    Why: the largest weight is exp(0) = 1, so l is 0 (no key, a case of its own) or at least 1: there is nothing to protect.
    Look at: `+ eps` on l: divide by 1 where l is 0.
    """


@wrong("sum-has-an-epsilon-of-1e-8", kernel=False, extends="sum-has-an-epsilon")
class HundredMillion(Epsilon):
    __doc__ = Million.__doc__
    eps = 1e-8


@wrong("weights-rounded-to-halves", kernel=False, extends="halves-computed-in-halves")
class RoundedWeights(Walk):
    """{It} rounds the weights to the inputs' half precision before it averages the values.

    Example: bfloat16: a weight of 0.7 becomes 0.699, and where large values nearly cancel that is all that is left.
    Why: exponentials run in float32 in part 2, and out is cast back once. (A kernel's tl.dot may take half-precision weights; its tolerance allows for it.)
    Look at: `p.to(v.dtype) @ v`: lift the block of v in place of lowering p.
    """

    def fold(self, l, o, forget, p, v):
        return l * forget + p.sum(-1), o * forget[..., None] + p.to(self.q.dtype).to(self.wide) @ v


# ---------------------------------------------------------------- gradients alone


@wrong("normaliser-detached", kernel=False)
class NormaliserDetached(Walk):
    """{It} detaches the sum that it divides by: values are right, gradients are not.

    Example: one key: out = v whatever q and k are, so their gradient is 0, and yours isn't.
    Why: every score moves the normaliser too; that term is what makes the weights sum to 1.
    Look at: `detach` or `no_grad` on l.
    """

    def divide(self, l, o):
        return o / self.safe(l).detach()[..., None]


@wrong("sum-detached", kernel=False, extends="normaliser-detached")
class SumDetached(Walk):
    """{It} treats the running maximum and the running sum l as constants: values are right, gradients of out and lse are not.

    Example: one key: out = v whatever q and k are, so their gradient is 0, and yours isn't.
    Why: the maximum cancels and may be detached everywhere; the sum doesn't: it is what makes the weights sum to 1, and lse is its logarithm.
    Look at: `detach` or `no_grad` on the line of the sum.
    """

    def top(self, m, s):
        return super().top(m, s).detach()

    def fold(self, l, o, forget, p, v):
        return (l * forget + p.sum(-1)).detach(), o * forget[..., None] + p @ v


@wrong("old-factor-detached", kernel=False)
class FactorDetached(Walk):
    """{It} detaches exp(m_old - m_new), and the maximum in exp(s - m_new) isn't detached: values are right, gradients are not.

    Example: two keys in blocks of one: the gradient of out for q is right with one block, and wrong with two.
    Why: the maximum cancels, so it may be detached everywhere or nowhere; half of it doesn't cancel.
    Look at: `no_grad` or `detach` around the factor.
    """

    def fold(self, l, o, forget, p, v):
        return super().fold(l, o, forget.detach(), p, v)


@wrong("maximum-detached-in-the-exponents-alone", kernel=False)
class ShiftDetached(Walk):
    """{It} detaches the maximum inside the exponents, which is right, and lets lse = m + log(l) take a gradient through m.

    Example: the gradient of lse for the score of the largest key is its weight, and yours is 1 more.
    Why: m cancels in lse only if both of its places are alike: detach it there too, or nowhere.
    Look at: the m in m + log(l). Gradients of out are right.
    """

    def anchor(self, m):
        return super().anchor(m).detach()

    def fold(self, l, o, forget, p, v):
        return super().fold(l, o, forget.detach(), p, v)


@wrong("maximum-detached-in-lse-alone", kernel=False)
class LseMaximumDetached(Walk):
    """{It} detaches the maximum in lse = m + log(l) and nowhere else.

    Example: one key: the gradient of lse for its score is 1, and yours is 0.
    Why: l is measured from m, so what log(l) loses when m grows has to come back through m.
    Look at: the m in m + log(l).
    """

    def lse(self, m, l):
        return super().lse(m.detach(), l)


@wrong("logarithm-of-no-sum", kernel=False, question="empty-row")
class LogOfNothing(Walk):
    """{It} takes log(l) where l is 0 too, and replaces it afterwards: values are right, gradients of lse are NaN.

    Example: T_q=2, T_k=1, causal: query 0 sees nothing; the gradient of lse for q is 0 there, and yours is NaN.
    Why: the derivative of log at 0 is infinite, and infinite times the 0 of the branch not taken is NaN.
    Look at: what goes into the logarithm: put 1 in place of l where l is 0, before and not after.
    """

    def hide(self, s, keys):
        return s + torch.zeros_like(s).masked_fill(~self.visible(self.rows(), keys), NONE) if self.causal else s  # `masked_fill` on s would stop the NaN

    def lse(self, m, l):
        return torch.where(l > 0, m + torch.log(l), NONE)


# ---------------------------------------------------------------- what may be asked


@misconception("queries-scaled-in-place-unless-cast", of=BLOCKS, extends="blocks-queries-scaled-in-place")
def scaled_unless_cast(q, k, v, block_size, causal=False):
    """Your part 2 scales in place what q.to(float32) gives, and for float32 and float64 inputs that is the caller's q itself.

    Example: float32: after the call q is smaller by sqrt(Dh); float16: it isn't, since there the cast made a copy.
    Why: `.to` and `.float()` give the same tensor back where nothing is to be changed, and `*=` or `mul_` writes into it.
    Look at: q *= scale: write q = q * scale.
    """
    refuse_block_size(block_size)
    right._refuse_misfits(q, k, v)
    scaled = q.to(torch.promote_types(q.dtype, torch.float32))
    scaled *= q.shape[-1] ** -0.5

    class Scaled(Walk):
        def scale(self):
            return 1.0

    out, lse = Scaled(scaled, k, v, block_size, causal).run()
    return out.to(q.dtype), lse


def refusing(name, when, text):
    """Part 2 with a refusal too many."""

    def blockwise_attention(q, k, v, block_size, causal=False):
        if when(q, k, block_size, causal):
            raise ValueError("q, k, v, block_size")
        return in_blocks(Walk)(q, k, v, block_size, causal)

    blockwise_attention.__doc__ = text
    return misconception(name, of=BLOCKS)(blockwise_attention)


uneven = refusing("uneven-blocks-refused", lambda q, k, n, causal: n > 0 and k.shape[-2] % n != 0, """Your part 2 refuses a block size that doesn't divide T_k.

    Example: T_k=3, block_size=2: you raise a ValueError, and a result is asked.
    Why: the last block may be shorter.
    Look at: the refusal, and `min(start + block_size, T_k)` as the end of a block.
    """)

large = refusing("large-blocks-refused", lambda q, k, n, causal: n > k.shape[-2], """Your part 2 refuses a block size above T_k.

    Example: T_k=7, block_size=8: you raise a ValueError, and the result of one block is asked.
    Why: the contract refuses sizes below 1 only.
    Look at: the refusal.
    """)

more_queries = refusing("more-queries-than-keys-refused", lambda q, k, n, causal: causal and q.shape[-2] > k.shape[-2], """Your part 2 refuses more queries than keys.

    Example: T_q=2, T_k=1, causal: you raise a ValueError; out is 0 and lse -inf for query 0, and key 0's value for query 1.
    Why: queries that see nothing are legal, and their result is part of the contract.
    Look at: the refusal.
    """)


@misconception("blocks-causal-by-default", of=BLOCKS, extends="blocks-always-causal")
def causal_by_default(q, k, v, block_size, causal=True):
    """Your part 2 is causal unless it is told otherwise; the default is causal=False.

    Example: T_q = T_k = 2 without `causal`: query 0 may see both keys, and you hide key 1.
    Why: the signature is part of the contract.
    Look at: the default of `causal`.
    """
    return in_blocks(Walk)(q, k, v, block_size, causal)
