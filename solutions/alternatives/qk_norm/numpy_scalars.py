"""Numbers come from NumPy (np.float64), and prints and warnings say what goes on."""

import sys
import warnings

import numpy as np
import torch
from torch import nn


def rms_norm(x, gain, eps=1e-6):
    print("rms_norm", tuple(x.shape))
    if x.ndim == 0:
        warnings.warn("a scalar has no last axis", stacklevel=2)
        raise ValueError("x is a scalar")
    if gain.ndim != 1 or gain.shape[0] != x.shape[-1]:
        raise ValueError("gain must be a vector as long as the last axis of x")
    original = x.dtype
    if original in (torch.float16, torch.bfloat16):
        x = x.float()
    ms = x.square().mean(-1, keepdim=True)
    return x.div(ms.add(eps).sqrt()).mul(gain).to(original)


class QKNorm(nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        super().__init__()
        if head_dim < 1:
            raise ValueError(f"head_dim = {head_dim} < 1")
        self.q_gain = nn.Parameter(torch.from_numpy(np.ones(head_dim, dtype=np.float32)))
        self.k_gain = nn.Parameter(torch.from_numpy(np.ones(head_dim, dtype=np.float32)))
        self.eps = eps

    def forward(self, q, k):
        _validate(q, k, self.q_gain, self.k_gain)
        return rms_norm(q, self.q_gain, self.eps), rms_norm(k, self.k_gain, self.eps)


class ShapeMismatch(ValueError):
    """A ValueError all the same."""


def _validate(q, k, q_gain, k_gain):
    if q.ndim != 4:
        raise ShapeMismatch("q must be 4-D")
    if k.ndim != 4:
        raise ShapeMismatch("k must be 4-D")
    if q.shape[1] != k.shape[1] or q.shape[-1] != k.shape[-1]:
        raise ShapeMismatch("q and k don't belong together")
    if q_gain.shape != (q.shape[-1],):
        raise ShapeMismatch("q_gain has the wrong shape")
    if k_gain.shape != (k.shape[-1],):
        raise ShapeMismatch("k_gain has the wrong shape")


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    print("logits", file=sys.stderr)
    _validate(q, k, q_gain, k_gain)
    wide = torch.promote_types(q.dtype, torch.float32)
    q_hat = rms_norm(q.to(wide), q_gain, eps).unsqueeze(3)
    k_hat = rms_norm(k.to(wide), k_gain, eps).unsqueeze(2)
    return ((q_hat * k_hat).sum(-1) / np.sqrt(q.shape[-1])).to(q.dtype)


def logit_bound(q_gain, k_gain):
    a = q_gain.detach().double().numpy()
    b = k_gain.detach().double().numpy()
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError("q_gain and k_gain must be vectors of one length")
    return np.sqrt(a.size) * np.abs(a * b).max()


def saturation(logits):
    z = logits.detach().cpu().double().numpy()
    if z.ndim == 0:
        raise ValueError("logits needs at least one axis")
    z = z - z.max(axis=-1, keepdims=True)
    p = np.exp(z)
    p /= p.sum(axis=-1, keepdims=True)
    jacobian = p[..., :, None] * (np.eye(p.shape[-1]) - p[..., None, :])
    return np.mean(np.linalg.norm(jacobian, axis=(-2, -1)))
