"""What people get wrong in exercise 05: what the module QKNorm refuses."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.qk_norm_parameters import Unrefusing
from attngrade.solutions.exercise05_qk_norm import QKNorm
from torch import nn


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
