"""What people get wrong in exercise 05: the parameters of the module QKNorm."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.qk_norm_parts import Refusing, norm, norm_without_refusals, on_stage, refuse_pair
from attngrade.solutions.exercise05_qk_norm import QKNorm
from torch import nn


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


@misconception("eps-in-the-state-as-float32", of="QKNorm", extends="eps-in-the-state")
class EpsInTheStateAsFloat32(QKNorm):
    """Your module registers eps as a float32 buffer, so the state dict has a third entry, and float64 inputs meet an eps of seven digits.

    Example: QKNorm(4).state_dict() must hold q_gain and k_gain and nothing else.
    Why: eps is a setting of the constructor, not something that is saved with the weights.
    Look at: register_buffer; a plain attribute will do, or persistent=False.
    """

    def __init__(self, head_dim, eps=1e-6):
        super().__init__(head_dim)
        del self.eps
        self.register_buffer("eps", torch.tensor(eps, dtype=torch.float32))


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
