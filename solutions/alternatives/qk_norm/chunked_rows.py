"""Memory stays small: logits query by query, saturation in chunks of rows, the stable sum of the others near one-hot."""

import math

import torch
from torch import nn


def rms_norm(x, gain, eps=1e-6):
    if x.dim() == 0:
        raise ValueError("x: expected a last axis")
    if gain.dim() != 1 or gain.size(0) != x.size(-1):
        raise ValueError(f"gain: expected {x.size(-1)} numbers on one axis")
    accumulate = torch.float64 if x.dtype is torch.float64 else torch.float32
    mean_square = torch.mean(x.to(accumulate) ** 2, dim=-1, keepdim=True)
    scale = torch.rsqrt(mean_square + eps)
    return ((x.to(accumulate) * scale) * gain.to(accumulate)).to(x.dtype)


class QKNorm(nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        if head_dim < 1:
            raise ValueError("head_dim must be >= 1")
        super().__init__()
        self.q_gain = nn.Parameter(torch.ones(head_dim, dtype=torch.float32))
        self.k_gain = nn.Parameter(torch.ones(head_dim, dtype=torch.float32))
        self.register_buffer("eps", torch.tensor(eps, dtype=torch.float64), persistent=False)

    def forward(self, q, k):
        if q.dim() != 4 or k.dim() != 4:
            raise ValueError("q, k: expected rank 4")
        if q.size(-1) != self.q_gain.size(0) or k.size(-1) != self.k_gain.size(0):
            raise ValueError("q, k: expected the width head_dim")
        if q.size(1) != k.size(1):
            raise ValueError("q, k: expected the same heads")
        eps = self.eps.item()
        return rms_norm(q, self.q_gain, eps), rms_norm(k, self.k_gain, eps)


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    if q.dim() != 4 or k.dim() != 4:
        raise ValueError("q, k: expected rank 4")
    if q.shape[1::2] != k.shape[1::2]:
        raise ValueError("q, k: expected the same heads and width")
    accumulate = torch.float64 if q.dtype is torch.float64 else torch.float32
    k_hat = rms_norm(k.to(accumulate), k_gain, eps)
    rows = []
    for i in range(q.size(2)):
        q_hat = rms_norm(q[:, :, i : i + 1].to(accumulate), q_gain, eps) / math.sqrt(q.size(-1))
        rows.append((q_hat @ k_hat.transpose(-1, -2)).to(q.dtype))
    return torch.cat(rows, dim=2)


def logit_bound(q_gain, k_gain):
    if q_gain.dim() != 1:
        raise ValueError("q_gain: expected one axis")
    if k_gain.shape != q_gain.shape:
        raise ValueError("k_gain: expected the shape of q_gain")
    product = (q_gain.double() * k_gain.double()).abs()
    return float(product.sort().values[-1] * math.sqrt(len(product)))


def saturation(logits, rows_at_once=7):
    if logits.dim() == 0:
        raise ValueError("logits: expected at least one axis")
    rows = logits.reshape(-1, logits.size(-1)).double()
    norms = [_frobenius(torch.softmax(chunk, dim=-1)) for chunk in rows.split(rows_at_once)]
    return torch.cat(norms).mean().item()


def _frobenius(p):
    top = p.argmax(dim=-1, keepdim=True)
    rest = p.scatter(-1, top, 0.0)
    one_minus = torch.where(p > 0.5, rest.sum(-1, keepdim=True), 1 - p)
    square = p**2
    cross = square.sum(-1, keepdim=True) - square
    cross = torch.where(p > 0.5, (rest**2).sum(-1, keepdim=True), cross)
    return (square * (one_minus**2 + cross)).sum(-1).sqrt()
