"""What people get wrong in exercise 05: what the module QKNorm computes."""

import math

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.qk_norm_parts import Refusing, half_norm, norm, norm_over, promoted_norm
from attngrade.solutions.exercise05_qk_norm import QKNorm


@misconception("gains-swapped", of="QKNorm")
class GainsSwapped(Refusing):
    """Your module multiplies the queries by k_gain and the keys by q_gain.

    Example: q_gain = 2, k_gain = 1: right are queries twice as large, yours are the keys.
    Why: the logits can't tell, but whoever loads or inspects the module can: q_gain belongs to q.
    Look at: which gain goes into which call.
    """

    def norms(self, q, k):
        return norm(q, self.k_gain, self.eps), norm(k, self.q_gain, self.eps)


@misconception("one-gain-for-both", of="QKNorm")
class OneGainForBoth(Refusing):
    """Your module uses q_gain for the keys too; each side has its own gain.

    Example: q_gain = 2, k_gain = 1: your keys come out twice as large.
    Why: k_gain gets no gradient then, and stays at one for ever.
    Look at: the second call of rms_norm.
    """

    def norms(self, q, k):
        return norm(q, self.q_gain, self.eps), norm(k, self.q_gain, self.eps)


@misconception("key-gain-for-both", of="QKNorm", extends="one-gain-for-both")
class KeyGainForBoth(Refusing):
    """Your module uses k_gain for the queries too; each side has its own gain.

    Example: q_gain = 2, k_gain = 1: your queries come out half as large as they should.
    Why: q_gain gets no gradient then, and stays at one for ever.
    Look at: the first call of rms_norm.
    """

    def norms(self, q, k):
        return norm(q, self.k_gain, self.eps), norm(k, self.k_gain, self.eps)


@misconception("keys-left-alone", of="QKNorm", question="qk-norm")
class KeysLeftAlone(Refusing):
    """Your module normalises the queries only; the keys go through unchanged.

    Example: keys a thousand times larger come out a thousand times larger.
    Why: the logit is bounded only if both lengths are fixed.
    Look at: the second value that forward returns.
    """

    def norms(self, q, k):
        return norm(q, self.q_gain, self.eps), k


@misconception("queries-left-alone", of="QKNorm", question="qk-norm")
class QueriesLeftAlone(Refusing):
    """Your module normalises the keys only; the queries go through unchanged.

    Example: queries a thousand times larger come out a thousand times larger.
    Why: the logit is bounded only if both lengths are fixed.
    Look at: the first value that forward returns.
    """

    def norms(self, q, k):
        return q, norm(k, self.k_gain, self.eps)


@misconception("module-norm-never-used", of="QKNorm", question="qk-norm")
class ModuleNormNeverUsed(Refusing):
    """Your module builds its gains and never applies the norm: forward hands q and k back as they came.

    Example: q times 1000 must come out as before, yours is 1000 times larger.
    Why: creating a layer does nothing; forward has to call it.
    Look at: the return line of forward.
    """

    def norms(self, q, k):
        return q, k


@misconception("module-gains-ignored", of="QKNorm")
class ModuleGainsIgnored(Refusing):
    """Your module normalises but never multiplies by the gains it has now: by none at all, or by a copy from its construction.

    Example: load q_gain = 2: right are queries twice as large, yours don't change.
    Why: at the start the gains are ones, so it goes unnoticed until they are learned or loaded.
    Look at: self.q_gain and self.k_gain in forward, and anything computed from them outside it.
    """

    def norms(self, q, k):
        one = torch.ones_like(self.q_gain)
        return norm(q, one, self.eps), norm(k, one, self.eps)


@misconception("module-remembers-by-shape", of="QKNorm")
class ModuleRemembersByShape(Refusing):
    """Your module keeps its results by the shapes of q and k, and hands out old ones for new values or new gains.

    Example: load q_gain = 2 and call again with the same q: right is twice the result, yours is the old one.
    Why: a shape says nothing about the numbers; a cache needs a key that does.
    Look at: a dict or lru_cache in the module.
    """

    def __init__(self, head_dim, eps=1e-6):
        super().__init__(head_dim, eps)
        self.seen = {}

    def norms(self, q, k):
        if (q.shape, k.shape) not in self.seen:
            self.seen[q.shape, k.shape] = norm(q, self.q_gain, self.eps), norm(k, self.k_gain, self.eps)
        return self.seen[q.shape, k.shape]


@misconception("module-gains-detached", of="QKNorm")
class ModuleGainsDetached(Refusing):
    """Your module takes its gains out of the graph, so they get no gradient and are never learned.

    Example: after backward, q_gain.grad is None.
    Why: .data and detach() hand out the numbers without the history.
    Look at: self.q_gain.data or self.q_gain.detach() in forward.
    """

    def norms(self, q, k):
        return norm(q, self.q_gain.detach(), self.eps), norm(k, self.k_gain.detach(), self.eps)


@misconception("module-results-detached", of="QKNorm")
class ModuleResultsDetached(Refusing):
    """Your module's results carry no graph: no gradient reaches q, k or the gains.

    Example: loss.backward() raises an error.
    Why: no_grad, detach or .data ends the graph.
    Look at: the way forward computes its results.
    """

    def norms(self, q, k):
        return norm(q, self.q_gain, self.eps).detach(), norm(k, self.k_gain, self.eps).detach()


@misconception("module-eps-forgotten", of="QKNorm")
class ModuleEpsForgotten(Refusing):
    """Your module takes eps and doesn't pass it on: the norms always run with 1e-6.

    Example: QKNorm(5, eps=0.5) on vectors of ones: right is 0.816, yours is 1.
    Why: an argument that isn't stored and handed to both calls has no effect.
    Look at: self.eps in both calls of the norm.
    """

    def norms(self, q, k):
        return norm(q, self.q_gain), norm(k, self.k_gain)


@misconception("module-eps-for-queries-only", of="QKNorm", extends="module-eps-forgotten")
class ModuleEpsForQueriesOnly(Refusing):
    """Your module passes eps to the norm of the queries and forgets it for the keys.

    Example: QKNorm(5, eps=0.5): the keys come out as if eps were 1e-6.
    Why: both norms share the module's eps.
    Look at: the second call of the norm.
    """

    def norms(self, q, k):
        return norm(q, self.q_gain, self.eps), norm(k, self.k_gain)


@misconception("module-eps-default-1e-5", of="QKNorm")
class ModuleEpsDefault1em5(QKNorm):
    """Your module's default eps is 1e-5; the exercise asks for 1e-6.

    Example: q of size 0.001: yours has a root mean square of 0.30, right is 0.71.
    Why: the default decides what happens to small vectors.
    Look at: the signature of __init__.
    """

    def __init__(self, head_dim, eps=1e-5):
        super().__init__(head_dim, eps)


@misconception("module-eps-default-1e-8", of="QKNorm")
class ModuleEpsDefault1em8(QKNorm):
    """Your module's default eps is 1e-8; the exercise asks for 1e-6.

    Example: q of size 0.001: yours has a root mean square of 1, right is 0.71.
    Why: the default decides what happens to small vectors.
    Look at: the signature of __init__.
    """

    def __init__(self, head_dim, eps=1e-8):
        super().__init__(head_dim, eps)


@misconception("module-norm-over-heads", of="QKNorm")
class ModuleNormOverHeads(Refusing):
    """Your module normalises across the heads (axis 1); each head's vector is normalised over its own Dh.

    Example: heads of sizes 1, 100, 1000 must come out equally large, yours keep their ratio.
    Why: heads are independent; a loud head must not silence the others.
    Look at: the axis of the mean, -1.
    """

    def norms(self, q, k):
        return norm_over(1)(q, self.q_gain, self.eps), norm_over(1)(k, self.k_gain, self.eps)


@misconception("module-norm-over-tokens", of="QKNorm")
class ModuleNormOverTokens(Refusing):
    """Your module normalises across the tokens (axis 2); each token's vector is normalised over its own Dh.

    Example: tokens of sizes 1, 10, 100 must come out equally large, yours keep their ratio.
    Why: a token's norm must not depend on later tokens.
    Look at: the axis of the mean, -1.
    """

    def norms(self, q, k):
        return norm_over(2)(q, self.q_gain, self.eps), norm_over(2)(k, self.k_gain, self.eps)


@misconception("module-norm-over-all-heads-together", of="QKNorm")
class ModuleNormOverAllHeadsTogether(Refusing):
    """Your module takes one mean over all heads of a token, H * Dh numbers; each head has a norm of its own.

    Example: heads of sizes 1, 100, 1000 must come out equally large, yours keep their ratio.
    Why: the logit of a head is bounded only if that head's vectors have a fixed length.
    Look at: the norm comes after the split into heads, over Dh alone.
    """

    def norms(self, q, k):
        return norm_over(1, 3)(q, self.q_gain, self.eps), norm_over(1, 3)(k, self.k_gain, self.eps)


@misconception("module-returns-a-list", of="QKNorm")
class ModuleReturnsAList(Refusing):
    """Your forward returns a list; several results come as a tuple.

    Example: QKNorm(4)(q, k) must be (q_hat, k_hat).
    Why: a tuple of fixed length is what callers unpack and what torch's own modules return.
    Look at: the brackets in the return line.
    """

    def norms(self, q, k):
        return [norm(q, self.q_gain, self.eps), norm(k, self.k_gain, self.eps)]


@misconception("module-returns-keys-first", of="QKNorm")
class ModuleReturnsKeysFirst(Refusing):
    """Your forward returns the keys first; the order is (q_hat, k_hat).

    Example: with 4 queries and 5 keys the first result must have 4 tokens, yours has 5.
    Why: arguments and results come in the same order.
    Look at: the return line of forward.
    """

    def norms(self, q, k):
        return norm(k, self.k_gain, self.eps), norm(q, self.q_gain, self.eps)


@misconception("module-stacks-its-results", of="QKNorm")
class ModuleStacksItsResults(Refusing):
    """Your forward packs both results into one tensor; a tuple of two is asked, and T_q and T_k may differ.

    Example: 4 queries and 5 keys can't be stacked.
    Why: q_hat and k_hat only have the same shape when T_q = T_k.
    Look at: torch.stack in forward.
    """

    def norms(self, q, k):
        return torch.stack([norm(q, self.q_gain, self.eps), norm(k, self.k_gain, self.eps)])


@misconception("module-returns-logits", of="QKNorm")
class ModuleReturnsLogits(Refusing):
    """Your forward returns logits; asked are the two normalised tensors, (q_hat, k_hat).

    Example: QKNorm(4)(q, k) must be a tuple of two tensors, shaped like q and k.
    Why: the module only norms; the dot products are qk_norm_logits' business.
    Look at: the return line of forward.
    """

    def norms(self, q, k):
        return norm(q, self.q_gain, self.eps) @ norm(k, self.k_gain, self.eps).mT / math.sqrt(q.shape[-1])


@misconception("module-demands-equal-lengths", of="QKNorm")
class ModuleDemandsEqualLengths(QKNorm):
    """Your module refuses queries and keys of different number; T_q and T_k may differ.

    Example: 4 queries over 5 keys, as with a cache, must work.
    Why: each token is normalised by itself, so the counts need not agree.
    Look at: a comparison of whole shapes where heads and width are meant.
    """

    def forward(self, q, k):
        if q.shape != k.shape:
            raise ValueError("q and k must have the same shape")
        return super().forward(q, k)


@misconception("module-in-half-precision", of="QKNorm")
class ModuleInHalfPrecision(Refusing):
    """Your module squares float16 numbers in float16: 300 squared is inf there, and the result 0.

    Example: q = (300, 300) in float16: right is (1, 1), yours is (0, 0).
    Why: squares and means belong in float32, also inside the module.
    Look at: q.float() before the square, .to(q.dtype) after the gain.
    """

    def norms(self, q, k):
        return half_norm(q, self.q_gain, self.eps), half_norm(k, self.k_gain, self.eps)


@misconception("module-dtype-of-its-gains", of="QKNorm")
class ModuleDtypeOfItsGains(Refusing):
    """Your module's float32 gains turn float16 queries and keys into float32 results.

    Example: q float16: q_hat must be float16 as well.
    Why: torch promotes to the wider dtype; the result has to be cast back after the gain.
    Look at: .to(q.dtype) at the end of each norm.
    """

    def norms(self, q, k):
        return promoted_norm(q, self.q_gain, self.eps), promoted_norm(k, self.k_gain, self.eps)


@misconception("module-always-in-float32", of="QKNorm")
class ModuleAlwaysInFloat32(Refusing):
    """Your module returns float32 whatever it is given; q_hat and k_hat have the dtype of q and k.

    Example: q float16: q_hat must be float16 as well.
    Why: .float() at the start has no counterpart at the end.
    Look at: .to(q.dtype) at the end of each norm.
    """

    def norms(self, q, k):
        return norm(q.float(), self.q_gain, self.eps), norm(k.float(), self.k_gain, self.eps)


@misconception("module-float64-through-float32", of="QKNorm")
class ModuleFloat64ThroughFloat32(Refusing):
    """Your module converts to float32 always, so float64 input loses half of its digits.

    Example: float64 q: q_hat agrees with the right one to 7 digits; asked are 9 and more.
    Why: .float() widens float16 and narrows float64.
    Look at: convert only what is narrower than float32.
    """

    def norms(self, q, k):
        return norm(q.float(), self.q_gain, self.eps).to(q.dtype), norm(k.float(), self.k_gain, self.eps).to(k.dtype)
