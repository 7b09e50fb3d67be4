# mistake: eps is a floor under the mean square
# names: mean-square-floored-at-eps
import math

import torch
from torch import nn


def _inverse_rms(x, eps):
    return x.square().mean(dim=-1, keepdim=True).clamp(min=eps).rsqrt()


def _check(name, gain, width):
    if tuple(gain.shape) != (width,):
        raise ValueError(f"{name}: expected ({width},), got {tuple(gain.shape)}")


def rms_norm(x, gain, eps=1e-6):
    if x.ndim == 0:
        raise ValueError("x: rank 0")
    _check("gain", gain, x.shape[-1])
    if eps < 0:
        raise ValueError("eps: negative")
    h = x.to(torch.float64)
    return (h * _inverse_rms(h, eps) * gain.to(torch.float64)).to(x.dtype)


class QKNorm(nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        if head_dim < 1:
            raise ValueError("head_dim: below 1")
        super().__init__()
        self.head_dim, self.eps = head_dim, eps
        self.q_gain, self.k_gain = nn.Parameter(torch.ones(head_dim)), nn.Parameter(torch.ones(head_dim))

    def forward(self, q, k):
        for name, t in (("q", q), ("k", k)):
            if t.ndim != 4:
                raise ValueError(f"{name}: rank {t.ndim}")
            if t.shape[-1] != self.head_dim:
                raise ValueError(f"{name}: width {t.shape[-1]}")
        if q.shape[:2] != k.shape[:2]:
            raise ValueError("k: other heads than q")
        return rms_norm(q, self.q_gain, self.eps), rms_norm(k, self.k_gain, self.eps)


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    for name, t in (("q", q), ("k", k)):
        if t.ndim != 4:
            raise ValueError(f"{name}: rank {t.ndim}")
    if q.shape[:2] != k.shape[:2] or q.shape[-1] != k.shape[-1]:
        raise ValueError("k: doesn't fit q")
    _check("q_gain", q_gain, q.shape[-1])
    _check("k_gain", k_gain, q.shape[-1])
    a = rms_norm(q.double(), q_gain, eps)
    b = rms_norm(k.double(), k_gain, eps)
    return torch.einsum("bhie,bhje->bhij", a, b).div(math.sqrt(q.shape[-1])).to(q.dtype)


def logit_bound(q_gain, k_gain):
    if q_gain.ndim != 1 or len(q_gain) == 0:
        raise ValueError("q_gain: a vector is needed")
    _check("k_gain", k_gain, len(q_gain))
    return math.sqrt(len(q_gain)) * max(abs(a * b) for a, b in zip(q_gain.tolist(), k_gain.tolist()))


def saturation(logits):
    if logits.ndim == 0:
        raise ValueError("logits: rank 0")
    if logits.numel() == 0:
        raise ValueError("logits: empty")
    p = torch.softmax(logits.detach().double(), dim=-1)
    J = torch.diag_embed(p) - p[..., :, None] * p[..., None, :]
    return J.flatten(-2).norm(dim=-1).mean().item()
