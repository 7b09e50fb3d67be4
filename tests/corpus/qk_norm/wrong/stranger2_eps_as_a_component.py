# mistake: rms_norm carries eps as one more component without the factor n, so eps is divided by the width
# names: eps-divided-by-the-width
import math

import torch
from torch import nn


def rms_norm(x, gain, eps=1e-6):
    if x.dim() == 0:
        raise ValueError("x is a single number; it needs an axis to be normalised over")
    width = x.size(-1)
    if tuple(gain.shape) != (width,):
        raise ValueError(f"gain is {tuple(gain.shape)} and x has a width of {width}")
    up = torch.promote_types(x.dtype, torch.float32)
    y = x.to(up)
    # sqrt(mean + eps) = sqrt(sum + eps) / sqrt(n): the squared length with one more number in it
    pad = torch.full((*y.shape[:-1], 1), math.sqrt(eps), dtype=up, device=x.device)
    length = torch.linalg.vector_norm(torch.cat([y, pad], dim=-1), dim=-1, keepdim=True)
    return (y * (math.sqrt(width) / length) * gain.to(up)).to(x.dtype)


class QKNorm(nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        super().__init__()
        if head_dim < 1:
            raise ValueError(f"head_dim is {head_dim}, at least 1 is needed")
        for name in ("q_gain", "k_gain"):
            self.register_parameter(name, nn.Parameter(torch.ones(head_dim)))
        self.eps = eps

    def forward(self, q, k):
        head_dim = self.q_gain.numel()
        for name, x in (("q", q), ("k", k)):
            if x.dim() != 4:
                raise ValueError(f"{name} has {x.dim()} axes instead of 4")
            if x.size(3) != head_dim:
                raise ValueError(f"{name} has a width of {x.size(3)}, the module one of {head_dim}")
        if q.shape[:2] != k.shape[:2]:
            raise ValueError(f"q and k differ in batch or heads: {tuple(q.shape[:2])}, {tuple(k.shape[:2])}")
        return rms_norm(q, self.q_gain, self.eps), rms_norm(k, self.k_gain, self.eps)


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    if q.dim() != 4:
        raise ValueError("q has to be (B, H, T_q, Dh)")
    if k.dim() != 4:
        raise ValueError("k has to be (B, H, T_k, Dh)")
    b, h, _, width = q.shape
    if (b, h, width) != (k.size(0), k.size(1), k.size(3)):
        raise ValueError("k has to agree with q in batch, heads and width")
    for name, g in (("q_gain", q_gain), ("k_gain", k_gain)):
        if tuple(g.shape) != (width,):
            raise ValueError(f"{name} has to be ({width},)")
    up = torch.promote_types(q.dtype, torch.float32)
    q_hat = rms_norm(q.to(up), q_gain, eps)
    k_hat = rms_norm(k.to(up), k_gain, eps)
    return torch.einsum("bhqd,bhkd->bhqk", q_hat, k_hat).mul(width**-0.5).to(q.dtype)


def logit_bound(q_gain, k_gain):
    if q_gain.dim() != 1:
        raise ValueError("q_gain has to be (Dh,)")
    if q_gain.shape != k_gain.shape:
        raise ValueError("k_gain has to be as long as q_gain")
    both = torch.mul(q_gain.detach().double(), k_gain.detach().double())
    return math.sqrt(both.numel()) * float(torch.linalg.vector_norm(both, ord=math.inf))


def saturation(logits):
    if logits.dim() == 0:
        raise ValueError("logits has to have at least one axis")
    rows = logits.detach().double().softmax(-1).reshape(-1, logits.size(-1))
    identity = torch.eye(rows.size(-1), dtype=rows.dtype, device=rows.device)
    # a few rows at a time, since each brings a whole matrix
    norms = [torch.linalg.vector_norm(p[:, :, None] * (identity - p[:, None, :]), dim=(1, 2)) for p in rows.split(32)]
    return torch.cat(norms).mean().item()
