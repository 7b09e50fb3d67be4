import dataclasses
import math

import torch
from torch import nn


@dataclasses.dataclass
class Rms:
    eps: float = 1e-6

    def __post_init__(self):
        if self.eps < 0 or math.isnan(self.eps):
            raise ValueError(f"eps = {self.eps} isn't allowed, eps >= 0 is")

    def wide(self, x, gain, name="gain"):
        """Normalised and multiplied in the compute dtype, not yet cast back."""
        if gain.dim() != 1 or gain.shape[0] != x.shape[-1]:
            raise ValueError(f"{name}: {tuple(gain.shape)} was given, ({x.shape[-1]},) is needed")
        y = x.to(torch.promote_types(x.dtype, torch.float32))
        log_rms = 0.5 * torch.log(torch.mean(y**2, -1, keepdim=True) + self.eps)
        # for a vector of zeros and eps = 0 there is no answer; everywhere else exp(-log rms) is 1 / rms
        return y * torch.exp(-log_rms) * gain.to(y.dtype)


def rms_norm(x, gain, eps=1e-6):
    norm = Rms(eps)
    if x.dim() == 0:
        raise ValueError("x: no axis to normalise over")
    return norm.wide(x, gain).to(x.dtype)


class QKNorm(nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        super().__init__()
        if head_dim < 1:
            raise ValueError(f"head_dim = {head_dim} isn't allowed, head_dim >= 1 is")
        self.norm = Rms(eps)
        self.q_gain = nn.Parameter(torch.ones(head_dim))
        self.k_gain = nn.Parameter(torch.ones(head_dim))

    def forward(self, q, k):
        _pair(q, k)
        q_hat = self.norm.wide(q, self.q_gain, f"q is {q.shape[3]} wide; head_dim")
        k_hat = self.norm.wide(k, self.k_gain, f"k is {k.shape[3]} wide; head_dim")
        return q_hat.to(q.dtype), k_hat.to(k.dtype)


def _pair(q, k):
    match (q.dim(), k.dim()):
        case (4, 4):
            pass
        case (4, rank):
            raise ValueError(f"k: rank {rank}, 4 is needed")
        case (rank, _):
            raise ValueError(f"q: rank {rank}, 4 is needed")
    batch, heads, _, width = k.shape
    if tuple(q.shape[:2]) != (batch, heads) or q.shape[3] != width:
        raise ValueError(f"q: {tuple(q.shape)} doesn't fit k: {tuple(k.shape)}")


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    if q.numel() == 0 or k.numel() == 0:
        raise ValueError("q and k must not have a size of 0")
    _pair(q, k)
    norm = Rms(eps)
    q_hat, k_hat = norm.wide(q, q_gain, "q_gain"), norm.wide(k, k_gain, "k_gain")
    return (torch.matmul(q_hat, k_hat.mT) * q.shape[3] ** -0.5).to(q.dtype)


def logit_bound(q_gain, k_gain):
    if q_gain.numel() == 0 or k_gain.numel() == 0:
        raise ValueError("q_gain and k_gain must not be empty")
    if q_gain.dim() != 1 or q_gain.shape != k_gain.shape:
        raise ValueError(f"q_gain {tuple(q_gain.shape)} and k_gain {tuple(k_gain.shape)} must be vectors of one length")
    best = 0.0
    for g, h in zip(q_gain.detach().tolist(), k_gain.detach().tolist()):
        best = max(best, math.fabs(g * h))
    return math.sqrt(len(q_gain)) * best


def saturation(logits):
    if logits.numel() == 0:
        raise ValueError("logits has a size of 0")
    if logits.dim() == 0:
        raise ValueError("logits: at least one axis is needed")
    z = logits.detach().double()
    log_p = z - z.amax(-1, keepdim=True)
    log_p = log_p - torch.logsumexp(log_p, -1, keepdim=True)
    p = log_p.exp()
    one_minus_p = -torch.expm1(log_p)
    on_diagonal = (p * one_minus_p).square().sum(-1)
    s2, s4 = p.square().sum(-1), p.pow(4).sum(-1)
    return torch.mean(torch.sqrt(on_diagonal + torch.clamp(s2.square() - s4, min=0))).item()
