# right: Squares of 1e200 overflow: each vector is first divided by (a constant equal to) its largest component, and eps follows.
"""Squares of 1e200 overflow: each vector is first divided by (a constant equal to) its largest component, and eps follows."""

import torch
from torch import nn


def _need(condition, message):
    if not condition:
        raise ValueError(message)


def _rms_hat(x, eps):
    a = x.detach().abs().amax(-1, keepdim=True)
    a = torch.where(a > 0, a, torch.ones_like(a))
    u = x / a
    # sqrt(mean(x^2) + eps) = a sqrt(mean(u^2) + eps / a^2)
    return u / torch.sqrt(u.square().mean(-1, keepdim=True) + (eps**0.5 / a).square())


def rms_norm(x, gain, eps=1e-6):
    _need(x.dim() > 0, "x has no axis")
    _need(gain.shape == x.shape[-1:], f"gain has the shape {tuple(gain.shape)}")
    _need(eps >= 0, "eps is negative")
    if x.numel() == 0:
        return torch.empty_like(x)
    return (_rms_hat(x.to(torch.float64), eps) * gain.to(torch.float64)).to(x.dtype)


class QKNorm(nn.Module):
    __constants__ = ["head_dim", "eps"]

    def __init__(self, head_dim, eps=1e-6):
        super().__init__()
        _need(head_dim >= 1, "head_dim is below 1")
        _need(eps >= 0, "eps is negative")
        self.head_dim = head_dim
        self.eps = eps
        self.q_gain = nn.Parameter(torch.full((head_dim,), 1.0))
        self.k_gain = nn.Parameter(torch.full((head_dim,), 1.0))

    def forward(self, q, k):
        _fit(q, k, self.head_dim)
        return rms_norm(q, self.q_gain, self.eps), rms_norm(k, self.k_gain, self.eps)


def _fit(q, k, width):
    _need(q.dim() == 4, "q is not of rank 4")
    _need(k.dim() == 4, "k is not of rank 4")
    width = q.shape[-1] if width is None else width
    _need(q.shape[-1] == width, f"q is not {width} wide")
    _need(k.shape[-1] == width, f"k is not {width} wide")
    _need(q.shape[1] == k.shape[1], "q and k have different heads")
    _need(q.shape[0] == k.shape[0], "q and k have different batches")


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    _fit(q, k, None)
    _need(q_gain.shape == q.shape[-1:], "q_gain doesn't fit")
    _need(k_gain.shape == q.shape[-1:], "k_gain doesn't fit")
    _need(eps >= 0, "eps is negative")
    _need(q.numel() > 0 and k.numel() > 0, "q or k is empty")
    a = _rms_hat(q.double(), eps) * (q_gain.double() / q.shape[-1] ** 0.25)
    b = _rms_hat(k.double(), eps) * (k_gain.double() / q.shape[-1] ** 0.25)
    return torch.matmul(a, b.mT).to(q.dtype)


def logit_bound(q_gain, k_gain):
    _need(q_gain.dim() == 1 and q_gain.numel() > 0, "q_gain isn't a vector")
    _need(k_gain.shape == q_gain.shape, "k_gain isn't shaped like q_gain")
    product = torch.abs(q_gain.detach().double()) * torch.abs(k_gain.detach().double())
    return float(product.sort(descending=True).values[0] * torch.tensor(product.numel(), dtype=torch.float64).sqrt())


def saturation(logits):
    _need(logits.dim() > 0, "logits has no axis")
    _need(logits.numel() > 0, "logits is empty")
    z = logits.detach().double()
    top = z.argmax(-1, keepdim=True)
    e = (z - z.gather(-1, top)).exp()
    others = e.scatter(-1, top, 0.0)
    rest = others.sum(-1)
    total = 1 + rest
    p, p_top, q2 = others / total[..., None], 1 / total, (others / total[..., None]).square().sum(-1)
    inside = (p * (1 - p)).square().sum(-1) + q2.square() - p.pow(4).sum(-1)
    return float((inside + (p_top * rest / total).square() + 2 * p_top.square() * q2).sqrt().mean())
