"""What people get wrong in exercise 06: numbers that are rounded or made up, gradients alone, and what may be asked. {It} as in the files beside."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.online_softmax_walk import BLOCKS, NONE, Walk, in_blocks, refuse_block_size, right, wrong

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
