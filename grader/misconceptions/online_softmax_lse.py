"""What people get wrong in exercise 06: the log of the normaliser, in which base and of what. {It} as in the files beside."""

import torch
from attngrade.misconceptions.online_softmax_walk import Walk, wrong

LN2 = 0.6931471805599453


# ---------------------------------------------------------------- lse


@wrong("lse-in-base-two")
class BaseTwo(Walk):
    """{It} returns lse in base 2; the natural log is asked.

    Example: two keys with score 0: you return 1, and log 2 = 0.693 is right.
    Why: with log2(e) folded into the scale, m and log2(l) are in base 2: multiply by log 2 at the end.
    Look at: `log2`, or an m that was taken of scaled-up scores.
    """

    def lse(self, m, l):
        return super().lse(m, l) / LN2


@wrong("lse-mixes-two-bases")
class MixedBases(Walk):
    """{It} adds a maximum in base 2 to a natural logarithm.

    Example: one key with score 1: you return 1.443, and 1 is right.
    Why: with log2(e) folded into the scale m is in base 2; l is a plain number either way. So lse = m * log 2 + log(l).
    Look at: the m in m + log(l).
    """

    def lse(self, m, l):
        return m / LN2 + torch.log(self.safe(l))


@wrong("lse-takes-log2-of-the-sum")
class LogTwoOfSum(Walk):
    """{It} adds log2(l) to a natural maximum.

    Example: two keys with score 0: you return 1, and log 2 = 0.693 is right.
    Why: lse = m + log(l) with the natural log.
    Look at: `log2`.
    """

    def lse(self, m, l):
        return m + torch.log2(self.safe(l))


@wrong("lse-without-the-maximum")
class WithoutMaximum(Walk):
    """{It} returns log(l) and forgets the maximum.

    Example: one key with score 5: you return 0, and 5 is right.
    Why: l = sum exp(s - m), so log sum exp(s) = m + log(l).
    Look at: the line that sets lse.
    """

    def lse(self, m, l):
        return torch.log(l)


@wrong("lse-is-the-maximum")
class MaximumAlone(Walk):
    """{It} returns the maximum as lse and forgets log(l).

    Example: two keys with score 0: you return 0, and log 2 = 0.693 is right.
    Why: log sum exp(s) = m + log(l).
    Look at: the line that sets lse.
    """

    def lse(self, m, l):
        return m


@wrong("lse-is-the-sum")
class SumAlone(Walk):
    """{It} returns the sum l in place of its logarithm.

    Example: two keys with score 0: you return 2, and log 2 = 0.693 is right.
    Why: lse = m + log(l).
    Look at: the line that sets lse.
    """

    def lse(self, m, l):
        return l


@wrong("lse-adds-the-sum")
class SumAdded(Walk):
    """{It} returns m + l, without the logarithm.

    Example: two keys with score 0: you return 2, and log 2 = 0.693 is right.
    Why: lse = m + log(l).
    Look at: the line that sets lse.
    """

    def lse(self, m, l):
        return m + l


@wrong("lse-negated")
class Negated(Walk):
    """{It} returns lse with the wrong sign.

    Example: one key with score 5: you return -5, and 5 is right.
    Why: lse = m + log(l).
    Look at: the signs in the line that sets lse.
    """

    def lse(self, m, l):
        return -super().lse(m, l)


@wrong("lse-subtracts-the-log")
class Subtracted(Walk):
    """{It} returns m - log(l); the logarithm has to be added.

    Example: two keys with score 0: you return -0.693, and 0.693 is right.
    Why: sum exp(s) = exp(m) l, so lse = m + log(l).
    Look at: the sign in the line that sets lse.
    """

    def lse(self, m, l):
        return m - torch.log(self.safe(l))


@wrong("lse-of-bare-scores")
class BareLse(Walk):
    """{It} returns the lse of the scores before they were scaled; the contract's lse is that of the scaled ones.

    Example: one key with q . k = 8, Dh=16: you return 8, and 2 is right.
    Why: lse is the log of the normaliser that the weights are divided by.
    Look at: which scores the maximum and the sum behind lse are taken of.
    """

    def run(self):
        class Bare(Walk):
            def scale(self):
                return 1.0

        return super().run()[0], Bare(self.q, self.k, self.v, self.block_size, self.causal).run()[1]


@wrong("lse-in-the-inputs-dtype")
class LseDtype(Walk):
    """{It} returns lse in the dtype of the inputs; it is float32 always.

    Example: float16 (or float64) inputs: lse comes back in their dtype.
    Why: lse is used to merge and to differentiate later; half precision is too coarse for an exponent.
    Look at: the dtype of the tensor that holds lse.
    """

    def finish(self, m, l, o):
        out, _ = super().finish(m, l, o)
        return out, self.lse(m, l).to(self.q.dtype)


@wrong("lse-keeps-an-axis")
class LseAxis(Walk):
    """{It} returns lse with a last axis of size 1; its shape is (B, H, T_q).

    Example: shape (2, 3, 5, 1) where (2, 3, 5) is asked.
    Why: one number for each query.
    Look at: `keepdim=True`: squeeze it away at the end.
    """

    def finish(self, m, l, o):
        out, lse = super().finish(m, l, o)
        return out, lse.unsqueeze(-1)


@wrong("lse-transposed")
class LseTransposed(Walk):
    """{It} returns lse as (B, T_q, H); it is (B, H, T_q).

    Example: shape (2, 5, 3) where (2, 3, 5) is asked.
    Why: lse goes with out, which is (B, H, T_q, Dh).
    Look at: the shape in which lse was allocated.
    """

    def finish(self, m, l, o):
        out, lse = super().finish(m, l, o)
        return out, lse.transpose(1, 2).contiguous()
