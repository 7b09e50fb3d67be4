# mistake: qk_norm_logits puts the gains on q and k before the norm, not after it
# names: logits-gains-before-the-norm
import typing

import torch
from torch import Tensor, nn


class Gains(typing.NamedTuple):
    q: Tensor
    k: Tensor

    def checked(self, width, names=("q_gain", "k_gain")):
        for name, g in zip(names, self):
            match tuple(g.shape):
                case (n,) if n == width:
                    continue
                case shape:
                    raise ValueError(f"{name} of shape {shape}, but Dh = {width}")
        return self


def rms_norm(x: Tensor, gain: Tensor, eps: float = 1e-6) -> Tensor:
    match x.shape:
        case ():
            raise ValueError("x of rank 0")
        case (*_, width):
            Gains(gain, gain).checked(width, ("gain", "gain"))
    work = torch.promote_types(x.dtype, torch.float32)
    y = x.to(work)
    # in logarithms: y * exp(-log(mean square + eps) / 2)
    log_ms = torch.log(torch.einsum("...d,...d->...", y, y) / width + eps)
    return torch.einsum("...d,...,d->...d", y, torch.exp(-0.5 * log_ms), gain.to(work)).to(x.dtype)


class QKNorm(nn.Module):
    def __init__(self, head_dim: int, eps: float = 1e-6):
        super().__init__()
        if head_dim < 1:
            raise ValueError(f"head_dim = {head_dim}")
        self.q_gain = nn.Parameter(torch.ones((head_dim,)))
        self.k_gain = nn.Parameter(self.q_gain.detach().clone())
        self.eps = eps

    def forward(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        if (q.ndim, k.ndim) != (4, 4):
            raise ValueError(f"q of rank {q.ndim}, k of rank {k.ndim}")
        if (width := self.q_gain.shape[0]) != q.shape[3] or width != k.shape[3]:
            raise ValueError(f"q or k isn't {width} wide")
        if q.shape[:2] != k.shape[:2]:
            raise ValueError("q and k have different batches or heads")
        # both in one tensor along the tokens when they share a dtype; the norm knows nothing about tokens
        return rms_norm(q, self.q_gain, self.eps), rms_norm(k, self.k_gain, self.eps)


def qk_norm_logits(q: Tensor, k: Tensor, q_gain: Tensor, k_gain: Tensor, eps: float = 1e-6) -> Tensor:
    if (q.ndim, k.ndim) != (4, 4):
        raise ValueError(f"q of rank {q.ndim}, k of rank {k.ndim}")
    if q.shape[:2] + q.shape[3:] != k.shape[:2] + k.shape[3:]:
        raise ValueError("q and k have different batches, heads or widths")
    Gains(q_gain, k_gain).checked(q.shape[3])
    work = torch.promote_types(q.dtype, torch.float32)
    ones = torch.ones(q.shape[3], dtype=work, device=q.device)
    plain_q, plain_k = rms_norm(q.to(work) * q_gain.to(work), ones, eps), rms_norm(k.to(work) * k_gain.to(work), ones, eps)
    return (plain_q @ plain_k.transpose(-2, -1) * q.shape[3] ** -0.5).to(q.dtype)


def logit_bound(q_gain: Tensor, k_gain: Tensor) -> float:
    if q_gain.ndim != 1:
        raise ValueError("q_gain must be (Dh,)")
    Gains(q_gain, k_gain).checked(q_gain.shape[0])
    ranked = sorted((q * k for q, k in zip(q_gain.tolist(), k_gain.tolist())), key=abs)
    return abs(ranked[-1]) * len(ranked) ** 0.5


def saturation(logits: Tensor) -> float:
    if logits.ndim == 0:
        raise ValueError("logits of rank 0")
    rows = logits.detach().double().reshape(-1, logits.shape[-1])
    # let torch differentiate the softmax, row by row
    jacobian = torch.func.vmap(torch.func.jacrev(lambda z: torch.softmax(z, -1)))
    return torch.cat([jacobian(part).flatten(1).norm(dim=1) for part in rows.split(32)]).mean().item()
