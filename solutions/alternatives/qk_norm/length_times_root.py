"""The root mean square is taken from the length: x * sqrt(Dh) / sqrt(|x|^2 + Dh * eps)."""

from math import sqrt
from typing import NamedTuple

import torch
import torch.nn as nn
from torch import Tensor


class Pair(NamedTuple):
    q_hat: Tensor
    k_hat: Tensor


def rms_norm(x: Tensor, gain: Tensor, eps: float = 1e-6, *, axis: int = -1) -> Tensor:
    """Extra argument with a default: the axis."""
    if not x.shape:
        raise ValueError("rank 0 is no vector: x")
    width = x.size(axis)
    if tuple(gain.shape) != (width,):
        raise ValueError(f"expected gain of shape ({width},)")
    kind = torch.float64 if x.dtype is torch.float64 else torch.float32
    wide = x.to(kind)
    length = torch.linalg.vector_norm(wide, dim=axis, keepdim=True)
    return (wide * (sqrt(width) * torch.rsqrt(length**2 + width * eps)) * gain.to(kind)).to(x.dtype)


def _agree(q: Tensor, k: Tensor) -> int:
    shapes = [q.shape, k.shape]
    if any(len(shape) != 4 for shape in shapes):
        raise ValueError("q, k: (B, H, T, Dh) expected")
    (_, heads, _, width), (_, k_heads, _, k_width) = shapes
    if (heads, width) != (k_heads, k_width):
        raise ValueError("q, k: heads or width differ")
    return width


class QKNorm(nn.Module):
    q_gain: nn.Parameter
    k_gain: nn.Parameter

    def __init__(self, head_dim: int, eps: float = 1e-6) -> None:
        super().__init__()
        if head_dim < 1:
            raise ValueError("head_dim must be positive")
        self.q_gain = nn.Parameter(torch.empty(head_dim))
        self.k_gain = nn.Parameter(torch.empty(head_dim))
        self.eps = eps
        self.reset_parameters()

    def reset_parameters(self) -> None:
        with torch.no_grad():
            self.q_gain.fill_(1.0)
            nn.init.ones_(self.k_gain)

    def forward(self, q: Tensor, k: Tensor) -> Pair:
        if _agree(q, k) != self.q_gain.numel():
            raise ValueError("q is not as wide as head_dim")
        return Pair(rms_norm(q, self.q_gain, self.eps), rms_norm(k, self.k_gain, self.eps))


def qk_norm_logits(q: Tensor, k: Tensor, q_gain: Tensor, k_gain: Tensor, eps: float = 1e-6, scale: float | None = None) -> Tensor:
    width = _agree(q, k)
    if q_gain.shape != (width,) or k_gain.shape != (width,):
        raise ValueError("q_gain, k_gain: (Dh,) expected")
    half = q.dtype in (torch.float16, torch.bfloat16)
    wide_q, wide_k = (q.float(), k.float()) if half else (q, k)
    factor = 1 / sqrt(width) if scale is None else scale
    logits = factor * (rms_norm(wide_q, q_gain, eps) @ rms_norm(wide_k, k_gain, eps).permute(0, 1, 3, 2))
    return logits.to(q.dtype)


def logit_bound(q_gain: Tensor, k_gain: Tensor) -> float:
    if q_gain.ndim != 1:
        raise ValueError("q_gain: (Dh,) expected")
    if k_gain.shape != q_gain.shape:
        raise ValueError("k_gain: (Dh,) expected")
    # the operator norm of diag(q_gain * k_gain), times |q||k| / sqrt(Dh) = sqrt(Dh)
    diagonal = torch.diag((q_gain * k_gain).double())
    return sqrt(q_gain.numel()) * torch.linalg.matrix_norm(diagonal, ord=2).item()


def saturation(logits: Tensor) -> float:
    if logits.ndim == 0:
        raise ValueError("logits of rank 0")
    rows = torch.atleast_2d(logits.double()).flatten(end_dim=-2)
    total = 0.0
    for row in rows:
        p = row.softmax(0)
        total += torch.linalg.norm(torch.diag(p) - torch.outer(p, p)).item()
    return total / len(rows)
