"""What people get wrong in exercise 06: scores and masks of a walk over blocks of keys. {It} is part 2's loop or part 3's kernel."""

import torch
from attngrade.misconceptions.online_softmax_walk import NONE, OWN, TILES, Walk, wrong

LN2 = 0.6931471805599453

# ---------------------------------------------------------------- the scale


@wrong("unscaled", question="score-variance")
class Unscaled(Walk):
    """{It} uses the bare products q . k; they have to be divided by sqrt(Dh).

    Example: Dh=16: every score is four times too large, and the softmax far too sharp.
    Why: a sum of Dh products scatters by sqrt(Dh); lse is that of the scaled scores too.
    Look at: the factor Dh ** -0.5, once, before the maximum is taken.
    """

    def scale(self):
        return 1.0


@wrong("scaled-by-the-width", question="score-variance")
class ByWidth(Walk):
    """{It} divides the scores by Dh, or by its root twice; they have to be divided by sqrt(Dh) once.

    Example: Dh=16: every score is four times too small, and the softmax nearly flat.
    Why: a sum of Dh independent products scatters by sqrt(Dh), not by Dh.
    Look at: a q that was scaled before it reaches a second scale, or a missing root.
    """

    def scale(self):
        return 1.0 / self.d


@wrong("scaled-by-the-model-width")
class ByModelWidth(Walk):
    """{It} divides the scores by the root of the model width H * Dh; the sum has only Dh terms.

    Example: H=3, Dh=16: every score is too small by sqrt(3). With one head nobody notices.
    Why: each head's score is a sum over its own Dh components.
    Look at: which size goes into the root.
    """

    def scale(self):
        return (self.q.shape[1] * self.d) ** -0.5


@wrong("multiplied-by-the-root")
class Multiplied(Walk):
    """{It} multiplies the scores by sqrt(Dh) where it has to divide.

    Example: Dh=16: every score is sixteen times too large.
    Why: the scale undoes the growth of a sum with its number of terms.
    Look at: `*` and `/`, or the sign of the exponent 0.5.
    """

    def scale(self):
        return self.d**0.5


@wrong("scaled-after-the-softmax", extends="unscaled")
class ScaledAfter(Walk):
    """{It} divides the output by sqrt(Dh) in place of the scores.

    Example: one key: the output has to be its value, and yours is v / sqrt(Dh).
    Why: the scale belongs to the scores; weights sum to 1 and so leave the size of values alone.
    Look at: where the factor Dh ** -0.5 stands: before exp, not after.
    """

    def scale(self):
        return 1.0

    def divide(self, l, o):
        return super().divide(l, o) * self.d**-0.5


@wrong("scaled-by-a-fixed-width")
class FixedWidth(Walk):
    """{It} scales with a fixed number, as for Dh = 64, whatever the width is.

    Example: Dh=16: every score is too small by half.
    Why: the scale is Dh ** -0.5, and Dh is the last size of q.
    Look at: 0.125, 8 or 64 written as a number.
    """

    def scale(self):
        return 0.125


@wrong("queries-scaled-in-their-own-dtype")
class QueriesScaledInTheirDtype(Walk):
    """{It} multiplies q by the scale and rounds it back to half precision before the product: every score is off by up to a two-thousandth of its size.

    Example: Dh=32, float16, scores near 200: they are off by a tenth, and so are their weights.
    Why: 1/sqrt(32) isn't a power of two, so q times it has more digits than float16 keeps; a score is a sum and belongs in float32.
    Look at: `.to(...)` behind `q * scale`; multiply the scores by the scale, after the product.
    """

    def scores(self, k):
        return (self.q.to(self.wide) * self.scale()).to(self.q.dtype).to(self.wide) @ k.mT


@wrong("queries-times-a-rounded-scale", blocks=False, extends="queries-scaled-in-their-own-dtype")
class QueriesTimesARoundedScale(Walk):
    """{It} multiplies q in half precision by a scale that is rounded to it: every score is off by up to a thousandth of its size.

    Example: Dh=32, float16, scores near 200: they are off by a tenth, and so are their weights.
    Why: 1/sqrt(32) has more digits than float16 keeps, and so has q times it; a score is a sum and belongs in float32.
    Look at: `q * scale` before the product; multiply the scores by the scale, after it.
    """

    def scores(self, k):
        return (self.q * torch.tensor(self.scale(), dtype=self.q.dtype)).to(self.wide) @ k.mT


@wrong("queries-scaled-for-base-two-in-their-own-dtype", blocks=False, extends="queries-scaled-in-their-own-dtype")
class QueriesScaledForBaseTwoInTheirDtype(Walk):
    """{It} multiplies q by the scale and log2(e) and rounds it back to half precision before the product: every score is off by up to a two-thousandth of its size.

    Example: Dh=64, float16, scores near 200: they are off by a tenth, and so are their weights.
    Why: q times log2(e) has more digits than float16 keeps; a score is a sum and belongs in float32.
    Look at: `.to(...)` behind `q * scale`; multiply the scores by the factor, after the product.
    """

    def scores(self, k):
        return ((self.q.to(self.wide) * self.scale() / LN2).to(self.q.dtype).to(self.wide) @ k.mT) * LN2


@wrong("exp-of-base-two-scores")
class ExpOfBaseTwo(Walk):
    """{It} folds log2(e) into the scale and then takes exp; scores scaled for base 2 want exp2.

    Example: scores 0 and 1: the second key gets exp(1.443) = 4.23 times the weight of the first, and exp(1) = 2.72 is right.
    Why: exp(s) = exp2(s log2(e)); the factor and the function belong together.
    Look at: `exp` where `exp2` is meant, in both places.
    """

    def scale(self):
        return self.d**-0.5 / LN2

    def lse(self, m, l):
        return m * LN2 + torch.log(self.safe(l))


@wrong("exp2-of-natural-scores")
class ExpTwoOfNatural(Walk):
    """{It} takes exp2 of scores that weren't multiplied by log2(e).

    Example: scores 0 and 1: the second key gets twice the weight of the first, and exp(1) = 2.72 times is right.
    Why: exp2(s) = exp(s log 2): every score counts for 0.69 of itself.
    Look at: the scale: it needs the factor log2(e) = 1.4427 if exp2 is used.
    """

    def exp(self, x):
        return torch.exp2(x)


# ---------------------------------------------------------------- the causal mask


@wrong("mask-aligned-top-left", question="causal-alignment")
class TopLeft(Walk):
    """{It} lines the first query up with the first key; the last query has to sit on the last key.

    Example: T_q=1, T_k=4, causal: the query may see all four keys, and you show it key 0 alone.
    Why: with more keys than queries the extra keys are the past: query i sees key j iff j <= i + (T_k - T_q).
    Look at: the comparison of keys with rows: T_k - T_q is missing.
    """

    def visible(self, rows, keys):
        return keys <= rows


@wrong("mask-shifted-the-wrong-way", question="causal-alignment")
class WrongShift(Walk):
    """{It} shifts the causal mask by T_q - T_k; it is T_k - T_q.

    Example: T_q=1, T_k=4, causal: the query may see all four keys, and you show it none.
    Why: query i sits on key i + (T_k - T_q), so that the last one, T_q - 1, sits on T_k - 1.
    Look at: the sign of the offset.
    """

    def visible(self, rows, keys):
        return keys <= rows + (self.t_q - self.t_k)


@wrong("mask-hides-the-present")
class Strict(Walk):
    """{It} hides the key that the query sits on; only later keys are the future.

    Example: T_q = T_k = 1, causal: the query sees its own key, and you hide it.
    Why: j <= i + (T_k - T_q) holds with equality for the query's own place.
    Look at: `<` in place of `<=`, or an offset that is one too small.
    """

    def visible(self, rows, keys):
        return keys < rows + (self.t_k - self.t_q)


@wrong("mask-shows-the-next-key")
class OneTooMany(Walk):
    """{It} shows every query one key of the future.

    Example: T_q = T_k = 2, causal: query 0 may see key 0 alone, and you show it key 1 as well.
    Why: j <= i + (T_k - T_q) ends at the query's own place.
    Look at: an offset that is one too large, or `<=` beside a bound that is already exclusive.
    """

    def visible(self, rows, keys):
        return keys <= rows + (self.t_k - self.t_q) + 1


@wrong("causal-ignored")
class NeverCausal(Walk):
    """{It} takes no notice of `causal`: every query sees every key.

    Example: T_q = T_k = 2, causal=True: query 0 may see key 0 alone, and you show it key 1 as well.
    Why: a model that predicts the next token must not see it.
    Look at: whether `causal` is used at all, and whether the masked scores are the ones that go on (masked_fill returns a new tensor).
    """

    def hide(self, s, keys):
        return s


@wrong("always-causal")
class AlwaysCausal(Walk):
    """{It} hides the future even with causal=False.

    Example: T_q = T_k = 2, causal=False: query 0 may see both keys, and you hide key 1.
    Why: the default is to hide nothing.
    Look at: the condition around the mask, and what `causal` is by default.
    """

    def hide(self, s, keys):
        return s.masked_fill(~self.visible(self.rows(), keys), NONE)


@wrong("mask-only-for-squares", question="causal-alignment")
class OnlySquare(Walk):
    """{It} hides the future only where T_q equals T_k.

    Example: T_q=2, T_k=5, causal: query 0 may see keys 0 to 3, and you show it key 4 as well.
    Why: a chunk of several tokens on a cache has a future inside the chunk.
    Look at: a condition on T_q == T_k or T_q == 1.
    """

    def hide(self, s, keys):
        return super().hide(s, keys) if self.t_q == self.t_k else s


@wrong("mask-shows-the-future")
class Inverted(Walk):
    """{It} shows the present and the future and hides the past: it is the wrong triangle.

    Example: T_q = T_k = 2, causal: query 1 may see both keys, and you hide key 0.
    Why: rows are queries and columns are keys; the past of query i are the columns up to i.
    Look at: `>=` in place of `<=`, `triu` in place of `tril`, or a mask that was inverted once too often.
    """

    def visible(self, rows, keys):
        return keys >= rows + (self.t_k - self.t_q)


@wrong("mask-keeps-the-hidden")
class Swapped(Walk):
    """{It} hides exactly what should be seen: the mask is used with the opposite meaning.

    Example: T_q = T_k = 2, causal: query 0 may see key 0, and you show it key 1.
    Why: `masked_fill` fills where its mask is True, `where` keeps where its condition is True.
    Look at: a missing or superfluous `~`.
    """

    def visible(self, rows, keys):
        return keys > rows + (self.t_k - self.t_q)


@wrong("mask-counts-inside-the-block", tiles=(*TILES[:2], OWN))
class LocalColumns(Walk):
    """{It} numbers the keys from 0 in every block, so the mask of later blocks shows the future.

    Example: T_q = T_k = 4, causal, blocks of two: in the second block query 0 compares itself with 0 and 1 and sees them.
    Why: the mask compares places in the whole sequence: key number start + j.
    Look at: the column numbers of a block: they begin at `start`.
    """

    def visible(self, rows, keys):
        return super().visible(rows, keys - keys[:1])


@wrong("hidden-keys-score-zero")
class MultipliedMask(Walk):
    """{It} sets hidden scores to 0; a score of 0 is a weight of exp(0), not of nothing.

    Example: T_q = T_k = 2, causal: query 0 gives key 1 the weight 1 / (1 + exp(s)) in place of 0.
    Why: the weight is exp(score), and only a score of -inf has weight 0.
    Look at: scores multiplied by a mask, `tril` on the scores, or `where(mask, s, 0)`.
    """

    def hide(self, s, keys):
        return s * self.visible(self.rows(), keys) if self.causal else s


@wrong("hidden-keys-stay-in-the-sum")
class OnlyOutputs(Walk):
    """{It} removes hidden keys from the outputs and leaves them in the sum l.

    Example: T_q = T_k = 2, causal: query 0 sees key 0 alone, its output has to be v0, and yours is smaller.
    Why: the future is then in the denominator, so weights sum to less than 1 and lse is too large.
    Look at: where the mask is applied: to the scores, before exp, sum and product.
    """

    def hide(self, s, keys):
        self.shown = self.visible(self.rows(), keys) if self.causal else torch.ones_like(s, dtype=torch.bool)
        return s

    def fold(self, l, o, forget, p, v):
        return l * forget + p.sum(-1), o * forget[..., None] + (p * self.shown) @ v


class Filled(Walk):
    fill = -1e9

    def hide(self, s, keys):
        return s.masked_fill(~self.visible(self.rows(), keys), self.fill) if self.causal else s


@wrong("hidden-keys-score-a-billion", question="empty-row")
class Billion(Filled):
    """{It} hides keys with a large finite score; a query that sees nothing then sees everything alike.

    Example: T_q=2, T_k=1, causal: query 0 sees nothing, out must be 0 and lse -inf; you give it the mean of the values.
    Why: among equal scores every key gets the same weight, however low they all are.
    Look at: -1e9 or its like: fill with -inf, and treat the row whose maximum is -inf.
    """


@wrong("hidden-keys-score-ten-billion", extends="hidden-keys-score-a-billion", question="empty-row")
class TenBillion(Filled):
    __doc__ = Billion.__doc__
    fill = -1e10


@wrong("hidden-keys-score-ten-thousand", extends="hidden-keys-score-a-billion", question="empty-row")
class TenThousand(Filled):
    __doc__ = Billion.__doc__
    fill = -1e4


@wrong("hidden-keys-score-a-million", extends="hidden-keys-score-a-billion", question="empty-row")
class Million(Filled):
    __doc__ = Billion.__doc__
    fill = -1e6


@wrong("hidden-keys-score-1e30", extends="hidden-keys-score-a-billion", question="empty-row")
class Thirty(Filled):
    __doc__ = Billion.__doc__
    fill = -1e30


@wrong("hidden-keys-score-the-lowest-number", extends="hidden-keys-score-a-billion", question="empty-row")
class Lowest(Filled):
    __doc__ = Billion.__doc__

    @property
    def fill(self):
        return torch.finfo(self.wide).min


@wrong("future-pushed-down-then-emptied")
class PushedDown(Walk):
    """{It} adds -10000 to the scores of hidden keys and empties queries that see nothing; a large score of a later key comes through.

    Example: T_q = T_k = 2, causal, scores 1 and 10003 for query 0: hidden key 1 stands at 3, above the visible key.
    Why: a number that is added hides a score only as long as scores are small beside it; -inf hides any.
    Look at: where -1e4 is added; `masked_fill` or `where` with -inf takes its place.
    """

    def hide(self, s, keys):
        return s + -1e4 * ~self.visible(self.rows(), keys) if self.causal else s

    def finish(self, m, l, o):
        out, lse = super().finish(m, l, o)
        empty = self.rows() + (self.t_k - self.t_q) < 0 if self.causal else torch.zeros_like(self.rows(), dtype=torch.bool)
        return out.masked_fill(empty, 0.0), lse.masked_fill(empty[:, 0], NONE)
