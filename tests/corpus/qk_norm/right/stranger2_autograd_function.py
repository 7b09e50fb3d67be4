# right: hand-written autograd.Function, spectral norm of a diagonal matrix as the bound, a borrowed module for the logits
import torch
from torch import nn


class _Rms(torch.autograd.Function):
    """y = x / sqrt(mean(x^2) + eps), with the derivative worked out by hand."""

    @staticmethod
    def forward(ctx, x, eps):
        inv = (x.square().mean(-1, keepdim=True) + eps).pow(-0.5)
        y = x * inv
        ctx.save_for_backward(y, inv)
        return y

    @staticmethod
    def backward(ctx, grad):
        y, inv = ctx.saved_tensors
        return inv * (grad - y * (grad * y).mean(-1, keepdim=True)), None


class Refusal(ValueError):
    @classmethod
    def unless(cls, ok, name, why):
        if not ok:
            raise cls(f"{name}: {why}")


def rms_norm(x, gain, eps=1e-6):
    Refusal.unless(x.dim() > 0, "x", "has no axis")
    Refusal.unless(gain.shape == x.shape[-1:], "gain", "must have one number for each entry of the last axis")
    kind = torch.float64 if x.dtype == torch.float64 else torch.float32
    return (_Rms.apply(x.to(kind), eps) * gain.to(kind)).to(x.dtype)


class QKNorm(nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        Refusal.unless(head_dim >= 1, "head_dim", "must be at least 1")
        super().__init__()
        self.q_gain = nn.Parameter(torch.ones(head_dim))
        self.k_gain = nn.Parameter(torch.ones(head_dim))
        self._eps = eps

    def extra_repr(self):
        return f"{len(self.q_gain)}, eps={self._eps}"

    def forward(self, q, k):
        for name, x in dict(q=q, k=k).items():
            Refusal.unless(x.dim() == 4, name, "must be of rank 4")
            Refusal.unless(x.shape[-1] == len(self.q_gain), name, "must be as wide as the module")
        Refusal.unless(q.shape[:2] == k.shape[:2], "k", "must have q's batch and heads")
        return rms_norm(q, self.q_gain, self._eps), rms_norm(k, self.k_gain, self._eps)


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    # a module borrowed for its checks and its forward, with the gains of the caller
    Refusal.unless(q.dim() == 4, "q", "must be of rank 4")
    width = q.shape[-1]
    Refusal.unless(q_gain.shape == (width,), "q_gain", f"must be ({width},)")
    Refusal.unless(k_gain.shape == (width,), "k_gain", f"must be ({width},)")
    kind = torch.float64 if q.dtype == torch.float64 else torch.float32
    norm = QKNorm(width, eps)
    del norm.q_gain, norm.k_gain
    norm.q_gain, norm.k_gain = q_gain, k_gain
    q_hat, k_hat = norm(q.to(kind), k.to(kind))
    return torch.matmul(q_hat / width**0.5, k_hat.mT).to(q.dtype)


def logit_bound(q_gain, k_gain):
    Refusal.unless(q_gain.dim() == 1, "q_gain", "must be of rank 1")
    Refusal.unless(k_gain.shape == q_gain.shape, "k_gain", "must be shaped like q_gain")
    # the largest |eigenvalue| of diag(q_gain * k_gain) * sqrt(Dh)
    matrix = torch.diag(q_gain.detach().double() * k_gain.detach().double())
    return (torch.linalg.matrix_norm(matrix, 2) * len(q_gain) ** 0.5).item()


def saturation(logits):
    Refusal.unless(logits.dim() > 0, "logits", "must have an axis")
    total, count = 0.0, 0
    for z in logits.detach().reshape(-1, logits.shape[-1]).split(32):
        p = torch.softmax(z.to(torch.float64), dim=-1)
        jacobians = torch.diag_embed(p) - p.unsqueeze(-1) * p.unsqueeze(-2)
        total += float(torch.linalg.matrix_norm(jacobians, "fro").sum())
        count += len(p)
    return total / count
