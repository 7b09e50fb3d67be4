"""The functions call the module, not the other way round; refusals sit in a decorator."""

import functools
import inspect

import torch
from torch import nn

RANKS = {"q": 4, "k": 4, "q_gain": 1, "k_gain": 1, "gain": 1}


def shapes_fit(function):
    signature = inspect.signature(function)

    @functools.wraps(function)
    def checked(*args, **kwargs):
        given = signature.bind(*args, **kwargs).arguments
        widths = {}
        for name, value in given.items():
            if name in ("x", "logits") and value.dim() == 0:
                raise ValueError(f"`{name}` must have at least one axis")
            if name in RANKS and value.dim() != RANKS[name]:
                raise ValueError(f"`{name}` must have rank {RANKS[name]}, has rank {value.dim()}")
            if name in RANKS or name == "x":
                widths[name] = value.shape[-1]
        if len(set(widths.values())) > 1:
            raise ValueError("these widths must agree: " + ", ".join(f"{name}: {width}" for name, width in widths.items()))
        if "q" in given and "k" in given and given["q"].shape[1] != given["k"].shape[1]:
            raise ValueError("`q` and `k` must have the same heads")
        return function(*args, **kwargs)

    return checked


@shapes_fit
def rms_norm(x, gain, eps=1e-6):
    high = x.double() if x.dtype == torch.float64 else x.float()
    power = high.pow(2).mean(dim=-1)
    return (high / torch.sqrt(power + eps)[..., None] * gain[(None,) * (x.dim() - 1)]).to(x.dtype)


class QKNorm(nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        super().__init__()
        if head_dim < 1:
            raise ValueError(f"head_dim must be at least one, not {head_dim}")
        self.q_gain = nn.Parameter(torch.ones(head_dim))
        self.k_gain = nn.Parameter(torch.ones(head_dim))
        self.eps = eps

    @shapes_fit
    def forward(self, q, k):
        if q.shape[-1] != len(self.q_gain):
            raise ValueError(f"`q` and `k` must be {len(self.q_gain)} wide")
        return rms_norm(q, self.q_gain, self.eps), rms_norm(k, self.k_gain, self.eps)

    def logits(self, q, k):
        wide = torch.promote_types(q.dtype, torch.float32)
        q_hat, k_hat = self(q.to(wide), k.to(wide))
        return (torch.einsum("...qd,...kd->...qk", q_hat, k_hat) * q.size(-1) ** -0.5).to(q.dtype)


@shapes_fit
def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    module = QKNorm(q.shape[-1], eps)
    del module.q_gain, module.k_gain  # plain tensors in their place, so that gradients reach the caller's gains
    module.q_gain, module.k_gain = q_gain, k_gain
    return module.logits(q, k)


@shapes_fit
def logit_bound(q_gain, k_gain):
    return q_gain.numel() ** 0.5 * torch.linalg.vector_norm(q_gain.double() * k_gain.double(), ord=float("inf")).item()


@shapes_fit
def saturation(logits):
    p = torch.softmax(logits.double(), -1)
    one = torch.eye(p.shape[-1], dtype=p.dtype, device=p.device)
    return (p[..., None] * (one - p[..., None, :])).norm(dim=(-2, -1)).mean().item()
