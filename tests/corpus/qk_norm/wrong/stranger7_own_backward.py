# mistake: rms_norm's own backward sums up * x over the vector and forgets the mean
# names: gradient-summed-where-averaged
"""rms_norm with a backward pass of its own, written from differentiable operations."""
import torch
from torch import nn


class _RootMeanSquare(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, eps):
        inverse = (x.pow(2).sum(-1, keepdim=True) / x.shape[-1] + eps).pow(-0.5)
        ctx.save_for_backward(x, inverse)
        return x * inverse

    @staticmethod
    def backward(ctx, grad):
        x, inverse = ctx.saved_tensors
        along = (grad * x).sum(-1, keepdim=True)
        return inverse * grad - x * inverse.pow(3) * along, None


widen = {torch.float16: torch.float32, torch.bfloat16: torch.float32}


def rms_norm(x, gain, eps=1e-6):
    if x.ndim == 0:
        raise ValueError("x has no axis to normalise over")
    if gain.shape != (x.shape[-1],):
        raise ValueError(f"gain of shape {tuple(gain.shape)} for x of width {x.shape[-1]}")
    kind = widen.get(x.dtype, x.dtype)
    return (_RootMeanSquare.apply(x.to(kind), eps) * gain.to(kind)).to(x.dtype)


def _four(name, t):
    if t.ndim != 4 or not t.numel():
        raise ValueError(f"{name} of shape {tuple(t.shape)}")
    return t


class QKNorm(nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        super().__init__()
        if head_dim < 1:
            raise ValueError(f"head_dim = {head_dim}")
        self.q_gain = nn.Parameter(torch.ones(head_dim, requires_grad=True))
        self.k_gain = nn.Parameter(self.q_gain.detach().clone())
        self.norms = lambda q, k: (rms_norm(q, self.q_gain, eps), rms_norm(k, self.k_gain, eps))

    def __getstate__(self):
        raise TypeError("save the state dict, not the module")

    def forward(self, q, k):
        _four("q", q), _four("k", k)
        if q.shape[1] != k.shape[1]:
            raise ValueError(f"q has {q.shape[1]} heads, k {k.shape[1]}")
        widths = {q.shape[3], k.shape[3], len(self.q_gain)}
        if len(widths) > 1:
            raise ValueError(f"q, k and head_dim should be one width: {sorted(widths)}")
        return self.norms(q, k)


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    B, H, M, D = _four("q", q).shape
    if _four("k", k).shape[::3] != (B, D) or k.shape[1] != H:
        raise ValueError(f"k {tuple(k.shape)} beside q {tuple(q.shape)}")
    for name, g in {"q_gain": q_gain, "k_gain": k_gain}.items():
        if g.shape != (D,):
            raise ValueError(f"{name} {tuple(g.shape)} for width {D}")
    kind = widen.get(q.dtype, q.dtype)
    a = _RootMeanSquare.apply(q.to(kind), eps) * (q_gain.to(kind) * D**-0.25)
    b = _RootMeanSquare.apply(k.to(kind), eps) * (k_gain.to(kind) * D**-0.25)
    out = torch.bmm(a.reshape(B * H, M, D), b.reshape(B * H, k.shape[2], D).permute(0, 2, 1))
    return out.unflatten(0, (B, H)).to(q.dtype)


def logit_bound(q_gain, k_gain):
    if q_gain.ndim != 1 or k_gain.ndim != 1:
        raise ValueError("q_gain and k_gain are vectors")
    if len(q_gain) != len(k_gain) or not len(q_gain):
        raise ValueError("q_gain and k_gain have one length")
    candidates = torch.diag(q_gain.detach().double()) @ k_gain.detach().double()
    return (len(q_gain) ** 0.5 * torch.max(candidates.abs())).item()


def saturation(logits):
    if logits.ndim < 1:
        raise ValueError("logits has rank 0")
    if not logits.numel():
        raise ValueError("logits is empty")
    z = logits.detach().reshape(-1, logits.shape[-1]).double()
    p = torch.exp(torch.log_softmax(z, dim=-1))
    top, at = p.max(dim=-1, keepdim=True)
    rest = p.scatter(-1, at, 0.0)
    r, s = rest.sum(-1), rest.square()
    s2 = s.sum(-1)
    total = (top[:, 0] * r).square() + (s * (1 - rest).square()).sum(-1) + 2 * top[:, 0].square() * s2 + (s2.square() - s.square().sum(-1)).clamp(min=0.0)
    return total.pow(0.5).mean().tolist()
