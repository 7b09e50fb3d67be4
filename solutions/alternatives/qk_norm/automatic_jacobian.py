"""The Jacobian of the softmax comes from torch.func; the norms of q and k go through one joint call."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import jacrev, vmap


def rms_norm(x, gain, eps=1e-6):
    if x.dim() == 0:
        raise ValueError("rms_norm got a 0-d x")
    if x.shape[-1:] != gain.shape:
        raise ValueError(f"rms_norm got gain {list(gain.shape)} for width {x.shape[-1]}")
    y = x.to(torch.promote_types(x.dtype, torch.float32))
    mean_square, _ = torch.broadcast_tensors(torch.mean(y * y, dim=-1, keepdim=True), y)
    return (gain * (y * (mean_square + eps) ** -0.5)).to(dtype=x.dtype)


class QKNorm(nn.Module):
    def __init__(self, head_dim, eps=1e-6, device=None, dtype=None):
        super().__init__()
        if head_dim < 1:
            raise ValueError("head_dim has to be a positive width")
        self.q_gain = nn.Parameter(torch.ones(head_dim, device=device, dtype=dtype))
        self.k_gain = nn.Parameter(torch.ones(head_dim, device=device, dtype=dtype))
        self.eps = float(eps)
        self.head_dim = head_dim

    def forward(self, q, k):
        _fit(q, k, self.head_dim)
        return rms_norm(q, self.q_gain, self.eps), rms_norm(k, self.k_gain, self.eps)


def _fit(q, k, width):
    for label, x in [("q", q), ("k", k)]:
        if x.dim() != 4:
            raise ValueError(f"{label}: rank {x.dim()} instead of 4")
        if x.shape[-1] != width:
            raise ValueError(f"{label}: width {x.shape[-1]} instead of {width}")
    if q.shape[1] != k.shape[1]:
        raise ValueError(f"q and k: {q.shape[1]} and {k.shape[1]} heads")


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    if q_gain.dim() != 1:
        raise ValueError(f"q_gain: rank {q_gain.dim()} instead of 1")
    if k_gain.shape != q_gain.shape:
        raise ValueError("k_gain: not shaped like q_gain")
    _fit(q, k, q_gain.shape[0])
    t_q = q.shape[2]
    wide = torch.promote_types(q.dtype, torch.float32)
    q_hat, k_hat = (rms_norm(x.to(wide), g.to(wide), eps) for x, g in ((q, q_gain), (k, k_gain)))
    logits = torch.bmm(q_hat.flatten(0, 1), k_hat.flatten(0, 1).transpose(1, 2)) / torch.tensor(q.shape[-1], dtype=wide).sqrt()
    return logits.view(q.shape[0], q.shape[1], t_q, -1).to(q.dtype)


def logit_bound(q_gain, k_gain):
    if not (q_gain.dim() == k_gain.dim() == 1 and q_gain.shape == k_gain.shape):
        raise ValueError("logit_bound needs q_gain and k_gain of one shape (Dh,)")
    d = q_gain.shape[0]
    # the input that attains it: all of q and k on one axis
    peaks = torch.eye(d, dtype=torch.float64) * d**0.5
    return float(((peaks * q_gain.double()) @ (peaks * k_gain.double()).T / d**0.5).abs().max())


def saturation(logits):
    if logits.dim() == 0:
        raise ValueError("logits has rank 0")
    rows = logits.detach().double().reshape(-1, logits.shape[-1])
    jacobians = vmap(jacrev(lambda z: F.softmax(z, dim=0)))(rows)
    return torch.linalg.vector_norm(jacobians.flatten(1), dim=1).mean().item()
