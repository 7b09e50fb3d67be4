"""What people get wrong in exercise 06: the running state, and queries that see nothing. Scores, loops, merges and the rest are in the files beside this one."""

import torch
from attngrade.misconceptions import (
    listed,
    online_softmax_calls,
    online_softmax_copies,
    online_softmax_loops,
    online_softmax_lse,
    online_softmax_misfits,
    online_softmax_numbers,
    online_softmax_programs,
    online_softmax_results,
    online_softmax_scores,
    online_softmax_split,
    online_softmax_states,
    online_softmax_sums,
    online_softmax_tails,
    online_softmax_unions,
)
from attngrade.misconceptions.online_softmax_walk import NONE, OWN, TILES, Walk, wrong


class Beside:
    """The misconceptions of the files beside this one."""

    rooms = (
        online_softmax_states, online_softmax_unions, online_softmax_scores, online_softmax_tails, online_softmax_loops, online_softmax_split, online_softmax_sums,
        online_softmax_numbers, online_softmax_programs, online_softmax_calls, online_softmax_misfits, online_softmax_copies,
    )
    attngrade_misconceptions = tuple(item for room in rooms for item in listed(room))


# ---------------------------------------------------------------- the running state


@wrong("output-not-rescaled", tiles=(*TILES, OWN), question="online-softmax-rescale")
class OutputKept(Walk):
    """{It} rescales the sum l when a new maximum comes, and leaves the output o measured from the old one.

    Example: scores 0, then 2, in blocks of one: o is v0 + v1, and exp(-2) v0 + v1 is right. One block shows nothing.
    Why: o = sum exp(s - m) v. When m grows by d, everything summed so far shrinks by exp(-d), o as well as l.
    Look at: the line that adds to the output.
    """

    def fold(self, l, o, forget, p, v):
        return l * forget + p.sum(-1), o + p @ v


@wrong("sum-not-rescaled", tiles=(*TILES, OWN), question="online-softmax-rescale")
class SumKept(Walk):
    """{It} rescales the output o when a new maximum comes, and leaves the sum l measured from the old one.

    Example: scores 0, then 2, in blocks of one: l is 2, and exp(-2) + 1 is right. One block shows nothing.
    Why: l = sum exp(s - m). When m grows by d, everything summed so far shrinks by exp(-d), l as well as o.
    Look at: the line that adds to the sum.
    """

    def fold(self, l, o, forget, p, v):
        return l + p.sum(-1), o * forget[..., None] + p @ v


@wrong("nothing-rescaled", tiles=(*TILES, OWN), question="online-softmax-rescale")
class BothKept(Walk):
    """{It} never rescales: sum and output stay measured from the maxima of their own blocks.

    Example: scores 0, then 2, in blocks of one: both keys get weight 1/2, and exp(-2) to 1 is right. One block shows nothing.
    Why: l = sum exp(s - m) and o = sum exp(s - m) v. When m grows by d, both shrink by exp(-d).
    Look at: the factor exp(m_old - m_new).
    """

    def fold(self, l, o, forget, p, v):
        return l + p.sum(-1), o + p @ v


@wrong("rescaled-the-wrong-way", tiles=(*TILES[:2], OWN), question="online-softmax-rescale")
class GrowsBack(Walk):
    """{It} multiplies by exp(m_new - m_old) where exp(m_old - m_new) is right: the past grows in place of shrinking.

    Example: scores 0, then 2, in blocks of one: key 0 gets exp(2) times the weight of key 1, and exp(-2) is right.
    Why: exp(s - m_new) = exp(s - m_old) exp(m_old - m_new), a factor of at most 1.
    Look at: the sign in the exponent.
    """

    def fold(self, l, o, forget, p, v):
        grow = torch.where(forget > 0, 1 / forget, 0.0)
        return l * grow + p.sum(-1), o * grow[..., None] + p @ v


@wrong("old-state-forgotten", tiles=(*TILES[:2], OWN))
class OnlyLast(Walk):
    """{It} keeps only the last block: each block overwrites the state.

    Example: T_k=2 in blocks of one: the output is v1 whatever the scores are.
    Why: the state of the union is old state and new block together.
    Look at: `=` where the old l and o have to be added.
    """

    def fold(self, l, o, forget, p, v):
        return p.sum(-1), p @ v


@wrong("maximum-of-the-block", tiles=(*TILES[:2], OWN))
class BlockMaximum(Walk):
    """{It} takes the maximum of the current block alone, not that of everything seen so far.

    Example: scores 0 in the first block and -100 in the second: the factor exp(0 - (-100)) overflows float32.
    Why: on paper any reference gives the same; only the running maximum keeps every factor at most 1.
    Look at: the new maximum: max(m_old, max of the block).
    """

    def top(self, m, s):
        return s.amax(-1)


class NoShift(Walk):
    def anchor(self, m):
        return torch.zeros_like(m)


@wrong("maximum-starts-at-zero")
class StartsAtZero(Walk):
    """{It} starts with a maximum of 0, so a row whose scores all lie far below 0 vanishes.

    Example: all scores near -200 in float32: every exp(s - 0) is 0, the sum is 0, and the output is lost.
    Why: the maximum of no keys is -inf; then the first block sets it.
    Look at: what m is before the first block.
    """

    def first_top(self):
        return 0.0


@wrong("maximum-starts-at-zero-then-nan", extends="maximum-starts-at-zero")
class StartsAtZeroNan(StartsAtZero):
    """{It} starts with a maximum of 0, so a row whose scores all lie far below 0 vanishes, and the division is 0 / 0.

    Example: all scores near -200 in float32: every exp(s - 0) is 0, the sum is 0, and the output NaN.
    Why: the maximum of no keys is -inf; then the first block sets it.
    Look at: what m is before the first block.
    """

    def safe(self, l):
        return l


@wrong("maximum-starts-at-zero-then-empty", extends="maximum-starts-at-zero")
class StartsAtZeroEmpty(StartsAtZero):
    """{It} starts with a maximum of 0, so a row whose scores all lie far below 0 vanishes and looks like one that sees nothing.

    Example: all scores near -200 in float32: every exp(s - 0) is 0, so out is 0 and lse is -inf.
    Why: the maximum of no keys is -inf; then the first block sets it.
    Look at: what m is before the first block.
    """

    def lse(self, m, l):
        return super().lse(m, l).masked_fill(l == 0, NONE)


class StartsLow(Walk):
    low = -1e9

    def first_top(self):
        return self.low


@wrong("lse-of-nothing-is-a-billion-below", question="empty-row")
class BillionLse(StartsLow):
    """{It} starts with a large finite number for the maximum, and that number comes out as the lse of a query that sees nothing.

    Example: T_q=2, T_k=1, causal: lse of query 0 must be -inf.
    Why: lse = log of the sum over no keys = log 0 = -inf; others that merge your results rely on it.
    Look at: what m is before the first block, or what lse becomes where l is 0.
    """


@wrong("lse-of-nothing-is-1e30-below", extends="lse-of-nothing-is-a-billion-below", question="empty-row")
class ThirtyLse(BillionLse):
    __doc__ = BillionLse.__doc__
    low = -1e30


@wrong("lse-of-nothing-is-the-lowest-number", extends="lse-of-nothing-is-a-billion-below", question="empty-row")
class LowestLse(BillionLse):
    __doc__ = BillionLse.__doc__

    def first_top(self):
        return torch.finfo(self.wide).min


@wrong("no-maximum")
class NoMaximum(NoShift):
    """{It} takes exponentials of the scores as they are, without subtracting the maximum.

    Example: a score of 100 in float32: exp(100) = inf and the output is NaN; scores near -200 all become 0.
    Why: exp leaves the range of float32 beyond 88. Measured from the maximum every exponential is at most 1.
    Look at: exp(s): write exp(s - m).
    """

    def fold(self, l, o, forget, p, v):
        return l + p.sum(-1), o + p @ v

    def lse(self, m, l):
        return torch.log(l)


@wrong("no-maximum-then-nan", extends="no-maximum")
class NoMaximumNan(NoMaximum):
    __doc__ = NoMaximum.__doc__

    def safe(self, l):
        return l


@wrong("one-maximum-for-all-rows", kernel=False)
class OneMaximum(Walk):
    """{It} takes one maximum over all rows; each row has its own.

    Example: row 0 with scores near 200, row 1 with scores near 0: in float32 exp(0 - 200) = 0, and row 1 vanishes.
    Why: the maximum is subtracted so that the largest term of *each* sum is 1.
    Look at: `max()` or `amax()` without the last axis.
    """

    def top(self, m, s):
        return torch.maximum(m, s.amax())


@wrong("blocks-averaged", tiles=TILES[:2])
class Averaged(Walk):
    """{It} computes a softmax inside every block and averages the blocks' outputs.

    Example: T_k=3 in blocks of two: key 2 gets weight 1/2 whatever its score is.
    Why: a block counts as much as its sum of exponentials, measured from the common maximum.
    Look at: the division: it comes once, after the last block.
    """

    def run(self):
        outs = []
        for start in self.starts():
            keys, k, v = self.block(start)
            s = self.hide(self.scores(k), keys)
            p = torch.exp(s - self.anchor(s.amax(-1))[..., None])
            outs.append(self.divide(p.sum(-1), p @ v))
        return torch.stack(outs).mean(0).to(self.q.dtype), Walk.run(self)[1]


@wrong("not-divided", tiles=(64,))
class NotDivided(Walk):
    """{It} returns the unnormalised output o; it has to be divided by the sum l.

    Example: two keys with score 0 and values 1 and 3: you return 4, and the average 2 is right.
    Why: weights are exp(s - m) / l and sum to 1.
    Look at: the line before the result.
    """

    def divide(self, l, o):
        return o


@wrong("divided-in-every-block", tiles=(*TILES[:2], OWN))
class DividedOften(Walk):
    """{It} divides the output in every block and goes on with it as if it weren't divided.

    Example: scores 0, 0, 0 in blocks of one, values 1, 1, 1: the output should be 1, and yours isn't.
    Why: a divided output has to be multiplied by its old sum before the next block is added; the usual form divides once, at the end.
    Look at: a division inside the loop.
    """

    def fold(self, l, o, forget, p, v):
        new = l * forget + p.sum(-1)
        return new, (o * forget[..., None] + p @ v) / self.safe(new)[..., None]

    def divide(self, l, o):
        return o


# ---------------------------------------------------------------- queries that see nothing


class Unguarded(Walk):
    def safe(self, l):
        return l


@wrong("empty-row-divides-by-zero", question="empty-row")
class ZeroByZero(Unguarded):
    """{It} divides 0 by 0 for a query that sees no key.

    Example: T_q=2, T_k=1, causal: query 0 sees nothing, out must be 0, and you return NaN.
    Why: no key adds to l, so it stays 0.
    Look at: the division at the end: divide by 1 where l is 0.
    """


@wrong("empty-row-minus-infinity-twice", question="empty-row")
class NanInside(Unguarded):
    """{It} subtracts -inf from -inf for a query that sees no key, and everything of that row is NaN.

    Example: T_q=2, T_k=1, causal: for query 0 every score and the maximum are -inf; out must be 0 and lse -inf.
    Why: s - m is NaN there, and NaN stays NaN.
    Look at: both exponents: use 0 in place of m where m is -inf.
    """

    def anchor(self, m):
        return m


@wrong("first-block-subtracts-infinity")
class NanAfterwards(Walk):
    """{It} gets NaN in the old state's factor while a query has seen no key yet.

    Example: T_q=2, T_k=1, causal: m is still -inf after the first block, and exp(-inf - (-inf)) is NaN.
    Why: the guard has to cover both exponents, that of the scores and that of the old state.
    Look at: exp(m_old - m_new) where both are -inf.
    """

    def fold(self, l, o, forget, p, v):
        forget = torch.where(p.amax(-1) == 0, torch.full_like(forget, float("nan")).where(l == 0, forget), forget)
        return super().fold(l, o, forget, p, v)


@wrong("empty-row-repaired-afterwards", kernel=False, question="empty-row")
class Repaired(Walk):
    """{It} lets a query that sees nothing become NaN and repairs the result; the gradient keeps the NaN.

    Example: T_q=2, T_k=1, causal: out is 0 and lse -inf as they should be, and the gradient for q, k and v is NaN.
    Why: `nan_to_num` and `where` repair the forward pass alone: going back, 0 * NaN is NaN.
    Look at: the places where NaN arises: the exponents, the division, the logarithm.
    """

    def anchor(self, m):
        return m

    def safe(self, l):
        return l

    def finish(self, m, l, o):
        out, lse = super().finish(m, l, o)
        return torch.nan_to_num(out, nan=0.0), torch.where(torch.isnan(lse), NONE, lse)


class OtherLse(Walk):
    instead = 0.0

    def lse(self, m, l):
        return super().lse(m, l).masked_fill(l == 0, self.instead)


@wrong("lse-of-nothing-is-zero", question="empty-row")
class ZeroLse(OtherLse):
    """{It} says lse = 0 for a query that sees no key; it is -inf.

    Example: T_q=2, T_k=1, causal: lse of query 0 must be -inf.
    Why: lse is the log of a sum over no keys, log 0. An lse of 0 would give an empty block the weight of a real one.
    Look at: the value that stands in where l is 0.
    """


@wrong("lse-of-nothing-is-plus-infinity", question="empty-row")
class PlusLse(OtherLse):
    """{It} says lse = +inf for a query that sees no key; it is -inf.

    Example: T_q=2, T_k=1, causal: lse of query 0 must be -inf.
    Why: lse is the log of a sum over no keys, log 0 = -inf. (Some libraries store +inf for their backward pass; merging such a row gives NaN.)
    Look at: the value that stands in where l is 0.
    """

    instead = float("inf")


@wrong("lse-of-nothing-is-nan", question="empty-row")
class NanLse(OtherLse):
    """{It} returns an lse of NaN for a query that sees no key; it is -inf.

    Example: T_q=2, T_k=1, causal: lse of query 0 must be -inf.
    Why: lse is the log of a sum over no keys, log 0 = -inf.
    Look at: -inf - (-inf) on the way to lse.
    """

    instead = float("nan")


@wrong("out-of-nothing-is-the-mean", question="empty-row")
class MeanOut(Walk):
    """{It} gives a query that sees no key the mean of all values; it is 0.

    Example: T_q=2, T_k=1, causal: out of query 0 must be 0.
    Why: no key, no weight.
    Look at: what becomes of a row whose scores are all equally low.
    """

    def divide(self, l, o):
        return torch.where((l == 0)[..., None], self.v.to(self.wide).mean(-2, keepdim=True), super().divide(l, o))


class After:
    """The misconceptions that are about what comes of the state."""

    attngrade_misconceptions = tuple(item for room in (online_softmax_lse, online_softmax_results) for item in listed(room))
