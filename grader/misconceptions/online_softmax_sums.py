"""What people get wrong in exercise 06: what sums are measured from, and by which exponential. {It} as in the files beside."""

import torch
from attngrade.misconceptions.online_softmax_walk import NONE, OWN, TILES, Walk, right, wrong

LN2 = 0.6931471805599453


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
