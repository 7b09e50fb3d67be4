# mistake: the mean square goes through a Python list
# names: root-without-gradient
import math

import torch
import torch.nn as nn


def rms_norm(x, gain, eps=1e-6):
    if x.dim() == 0:
        raise ValueError("x must have a last axis")
    if tuple(gain.shape) != (x.shape[-1],):
        raise ValueError(f"gain must be ({x.shape[-1]},), got {tuple(gain.shape)}")
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x = x.float()
    ms = torch.tensor([[sum(v * v for v in row) / len(row)] for row in x.detach().reshape(-1, x.shape[-1]).tolist()], dtype=x.dtype).reshape(*x.shape[:-1], 1)
    y = x * torch.rsqrt(ms + eps)
    return (y * gain).to(dtype)


class QKNorm(nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        super().__init__()
        if head_dim < 1:
            raise ValueError(f"head_dim must be positive, got {head_dim}")
        self.q_gain = nn.Parameter(torch.ones(head_dim))
        self.k_gain = nn.Parameter(torch.ones(head_dim))
        self.eps = eps

    def forward(self, q, k):
        check_pair(q, k)
        if q.shape[-1] != self.q_gain.shape[0]:
            raise ValueError("q and k must be head_dim wide")
        return rms_norm(q, self.q_gain, self.eps), rms_norm(k, self.k_gain, self.eps)


def check_pair(q, k):
    if q.dim() != 4 or k.dim() != 4:
        raise ValueError("q and k must have rank 4")
    if q.shape[1] != k.shape[1]:
        raise ValueError("q and k must have the same heads")
    if q.shape[-1] != k.shape[-1]:
        raise ValueError("q and k must have the same width")


def check_gains(q_gain, k_gain, width):
    if tuple(q_gain.shape) != (width,):
        raise ValueError("q_gain must be (Dh,)")
    if tuple(k_gain.shape) != (width,):
        raise ValueError("k_gain must be (Dh,)")


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    check_pair(q, k)
    check_gains(q_gain, k_gain, q.shape[-1])
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k = q.float(), k.float()
    q_hat = rms_norm(q, q_gain, eps)
    k_hat = rms_norm(k, k_gain, eps)
    scale = 1 / math.sqrt(q.shape[-1])
    logits = torch.einsum("bhqd,bhkd->bhqk", q_hat, k_hat) * scale
    return logits.to(dtype)


def logit_bound(q_gain, k_gain):
    if q_gain.dim() != 1:
        raise ValueError("q_gain must be one vector")
    if k_gain.shape != q_gain.shape:
        raise ValueError("k_gain must be as long as q_gain")
    d = q_gain.shape[0]
    products = q_gain.double() * k_gain.double()
    return math.sqrt(d) * products.abs().max().item()


def saturation(logits):
    if logits.dim() == 0:
        raise ValueError("logits must have rows")
    z = logits.double()
    p = torch.softmax(z, dim=-1)
    jacobian = torch.diag_embed(p) - p.unsqueeze(-1) * p.unsqueeze(-2)
    norms = torch.sqrt((jacobian**2).sum(dim=(-2, -1)))
    return norms.mean().item()
