"""Everything runs in float64 and is cast back at the very end."""

import math

import torch
from torch import nn


def _unit_rms(x64, eps):
    return x64 / torch.sqrt((x64 * x64).sum(dim=-1, keepdim=True) / x64.shape[-1] + eps)


def rms_norm(x, gain, eps=1e-6):
    if x.ndim < 1:
        raise ValueError("x needs a last axis to normalise over")
    if gain.ndim != 1 or gain.shape[0] != x.shape[-1]:
        raise ValueError("gain must hold one number per component of x")
    return (_unit_rms(x.to(torch.float64), eps) * gain.to(torch.float64)).to(x.dtype)


def _same_heads(q, k):
    if q.ndim != 4:
        raise ValueError("q must be (B, H, T, Dh)")
    if k.ndim != 4:
        raise ValueError("k must be (B, H, T, Dh)")
    if q.size(1) != k.size(1):
        raise ValueError("k has another number of heads than q")
    if q.size(3) != k.size(3):
        raise ValueError("k has another width than q")


class QKNorm(nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        super().__init__()
        if not head_dim >= 1:
            raise ValueError("head_dim starts at 1")
        self.head_dim, self.eps = head_dim, eps
        self.q_gain = nn.Parameter(torch.ones((head_dim,)))
        self.k_gain = nn.Parameter(torch.ones((head_dim,)))

    def extra_repr(self):
        return f"{self.head_dim}, eps={self.eps}"

    def forward(self, q, k):
        _same_heads(q, k)
        if q.size(3) != self.head_dim:
            raise ValueError("q has another width than this module")
        return (rms_norm(q, self.q_gain, self.eps), rms_norm(k, self.k_gain, self.eps))


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    _same_heads(q, k)
    for name, gain in dict(q_gain=q_gain, k_gain=k_gain).items():
        if list(gain.shape) != [q.size(3)]:
            raise ValueError(f"{name} must hold one number per component")
    q_hat = rms_norm(q.double(), q_gain, eps)
    k_hat = rms_norm(k.double(), k_gain, eps)
    return torch.matmul(q_hat, k_hat.mT).div(math.sqrt(q.size(3))).to(q.dtype)


def logit_bound(q_gain, k_gain):
    if q_gain.ndim != 1 or k_gain.ndim != 1 or q_gain.shape != k_gain.shape:
        raise ValueError("q_gain and k_gain must be two vectors of the same length")
    largest = torch.max(torch.abs(q_gain.double() * k_gain.double()))
    return math.sqrt(q_gain.numel()) * float(largest)


def saturation(logits):
    if logits.ndim == 0:
        raise ValueError("logits is a single number; give rows")
    p = torch.softmax(logits, dim=-1, dtype=torch.float64)
    jacobian = torch.diag_embed(p) - p[..., :, None] * p[..., None, :]
    return float(torch.linalg.matrix_norm(jacobian).mean())
