# right: One gain is enough for the logits: (g_q q^) . (g_k k^) = (g_q g_k q^) . k^, and the factor Dh of the norms is shared out.
"""One gain is enough for the logits: (g_q q^) . (g_k k^) = (g_q g_k q^) . k^, and the factor Dh of the norms is shared out."""

import math

import torch
from torch import nn

F64 = torch.float64


def _gain_or_raise(gain, d, label):
    if tuple(gain.shape) != (d,):
        raise ValueError(f"{label} is {tuple(gain.shape)}, ({d},) is needed")


def _unit(x, eps):
    # x / sqrt(|x|**2 + Dh eps): the RMS norm without its factor sqrt(Dh)
    d = x.shape[-1]
    x = x.to(F64)
    return x * (torch.einsum("...i,...i->...", x, x) + d * eps).rsqrt().unsqueeze(-1)


def rms_norm(x, gain, eps=1e-6):
    if x.ndim < 1:
        raise ValueError("x is a scalar, a vector is needed")
    _gain_or_raise(gain, x.shape[-1], "gain")
    if eps < 0:
        raise ValueError(f"eps={eps} is negative")
    return torch.einsum("...i,i->...i", _unit(x, eps), gain.to(F64) * math.sqrt(x.shape[-1])).to(x.dtype)


class QKNorm(nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        super().__init__()
        if head_dim < 1:
            raise ValueError(f"head_dim={head_dim} is below 1")
        if eps < 0:
            raise ValueError(f"eps={eps} is negative")
        self.head_dim, self.eps = head_dim, eps
        for name in "qk":
            self.register_parameter(f"{name}_gain", nn.Parameter(torch.ones(head_dim)))

    def forward(self, q, k):
        for label, t in (("q", q), ("k", k)):
            if t.ndim != 4 or t.shape[-1] != self.head_dim:
                raise ValueError(f"{label} is {tuple(t.shape)}, (B, H, T, {self.head_dim}) is needed")
        if q.shape[:2] != k.shape[:2]:
            raise ValueError(f"q and k disagree: {tuple(q.shape[:2])} and {tuple(k.shape[:2])}")
        return rms_norm(q, self.q_gain, self.eps), rms_norm(k, self.k_gain, self.eps)


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    for label, t in (("q", q), ("k", k)):
        if t.ndim != 4:
            raise ValueError(f"{label} is {tuple(t.shape)}, rank 4 is needed")
    if (q.shape[0], q.shape[1], q.shape[3]) != (k.shape[0], k.shape[1], k.shape[3]):
        raise ValueError(f"q and k disagree: {tuple(q.shape)} and {tuple(k.shape)}")
    d = q.shape[-1]
    _gain_or_raise(q_gain, d, "q_gain")
    _gain_or_raise(k_gain, d, "k_gain")
    if eps < 0:
        raise ValueError(f"eps={eps} is negative")
    both = q_gain.to(F64) * k_gain.to(F64) * math.sqrt(d)
    return torch.einsum("bhid,bhjd,d->bhij", _unit(q, eps), _unit(k, eps), both).to(q.dtype)


def logit_bound(q_gain, k_gain):
    if q_gain.ndim != 1 or q_gain.numel() < 1:
        raise ValueError(f"q_gain is {tuple(q_gain.shape)}")
    _gain_or_raise(k_gain, q_gain.numel(), "k_gain")
    with torch.no_grad():
        return math.sqrt(q_gain.numel()) * float(torch.linalg.vector_norm(q_gain.to(F64) * k_gain.to(F64), ord=math.inf))


def saturation(logits):
    if logits.ndim < 1 or logits.numel() < 1:
        raise ValueError(f"logits is {tuple(logits.shape)}, at least one number on one axis is needed")
    with torch.no_grad():
        p = logits.to(F64).reshape(-1, logits.shape[-1]).softmax(1)
        total = 0.0
        for row in p:
            total += float(torch.linalg.matrix_norm(torch.diag(row) - torch.outer(row, row)))
        return total / len(p)
