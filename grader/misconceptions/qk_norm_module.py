"""What people get wrong in exercise 05: the module QKNorm."""

import math

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.qk_norm_parts import half_norm, norm, norm_over, norm_without_refusals, on_stage, promoted_norm, refuse_pair
from attngrade.solutions.exercise05_qk_norm import QKNorm
from torch import nn


class Refusing(QKNorm):
    """The right refusals, and another thing to do after them."""

    def forward(self, q, k):
        refuse_pair(q, k, self.q_gain, self.k_gain)
        return self.norms(q, k)


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


@misconception("gains-are-buffers", of="QKNorm")
class GainsAreBuffers(QKNorm):
    """Your module's gains are buffers, not parameters: no optimiser will ever see them.

    Example: list(QKNorm(4).parameters()) is empty where two are asked.
    Why: only nn.Parameter registers a tensor for training.
    Look at: register_buffer; use nn.Parameter(torch.ones(head_dim)).
    """

    def __init__(self, head_dim, eps=1e-6):
        super().__init__(head_dim, eps)
        for name in ("q_gain", "k_gain"):
            value = getattr(self, name).detach()
            delattr(self, name)
            self.register_buffer(name, value)


@misconception("gains-are-plain-tensors", of="QKNorm")
class GainsArePlainTensors(QKNorm):
    """Your module's gains are plain tensors: they are no parameters and not in the state dict.

    Example: QKNorm(4).state_dict() is empty where q_gain and k_gain are asked.
    Why: nn.Module only registers nn.Parameter (and buffers); a tensor attribute is neither trained nor saved.
    Look at: nn.Parameter(torch.ones(head_dim)).
    """

    def __init__(self, head_dim, eps=1e-6):
        super().__init__(head_dim, eps)
        for name in ("q_gain", "k_gain"):
            value = getattr(self, name).detach()
            delattr(self, name)
            setattr(self, name, value)


@misconception("gains-frozen", of="QKNorm")
class GainsFrozen(QKNorm):
    """Your module's gains don't require gradients, so they stay at one for ever.

    Example: QKNorm(4).q_gain.requires_grad is False.
    Why: a gain is learned; requires_grad=False takes it out of training.
    Look at: requires_grad where the parameters are made.
    """

    def __init__(self, head_dim, eps=1e-6):
        super().__init__(head_dim, eps)
        self.requires_grad_(False)


@misconception("gains-start-at-zero", of="QKNorm")
class GainsStartAtZero(QKNorm):
    """Your module's gains start at 0, so every result is 0; they start as ones.

    Example: QKNorm(4)(q, k) on any q is all zeros.
    Why: zeros are the start of an offset from 1, and here the gain is the multiplier itself.
    Look at: torch.zeros in __init__.
    """

    def __init__(self, head_dim, eps=1e-6):
        super().__init__(head_dim, eps)
        nn.init.zeros_(self.q_gain)
        nn.init.zeros_(self.k_gain)


@misconception("module-gain-as-an-offset", of="QKNorm", extends="gains-start-at-zero")
class ModuleGainAsAnOffset(Refusing):
    """Your module stores the offset from 1 (zeros at the start) and multiplies by 1 + gain; the gain is the multiplier itself.

    Example: load q_gain = 2: right is twice the norm, yours is three times.
    Why: both conventions exist; the contract's gains start as ones and multiply.
    Look at: torch.zeros in __init__ and 1 + self.q_gain in forward.
    """

    def __init__(self, head_dim, eps=1e-6):
        super().__init__(head_dim, eps)
        nn.init.zeros_(self.q_gain)
        nn.init.zeros_(self.k_gain)

    def norms(self, q, k):
        return norm(q, 1 + self.q_gain, self.eps), norm(k, 1 + self.k_gain, self.eps)


@misconception("gains-start-at-random", of="QKNorm")
class GainsStartAtRandom(QKNorm):
    """Your module's gains start at random; they start as ones.

    Example: QKNorm(4).q_gain must be (1, 1, 1, 1).
    Why: with ones the module begins as a plain norm, and every head with the same sharpness.
    Look at: randn or rand in __init__.
    """

    def __init__(self, head_dim, eps=1e-6):
        super().__init__(head_dim, eps)
        with torch.no_grad():
            for gain in self.parameters():
                gain.copy_(torch.linspace(0.3, 1.7, head_dim) if head_dim > 1 else torch.tensor([0.3]))


@misconception("gains-start-at-a-scale", of="QKNorm")
class GainsStartAtAScale(QKNorm):
    """Your module's gains start at a power of head_dim; they start as ones.

    Example: QKNorm(4).q_gain must be (1, 1, 1, 1).
    Why: the scale 1 / sqrt(Dh) belongs to the logits, not to the gains.
    Look at: what the ones in __init__ are multiplied by.
    """

    def __init__(self, head_dim, eps=1e-6):
        super().__init__(head_dim, eps)
        with torch.no_grad():
            for gain in self.parameters():
                gain.mul_(head_dim**-0.5)


@misconception("one-number-as-gain", of="QKNorm")
class OneNumberAsGain(Refusing):
    """Your module has a single number as gain; there is one for each of the head_dim components.

    Example: QKNorm(4).q_gain must have shape (4,).
    Why: RMS norm learns a size per component.
    Look at: the shape of the parameters.
    """

    def __init__(self, head_dim, eps=1e-6):
        super().__init__(head_dim, eps)
        self.q_gain = nn.Parameter(torch.ones(1))
        self.k_gain = nn.Parameter(torch.ones(1))


@misconception("gain-with-extra-axes", of="QKNorm")
class GainWithExtraAxes(QKNorm):
    """Your module's gains have more axes than one; the shape is (head_dim,).

    Example: QKNorm(4).q_gain must have shape (4,), not (1, 1, 1, 4).
    Why: broadcasting lines up the last axes by itself, and saved states have to fit.
    Look at: the shape of the parameters.
    """

    def __init__(self, head_dim, eps=1e-6):
        super().__init__(head_dim, eps)
        self.q_gain = nn.Parameter(torch.ones(1, 1, 1, head_dim))
        self.k_gain = nn.Parameter(torch.ones(1, 1, 1, head_dim))

    def forward(self, q, k):
        refuse_pair(q, k, self.q_gain.flatten(), self.k_gain.flatten())
        return norm(q, self.q_gain.flatten(), self.eps), norm(k, self.k_gain.flatten(), self.eps)


@misconception("norms-as-submodules", of="QKNorm")
class NormsAsSubmodules(QKNorm):
    """Your module keeps its gains in submodules, so the state dict says q_norm.weight; the names are q_gain and k_gain.

    Example: QKNorm(4).state_dict() must have the keys q_gain and k_gain.
    Why: the names of parameters are part of the contract: saved states are loaded by name.
    Look at: self.q_gain = nn.Parameter(...) directly on the module.
    """

    def __init__(self, head_dim, eps=1e-6):
        super().__init__(head_dim, eps)
        for name in ("q", "k"):
            delattr(self, f"{name}_gain")
            inner = nn.Module()
            inner.weight = nn.Parameter(torch.ones(head_dim))
            setattr(self, f"{name}_norm", inner)


@misconception("more-than-two-parameters", of="QKNorm")
class MoreThanTwoParameters(QKNorm):
    """Your module holds more than its two gains.

    Example: the parameters of QKNorm(4) must be q_gain and k_gain, nothing else: no bias, no scale.
    Why: a bias breaks the bound on the logits, and a state with extra entries doesn't load elsewhere.
    Look at: every nn.Parameter in __init__.
    """

    def __init__(self, head_dim, eps=1e-6):
        super().__init__(head_dim, eps)
        self.scale = nn.Parameter(torch.ones(()))


@misconception("module-with-a-bias", of="QKNorm", extends="more-than-two-parameters")
class ModuleWithABias(QKNorm):
    """Your module has a bias beside its two gains.

    Example: the parameters of QKNorm(4) must be q_gain and k_gain, nothing else.
    Why: a bias is added after the norm, so the length is no longer fixed and the logits are no longer bounded by the gains.
    Look at: every nn.Parameter in __init__.
    """

    def __init__(self, head_dim, eps=1e-6):
        super().__init__(head_dim, eps)
        self.bias = nn.Parameter(torch.zeros(head_dim))


@misconception("module-with-two-biases", of="QKNorm", extends="more-than-two-parameters")
class ModuleWithTwoBiases(QKNorm):
    """Your module has a bias beside each gain, like LayerNorm.

    Example: the parameters of QKNorm(4) must be q_gain and k_gain, nothing else.
    Why: a bias is added after the norm, so the length is no longer fixed and the logits are no longer bounded by the gains.
    Look at: every nn.Parameter in __init__.
    """

    def __init__(self, head_dim, eps=1e-6):
        super().__init__(head_dim, eps)
        self.q_bias = nn.Parameter(torch.zeros(head_dim))
        self.k_bias = nn.Parameter(torch.zeros(head_dim))


@misconception("eps-in-the-state", of="QKNorm")
class EpsInTheState(QKNorm):
    """Your module registers eps (or something else) as a buffer, so the state dict has a third entry.

    Example: QKNorm(4).state_dict() must hold q_gain and k_gain and nothing else.
    Why: eps is a setting of the constructor, not something that is saved with the weights.
    Look at: register_buffer; a plain attribute will do, or persistent=False.
    """

    def __init__(self, head_dim, eps=1e-6):
        super().__init__(head_dim)
        del self.eps
        self.register_buffer("eps", torch.tensor(eps, dtype=torch.float64))


@misconception("gains-shared-between-modules", of="QKNorm")
class GainsSharedBetweenModules(QKNorm):
    """Your modules share their gains: loading one changes the other.

    Example: two QKNorm(3), load the first: the second must still hold ones.
    Why: a tensor made once (on the class, in a default or a cache) is one tensor for all.
    Look at: where torch.ones is called; it belongs into __init__.
    """

    def __init__(self, head_dim, eps=1e-6):
        super().__init__(head_dim, eps)
        shared = vars(on_stage()).setdefault("_gains", {})
        self.q_gain, self.k_gain = shared.setdefault(head_dim, (self.q_gain, self.k_gain))


@misconception("one-parameter-under-two-names", of="QKNorm")
class OneParameterUnderTwoNames(QKNorm):
    """Your module has one parameter under two names: q_gain and k_gain are the same tensor.

    Example: training q_gain changes k_gain too.
    Why: assigning a parameter twice makes no copy.
    Look at: self.k_gain = self.q_gain.
    """

    def __init__(self, head_dim, eps=1e-6):
        super().__init__(head_dim, eps)
        self.k_gain = self.q_gain


class Unrefusing(QKNorm):
    """The norms without the refusals; what broadcasts passes, the rest is torch's own error."""

    def forward(self, q, k):
        return norm_without_refusals(q, self.q_gain, self.eps), norm_without_refusals(k, self.k_gain, self.eps)


@misconception("module-refuses-nothing", of="QKNorm")
class ModuleRefusesNothing(Unrefusing):
    """Your module doesn't look at the shapes of q and k: what doesn't fit is broadcast, or ends in torch's RuntimeError.

    Example: q with 3 heads and k with 1, or q of rank 3: asked is a ValueError that names q or k.
    Why: a broadcast shape is a wrong result that looks fine.
    Look at: rank, heads and width of both, before computing.
    """


@misconception("module-takes-any-rank", of="QKNorm")
class ModuleTakesAnyRank(Unrefusing):
    """Your module accepts q and k that are not of rank 4.

    Example: q (B, T, Dh), the heads not split off yet: asked is a ValueError that names q.
    Why: without the axis of heads the result is something else, and nobody notices.
    Look at: q.dim() and k.dim().
    """

    def forward(self, q, k):
        if q.shape[-1] != len(self.q_gain) or k.shape[-1] != len(self.k_gain):
            raise ValueError("q or k is not as wide as head_dim")
        if q.dim() == k.dim() == 4 and q.shape[1] != k.shape[1]:
            raise ValueError("q and k have different heads")
        return super().forward(q, k)


@misconception("module-takes-three-axes", of="QKNorm", extends="module-takes-any-rank")
class ModuleTakesThreeAxes(Unrefusing):
    """Your module accepts q and k of rank 3 (or 5); they are (B, H, T, Dh), nothing else.

    Example: q (B, T, Dh), the heads not split off yet: asked is a ValueError that names q.
    Why: axis 1 is then taken for the heads although it counts tokens.
    Look at: the comparison with q.dim().
    """

    def forward(self, q, k):
        if min(q.dim(), k.dim()) < 3 or q.shape[1] != k.shape[1]:
            raise ValueError("q and k need heads")
        if q.shape[-1] != len(self.q_gain) or k.shape[-1] != len(self.k_gain):
            raise ValueError("q or k is not as wide as head_dim")
        return super().forward(q, k)


@misconception("module-takes-any-rank-with-heads", of="QKNorm", extends="module-takes-any-rank")
class ModuleTakesAnyRankWithHeads(Unrefusing):
    """Your module compares axis 1 of q and k, and their widths, but never looks at their rank.

    Example: q (B, T, Dh), the heads not split off yet: asked is a ValueError that names q.
    Why: without four axes, axis 1 isn't the heads.
    Look at: q.dim() and k.dim().
    """

    def forward(self, q, k):
        if q.shape[1:2] != k.shape[1:2] or q.shape[-1] != len(self.q_gain) or k.shape[-1] != len(self.k_gain):
            raise ValueError("q and k don't fit")
        return super().forward(q, k)


@misconception("module-takes-any-heads", of="QKNorm")
class ModuleTakesAnyHeads(Unrefusing):
    """Your module accepts q and k with different heads.

    Example: q (2, 3, T, Dh) and k (2, 1, T, Dh): asked is a ValueError that names q or k.
    Why: here every query head has its key head; grouped keys are repeated before the norm's result is used.
    Look at: q.shape[1] and k.shape[1].
    """

    def forward(self, q, k):
        if q.dim() != 4 or k.dim() != 4:
            raise ValueError("q and k must have rank 4")
        if q.shape[-1] != len(self.q_gain) or k.shape[-1] != len(self.k_gain):
            raise ValueError("q or k is not as wide as head_dim")
        return super().forward(q, k)


@misconception("module-takes-any-width", of="QKNorm")
class ModuleTakesAnyWidth(Unrefusing):
    """Your module doesn't compare the width of q and k with its head_dim: a width of 1 is broadcast, others end in a RuntimeError.

    Example: QKNorm(4) on q of width 1 or 5: asked is a ValueError that names q, k or head_dim.
    Why: the gains have head_dim numbers, one for each component.
    Look at: q.shape[-1] against the length of the gains.
    """

    def forward(self, q, k):
        if q.dim() != 4 or k.dim() != 4:
            raise ValueError("q and k must have rank 4")
        if q.shape[1] != k.shape[1]:
            raise ValueError("q and k have different heads")
        return super().forward(q, k)


@misconception("module-forgets-its-own-width", of="QKNorm", extends="module-takes-any-width")
class ModuleForgetsItsOwnWidth(ModuleTakesAnyWidth):
    """Your module compares the widths of q and k with each other and not with its head_dim.

    Example: QKNorm(4) on q and k of width 1 or 5: asked is a ValueError that names q, k or head_dim.
    Why: the gains have head_dim numbers, one for each component; a width of 1 is broadcast, others end in a RuntimeError.
    Look at: q.shape[-1] against the length of the gains.
    """

    def forward(self, q, k):
        if q.dim() == k.dim() == 4 and q.shape[-1] != k.shape[-1]:
            raise ValueError("q and k have different widths")
        return super().forward(q, k)


@misconception("assert-in-the-module", of="QKNorm")
class AssertInTheModule(QKNorm):
    """Your module refuses with assert; a ValueError is asked.

    Example: QKNorm(0), or q of rank 3, ends in an AssertionError.
    Why: asserts vanish under `python -O`, and callers can't tell a wrong argument from a broken program.
    Look at: assert; write `if ...: raise ValueError("head_dim ...")`.
    """

    def __init__(self, head_dim, eps=1e-6):
        assert head_dim >= 1
        super().__init__(head_dim, eps)

    def forward(self, q, k):
        try:
            return super().forward(q, k)
        except ValueError as error:
            raise AssertionError(str(error)) from None


@misconception("head-dim-unchecked", of="QKNorm")
class HeadDimUnchecked(QKNorm):
    """Your module doesn't look at head_dim: 0 makes an empty module, and a negative one ends in torch's RuntimeError.

    Example: QKNorm(0) and QKNorm(-1): asked is a ValueError that names head_dim.
    Why: a vector of width 0 has no mean square.
    Look at: the first line of __init__.
    """

    def __init__(self, head_dim, eps=1e-6):
        nn.Module.__init__(self)
        self.q_gain = nn.Parameter(torch.ones(head_dim))
        self.k_gain = nn.Parameter(torch.ones(head_dim))
        self.eps = eps


@misconception("module-refuses-nothing-at-all", of="QKNorm", extends="module-refuses-nothing")
class ModuleRefusesNothingAtAll(HeadDimUnchecked, Unrefusing):
    """Your module refuses nothing, neither a head_dim below 1 nor q and k that don't fit.

    Example: QKNorm(0), or q with 3 heads and k with 1: asked is a ValueError that names the argument.
    Why: a broadcast shape is a wrong result that looks fine, and torch's own errors don't say which argument was wrong.
    Look at: head_dim in __init__; rank, heads and width in forward.
    """


@misconception("head-dim-zero-accepted", of="QKNorm", extends="head-dim-unchecked")
class HeadDimZeroAccepted(HeadDimUnchecked):
    """Your module accepts head_dim = 0; everything below 1 is refused.

    Example: QKNorm(0): asked is a ValueError that names head_dim.
    Why: a vector of width 0 has no mean square.
    Look at: `< 0` where `< 1` belongs.
    """

    def __init__(self, head_dim, eps=1e-6):
        if head_dim < 0:
            raise ValueError("head_dim is negative")
        super().__init__(head_dim, eps)


@misconception("head-dim-negative-accepted", of="QKNorm", extends="head-dim-unchecked")
class HeadDimNegativeAccepted(HeadDimUnchecked):
    """Your module refuses head_dim = 0 and lets negative ones through to torch's own error.

    Example: QKNorm(-1): asked is a ValueError that names head_dim.
    Why: torch raises a RuntimeError, which a caller won't expect for a wrong argument.
    Look at: `== 0` or `not head_dim` where `< 1` belongs.
    """

    def __init__(self, head_dim, eps=1e-6):
        if not head_dim:
            raise ValueError("head_dim is 0")
        super().__init__(head_dim, eps)
