"""Loops over batch rows and heads, and works in place on tensors of its own."""

import torch
from torch import nn


def rms_norm(x, gain, eps=1e-6):
    if x.dim() < 1:
        raise ValueError("x must have rank 1 or more")
    d = x.shape[-1]
    if gain.shape != (d,):
        raise ValueError("the shape of gain must be (Dh,)")
    rows = x.reshape(-1, d).to(torch.float64 if x.dtype == torch.float64 else torch.float32, copy=True)
    root = torch.zeros(rows.shape[0], dtype=rows.dtype, device=x.device)
    for i in range(d):
        root = root + rows[:, i] ** 2
    root = root.div_(d).add_(eps).sqrt()
    columns = [rows[:, i] / root * gain[i] for i in range(d)]
    return torch.stack(columns, dim=1).reshape(x.shape).to(x.dtype)


class QKNorm(nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        super().__init__()
        if head_dim < 1:
            raise ValueError("head_dim")
        self.eps = eps
        self.k_gain = nn.Parameter(torch.ones(head_dim))
        self.q_gain = nn.Parameter(torch.ones(head_dim))

    def forward(self, q, k):
        _look(q, k)
        if q.shape[3] != self.q_gain.shape[0]:
            raise ValueError("q does not have the width of this QKNorm")
        q_hat = rms_norm(q, self.q_gain, self.eps)
        k_hat = rms_norm(k, self.k_gain, self.eps)
        return q_hat, k_hat


def _look(q, k):
    if q.dim() != 4 or k.dim() != 4:
        raise ValueError("q and k have four axes")
    if q.shape[1] != k.shape[1]:
        raise ValueError("as many heads in k as in q, please")
    if q.shape[3] != k.shape[3]:
        raise ValueError("k as wide as q, please")


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    _look(q, k)
    batch, heads, t_q, d = q.shape
    wide = torch.promote_types(q.dtype, torch.float32)
    out = torch.empty(batch, heads, t_q, k.shape[2], dtype=wide, device=q.device)
    for b in range(batch):
        for h in range(heads):
            q_hat = rms_norm(q[b, h].to(wide), q_gain, eps)
            k_hat = rms_norm(k[b, h].to(wide), k_gain, eps)
            out[b, h] = q_hat @ k_hat.t()
    out *= d**-0.5
    return out.to(q.dtype)


def logit_bound(q_gain, k_gain):
    if q_gain.dim() != 1 or k_gain.dim() != 1 or len(q_gain) != len(k_gain):
        raise ValueError("q_gain, k_gain: two vectors, equally long")
    best = 0.0
    for a, b in zip(q_gain.tolist(), k_gain.tolist()):
        best = max(best, abs(a * b))
    return best * len(q_gain) ** 0.5


def saturation(logits):
    if logits.dim() == 0:
        raise ValueError("logits: at least rank 1")
    rows = logits.reshape(-1, logits.shape[-1]).to(torch.float64, copy=True)
    norms = []
    for row in rows:
        row -= row.max()
        row.exp_()
        row /= row.sum()
        norms.append((torch.diag(row) - row[:, None] * row[None, :]).norm())
    return torch.stack(norms).mean().item()
