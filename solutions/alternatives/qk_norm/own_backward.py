"""The norm is an autograd.Function with the derivative written out."""

import torch
from torch import nn


class _RootMeanSquare(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, eps):
        inverse = (x.pow(2).mean(-1, keepdim=True) + eps).rsqrt()
        unit = x * inverse
        ctx.save_for_backward(unit, inverse)
        return unit

    @staticmethod
    def backward(ctx, grad):
        unit, inverse = ctx.saved_tensors
        return inverse * (grad - unit * (grad * unit).mean(-1, keepdim=True)), None


def _accurate(x):
    return x if x.dtype in (torch.float32, torch.float64) else x.float()


def rms_norm(x, gain, eps=1e-6):
    if x.dim() == 0:
        raise ValueError("rms_norm: x has no axis")
    if gain.shape != x.shape[-1:]:
        raise ValueError(f"rms_norm: gain should be {tuple(x.shape[-1:])}, is {tuple(gain.shape)}")
    unit = _RootMeanSquare.apply(_accurate(x), eps)
    return torch.mul(unit, gain).to(x.dtype)


class QKNorm(nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        if int(head_dim) < 1:
            raise ValueError("head_dim must not be below 1")
        super().__init__()
        self.register_parameter("q_gain", nn.Parameter(torch.full((head_dim,), 1.0)))
        self.register_parameter("k_gain", nn.Parameter(torch.full((head_dim,), 1.0)))
        self._epsilon = eps

    def _one(self, name, x):
        gain = getattr(self, name + "_gain")
        if x.dim() != 4 or x.shape[-1] != gain.shape[0]:
            raise ValueError(f"{name} must be (B, H, T, {gain.shape[0]}), is {tuple(x.shape)}")
        return rms_norm(x, gain, self._epsilon)

    def forward(self, q, k):
        result = self._one("q", q), self._one("k", k)
        if q.shape[1] != k.shape[1]:
            raise ValueError(f"q has {q.shape[1]} heads, k has {k.shape[1]}")
        return result


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    if q.dim() != 4 or k.dim() != 4:
        raise ValueError("q and k are (B, H, T, Dh)")
    if q.shape[1] != k.shape[1]:
        raise ValueError("q and k differ in heads")
    if q.shape[-1] != k.shape[-1]:
        raise ValueError("q and k differ in width")
    fourth_root = q.shape[-1] ** 0.25
    q_hat = rms_norm(_accurate(q), q_gain, eps) / fourth_root
    k_hat = rms_norm(_accurate(k), k_gain, eps) / fourth_root
    return torch.matmul(q_hat, k_hat.transpose(2, 3)).to(q.dtype)


def logit_bound(q_gain, k_gain):
    if q_gain.dim() != 1 or k_gain.dim() != 1:
        raise ValueError("q_gain and k_gain must have one axis")
    if q_gain.shape != k_gain.shape:
        raise ValueError("q_gain and k_gain differ in length")
    with torch.no_grad():
        product = torch.abs(q_gain.float() * k_gain.float())
        return torch.sqrt(torch.tensor(float(len(q_gain)))).item() * product.amax().item()


def saturation(logits):
    if logits.dim() == 0:
        raise ValueError("logits must not be a scalar")
    with torch.no_grad():
        log_p = torch.log_softmax(logits.to(torch.float64), dim=-1)
        p = log_p.exp()
        outer = p.unsqueeze(-1) @ p.unsqueeze(-2)
        jacobian = torch.diag_embed(p).sub_(outer)
        return jacobian.pow_(2).sum((-2, -1)).sqrt_().mean().item()
