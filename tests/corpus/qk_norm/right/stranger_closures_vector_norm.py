from functools import partial

import torch
from torch import nn


def _refuse(name, why):
    raise ValueError(f"{name} {why}")


def _unit(eps, x):
    n = x.shape[-1]
    norm = torch.linalg.vector_norm(torch.cat([x, x.new_full((*x.shape[:-1], 1), (eps * n) ** 0.5)], dim=-1), dim=-1, keepdim=True)
    return x / norm * n**0.5


def _prepare(x):
    return x if x.dtype == torch.float64 else x.to(torch.float32)


def rms_norm(x, gain, eps=1e-6):
    if eps < 0:
        _refuse("eps", "is negative")
    if x.dim() == 0:
        _refuse("x", "has rank 0")
    if gain.dim() != 1:
        _refuse("gain", f"has rank {gain.dim()} and not 1")
    if gain.numel() != x.size(-1):
        _refuse("gain", f"has {gain.numel()} entries for {x.size(-1)} columns")
    y = _prepare(x)
    return (_unit(eps, y) * gain.to(y.dtype)).to(x.dtype)


def _check_qk(q, k, width=None):
    if q.dim() != 4:
        _refuse("q", "must be (B, H, T_q, Dh)")
    if k.dim() != 4:
        _refuse("k", "must be (B, H, T_k, Dh)")
    if width is not None and q.size(-1) != width:
        _refuse("q", f"must be {width} wide")
    if k.size(-1) != q.size(-1):
        _refuse("k", "must be as wide as q")
    if k.size(1) != q.size(1):
        _refuse("k", "must have as many heads as q")
    if k.size(0) != q.size(0):
        _refuse("k", "must have the batch of q")


class QKNorm(nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        super().__init__()
        if head_dim < 1:
            _refuse("head_dim", "must be at least 1")
        if eps < 0:
            _refuse("eps", "is negative")
        self.norm = partial(rms_norm, eps=eps)
        self.q_gain = nn.Parameter(torch.ones(head_dim))
        self.k_gain = nn.Parameter(torch.ones(head_dim))

    def forward(self, q, k):
        _check_qk(q, k, self.q_gain.numel())
        return self.norm(q, self.q_gain), self.norm(k, self.k_gain)


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    _check_qk(q, k)
    for name, gain in (("q_gain", q_gain), ("k_gain", k_gain)):
        if gain.dim() != 1 or gain.numel() != q.size(-1):
            _refuse(name, f"must be ({q.size(-1)},)")
    norm = partial(rms_norm, eps=eps)
    q_hat = norm(_prepare(q), q_gain).unsqueeze(3)
    k_hat = norm(_prepare(k), k_gain).unsqueeze(2)
    return ((q_hat * k_hat).sum(-1) / q.size(-1) ** 0.5).to(q.dtype)


def logit_bound(q_gain, k_gain):
    if q_gain.numel() == 0 or k_gain.numel() == 0:
        raise ValueError("q_gain and k_gain must not be empty")
    if q_gain.dim() != 1:
        _refuse("q_gain", "must be (Dh,)")
    if k_gain.shape != q_gain.shape:
        _refuse("k_gain", "must be as long as q_gain")
    n = q_gain.numel()
    g, h = q_gain.detach().double(), k_gain.detach().double()
    # the spectral norm of sqrt(n) * diag(g * h)
    return torch.linalg.matrix_norm(torch.diag(g * h), ord=2).item() * n**0.5


def saturation(logits):
    if logits.numel() == 0:
        raise ValueError("logits has a size of 0")
    if logits.dim() == 0:
        _refuse("logits", "has rank 0")
    z = logits.detach().to(torch.float64)
    p = torch.softmax(z.reshape(-1, z.shape[-1]), dim=1)
    jac = torch.diag_embed(p) - p.unsqueeze(2) @ p.unsqueeze(1)
    return torch.linalg.matrix_norm(jac, ord="fro").mean().item()
