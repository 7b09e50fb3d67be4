import math

import torch
from torch import nn


def _wide(dtype):
    return torch.float64 if dtype == torch.float64 else torch.float32


def rms_norm(x, gain, eps=1e-6):
    if x.dim() == 0:
        raise ValueError("x must have at least one axis")
    if tuple(gain.shape) != (x.shape[-1],):
        raise ValueError(f"gain must be ({x.shape[-1]},), got {tuple(gain.shape)}")
    if eps < 0:
        raise ValueError(f"eps must not be negative, got {eps}")
    wide = x.to(_wide(x.dtype))
    inverse = torch.rsqrt(wide.pow(2).mean(dim=-1, keepdim=True) + eps)
    return (wide * inverse * gain.to(wide.dtype)).to(x.dtype)


def _refuse_pair(q, k):
    for name, t in (("q", q), ("k", k)):
        if t.dim() != 4:
            raise ValueError(f"{name} must have rank 4, got shape {tuple(t.shape)}")
    if q.shape[:2] != k.shape[:2]:
        raise ValueError(f"q and k differ in batch or heads: {tuple(q.shape)}, {tuple(k.shape)}")
    if q.shape[3] != k.shape[3]:
        raise ValueError(f"q and k differ in width: {q.shape[3]}, {k.shape[3]}")


class QKNorm(nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        super().__init__()
        if head_dim < 1:
            raise ValueError(f"head_dim must be at least 1, got {head_dim}")
        if eps < 0:
            raise ValueError(f"eps must not be negative, got {eps}")
        self.q_gain = nn.Parameter(torch.ones(head_dim))
        self.k_gain = nn.Parameter(torch.ones(head_dim))
        self.eps = eps

    def forward(self, q, k):
        _refuse_pair(q, k)
        if q.shape[3] != self.q_gain.shape[0]:
            raise ValueError(f"q has a width of {q.shape[3]}, head_dim is {self.q_gain.shape[0]}")
        return rms_norm(q, self.q_gain, self.eps), rms_norm(k, self.k_gain, self.eps)


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    _refuse_pair(q, k)
    for name, gain in (("q_gain", q_gain), ("k_gain", k_gain)):
        if tuple(gain.shape) != (q.shape[3],):
            raise ValueError(f"{name} must be ({q.shape[3]},), got {tuple(gain.shape)}")
    wide = _wide(q.dtype)
    q_hat = rms_norm(q.to(wide), q_gain, eps)
    k_hat = rms_norm(k.to(wide), k_gain, eps)
    logits = q_hat @ k_hat.transpose(-2, -1)
    return (logits / math.sqrt(q.shape[3])).to(q.dtype)


def logit_bound(q_gain, k_gain):
    if q_gain.numel() == 0 or k_gain.numel() == 0:
        raise ValueError("q_gain and k_gain must not be empty")
    if q_gain.dim() != 1:
        raise ValueError("q_gain must be a vector")
    if q_gain.shape != k_gain.shape:
        raise ValueError("q_gain and k_gain must have one shape")
    largest = (q_gain.detach().double() * k_gain.detach().double()).abs().max().item()
    return math.sqrt(q_gain.shape[0]) * largest


def saturation(logits):
    if logits.numel() == 0:
        raise ValueError("logits has a size of 0")
    if logits.dim() == 0:
        raise ValueError("logits must have rank 1 or more")
    p = torch.softmax(logits.detach().double(), dim=-1)
    s2 = p.pow(2).sum(-1)
    s3 = p.pow(3).sum(-1)
    squared = s2 - 2 * s3 + s2 * s2
    return squared.clamp(min=0).sqrt().mean().item()
