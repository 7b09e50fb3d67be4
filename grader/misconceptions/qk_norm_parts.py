"""Pieces that the wrong answers of exercise 05 share: norms with one thing changed, with and without the refusals."""

import sys

import torch
from attngrade.solutions import exercise05_qk_norm as right
from attngrade.solutions.exercise05_qk_norm import QKNorm


def on_stage():
    """The solution as it is cast right now; a fresh module for each cast."""
    return sys.modules.get("solution_on_stage", right)


def norm(x, gain, eps=1e-6):
    """rms_norm as it is cast, so that a mistake in it shows in what calls it."""
    return getattr(on_stage(), "rms_norm", right.rms_norm)(x, gain, eps)


def widened(x):
    return x.to(torch.promote_types(x.dtype, torch.float32))


def mean_square(x, dim=-1):
    return x.square().mean(dim=dim, keepdim=True)


def refuse_misfit(x, gain):
    """The refusals of rms_norm alone."""
    right.rms_norm(x, gain)


def refuse_pair(q, k, q_gain, k_gain):
    """The refusals of QKNorm's forward and of qk_norm_logits alone."""
    right.qk_norm_logits(q.detach(), k.detach(), q_gain.detach(), k_gain.detach())


def fitted(x, gain, formula):
    """``formula`` on x in float32 at least, in the dtype of x again; what doesn't fit is refused."""
    refuse_misfit(x, gain)
    return formula(widened(x)).to(x.dtype)


def length_norm(x, gain, eps):
    return fitted(x, gain, lambda w: w / (w.square().sum(-1, keepdim=True) + eps).sqrt() * gain)


def norm_without_refusals(x, gain, eps):
    """What broadcasts passes; the rest is torch's own error."""
    return (widened(x) / (mean_square(widened(x)) + eps).sqrt() * gain).to(x.dtype)


def half_norm(x, gain, eps):
    """Squared and averaged in the dtype of x."""
    return (x / (mean_square(x) + eps).sqrt() * gain).to(x.dtype)


def promoted_norm(x, gain, eps):
    """Computed in float32 and left there."""
    return widened(x) / (mean_square(widened(x)) + eps).sqrt() * gain


def norm_over(*wanted):
    """rms_norm whose mean runs over the wrong axes, as far as x has them."""

    def over(x, gain, eps):
        dims = [dim for dim in wanted if -x.dim() <= dim < x.dim()] or [-1]
        return fitted(x, gain, lambda w: w / (mean_square(w, dims) + eps).sqrt() * gain)

    return over


def dots(q_hat, k_hat):
    return q_hat @ k_hat.transpose(-2, -1)


def with_logits(logits):
    """qk_norm_logits with another last step; ``logits`` takes q, k (both widened), the gains and eps."""

    def function(q, k, q_gain, k_gain, eps=1e-6):
        refuse_pair(q, k, q_gain, k_gain)
        return logits(widened(q), widened(k), q_gain, k_gain, eps).to(q.dtype)

    return function


def normed(power):
    return with_logits(lambda q, k, q_gain, k_gain, eps: dots(norm(q, q_gain, eps), norm(k, k_gain, eps)) * power(q, k))


class Refusing(QKNorm):
    """The right refusals, and another thing to do after them."""

    def forward(self, q, k):
        refuse_pair(q, k, self.q_gain, self.k_gain)
        return self.norms(q, k)
