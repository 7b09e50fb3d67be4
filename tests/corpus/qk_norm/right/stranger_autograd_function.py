import torch
from torch import nn
from torch.autograd import Function


class _UnitRms(Function):
    """x / sqrt(mean(x**2) + eps) with its derivative written by hand."""

    @staticmethod
    def forward(ctx, x, eps):
        inv = (x.square().mean(-1, keepdim=True) + eps).rsqrt()
        y = x * inv
        ctx.save_for_backward(y, inv)
        return y

    @staticmethod
    def backward(ctx, g):
        y, inv = ctx.saved_tensors
        return inv * (g - y * (g * y).mean(-1, keepdim=True)), None


def _compute_dtype(t):
    return torch.promote_types(t.dtype, torch.float32)


def rms_norm(x, gain, eps=1e-6):
    if x.ndim == 0:
        raise ValueError("x is a single number, a vector at least is needed")
    if gain.shape != x.shape[-1:]:
        raise ValueError(f"gain {tuple(gain.shape)} must have the shape {tuple(x.shape[-1:])}")
    if eps < 0:
        raise ValueError("eps < 0")
    dt = _compute_dtype(x)
    return torch.mul(_UnitRms.apply(x.to(dt), eps), gain.to(dt)).to(x.dtype)


class QKNorm(nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        super().__init__()
        if head_dim < 1:
            raise ValueError("head_dim < 1")
        self.head_dim, self.eps = int(head_dim), float(eps)
        if self.eps < 0:
            raise ValueError("eps < 0")
        self.q_gain = nn.Parameter(torch.empty(self.head_dim))
        self.k_gain = nn.Parameter(torch.empty(self.head_dim))
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.ones_(self.q_gain)
        nn.init.ones_(self.k_gain)

    def forward(self, q, k):
        if q.ndim != 4:
            raise ValueError("q isn't of rank 4")
        if k.ndim != 4:
            raise ValueError("k isn't of rank 4")
        if q.shape[-1] != self.head_dim:
            raise ValueError("the width of q isn't head_dim")
        if k.shape[-1] != self.head_dim:
            raise ValueError("the width of k isn't head_dim")
        if q.shape[1] != k.shape[1] or q.shape[0] != k.shape[0]:
            raise ValueError("q and k have different heads or batches")
        return rms_norm(q, self.q_gain, self.eps), rms_norm(k, self.k_gain, self.eps)


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    if q.numel() == 0 or k.numel() == 0:
        raise ValueError("q and k must not have a size of 0")
    if q.ndim != 4:
        raise ValueError("q isn't of rank 4")
    if k.ndim != 4:
        raise ValueError("k isn't of rank 4")
    d = q.shape[-1]
    if k.shape[-1] != d:
        raise ValueError("the widths of q and k differ")
    if q.shape[:2] != k.shape[:2]:
        raise ValueError("q and k have different heads or batches")
    if q_gain.shape != (d,):
        raise ValueError("q_gain isn't (Dh,)")
    if k_gain.shape != (d,):
        raise ValueError("k_gain isn't (Dh,)")
    if eps < 0:
        raise ValueError("eps < 0")
    dt = _compute_dtype(q)
    # both gains meet in the dot product, so one of the two sides can carry them all
    both = q_gain.to(dt) * k_gain.to(dt) * d**-0.5
    left = _UnitRms.apply(q.to(dt), eps) * both
    right = _UnitRms.apply(k.to(dt), eps)
    return torch.matmul(left, right.mT).to(q.dtype)


def logit_bound(q_gain, k_gain):
    if q_gain.numel() == 0 or k_gain.numel() == 0:
        raise ValueError("q_gain and k_gain must not be empty")
    if q_gain.ndim != 1 or k_gain.ndim != 1:
        raise ValueError("q_gain and k_gain must be vectors")
    if len(q_gain) != len(k_gain):
        raise ValueError("q_gain and k_gain differ in length")
    with torch.no_grad():
        product = q_gain.double().mul(k_gain.double())
        return float(torch.linalg.vector_norm(product, ord=float("inf")) * len(q_gain) ** 0.5)


def saturation(logits):
    if logits.numel() == 0:
        raise ValueError("logits has a size of 0")
    if logits.ndim == 0:
        raise ValueError("logits is a single number")
    with torch.no_grad():
        p = logits.double().softmax(-1)
        square = p.square()
        rest = square.sum(-1, keepdim=True) - square
        return float((square * ((1 - p).square() + rest.clamp(min=0))).sum(-1).sqrt().mean())
