# right: The bound is not written down but attained: the logit of basis vectors, q = +-e_i and k = e_i, the largest of which is the least bound.
"""The bound is not written down but attained: the logit of basis vectors, q = +-e_i and k = e_i, the largest of which is the least bound."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Norm:
    """x -> x / rms(x) * gain, in double precision. A plain object: no module, no state dict."""

    def __init__(self, gain: Tensor, eps: float, name: str = "gain") -> None:
        if gain.dim() != 1:
            raise ValueError(f"{name} must be a vector")
        if eps < 0:
            raise ValueError("eps can't be negative")
        self.gain, self.eps, self.name = gain, eps, name

    def __len__(self) -> int:
        return self.gain.shape[0]

    def __call__(self, x: Tensor) -> Tensor:
        if x.shape[-1] != len(self):
            raise ValueError(f"{self.name} has {len(self)} entries for vectors of {x.shape[-1]}")
        x = x.to(torch.float64)
        ms = torch.mean(x**2, dim=-1, keepdim=True) + self.eps
        return x * ms.rsqrt() * self.gain.to(torch.float64)


def rms_norm(x: Tensor, gain: Tensor, eps: float = 1e-6) -> Tensor:
    if not x.dim():
        raise ValueError("x must not be a scalar")
    return Norm(gain, eps)(x).to(x.dtype)


class QKNorm(nn.Module):
    def __init__(self, head_dim: int, eps: float = 1e-6) -> None:
        super().__init__()
        if head_dim < 1 or eps < 0:
            raise ValueError(f"head_dim = {head_dim} and eps = {eps} won't do")
        self.eps = eps
        self.q_gain = nn.Parameter(torch.ones(head_dim))
        self.k_gain = nn.Parameter(torch.ones(head_dim))

    def forward(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        _shapes(q, k)
        if q.shape[-1] != self.q_gain.shape[0]:
            raise ValueError(f"q and k must be {self.q_gain.shape[0]} wide")
        return Norm(self.q_gain, self.eps)(q).to(q.dtype), Norm(self.k_gain, self.eps)(k).to(k.dtype)


def _shapes(q: Tensor, k: Tensor) -> None:
    for name, t in (("q", q), ("k", k)):
        if t.dim() != 4:
            raise ValueError(f"{name} must be (B, H, T, Dh)")
    if q[:, :, 0:0].shape != k[:, :, 0:0].shape:
        raise ValueError("q and k may differ in T alone")


def qk_norm_logits(q: Tensor, k: Tensor, q_gain: Tensor, k_gain: Tensor, eps: float = 1e-6) -> Tensor:
    _shapes(q, k)
    left, right = Norm(q_gain, eps, "q_gain")(q), Norm(k_gain, eps, "k_gain")(k)
    if 0 in left.shape or 0 in right.shape:
        raise ValueError("q or k is empty")
    return _pairs(left, right).to(q.dtype)


def _pairs(a: Tensor, b: Tensor) -> Tensor:
    return torch.stack([(a[:, :, i, None] * b).sum(-1) for i in range(a.shape[2])], 2) * a.shape[3] ** -0.5


def logit_bound(q_gain: Tensor, k_gain: Tensor) -> float:
    if q_gain.dim() != 1 or q_gain.numel() == 0:
        raise ValueError("q_gain must be (Dh,)")
    if k_gain.shape != q_gain.shape:
        raise ValueError("k_gain must be (Dh,), like q_gain")
    with torch.no_grad():
        basis = torch.eye(q_gain.numel(), dtype=torch.float64, device=q_gain.device)[None, None]
        return qk_norm_logits(basis, basis, q_gain, k_gain, eps=0.0).abs().max().item()


def saturation(logits: Tensor) -> float:
    if not logits.dim():
        raise ValueError("logits must not be a scalar")
    if not logits.numel():
        raise ValueError("logits must not be empty")
    with torch.no_grad():
        p = torch.softmax(logits.double(), -1)
        # |J|^2 = sum_ij p_i p_j (delta_ij - p_j)(delta_ij - p_i) = sum_i p_i^2 ((1 - p_i)^2 + S2 - p_i^2)
        s2 = (p * p).sum(-1, keepdim=True)
        inner = (1 - p).square() + (s2 - p * p).clamp(min=0)
        return (p * p * inner).sum(-1).sqrt().mean().item()
