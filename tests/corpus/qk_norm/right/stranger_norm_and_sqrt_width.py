import torch
from torch import nn, Tensor


def _demand(ok, text):
    if not ok:
        raise ValueError(text)


def rms_norm(x: Tensor, gain: Tensor, eps: float = 1e-6) -> Tensor:
    _demand(x.dim() >= 1, "x: rank 0")
    _demand(list(gain.shape) == [x.size(-1)], f"gain: shape {list(gain.shape)} instead of [{x.size(-1)}]")
    _demand(eps >= 0, "eps: negative")
    work = x.double() if x.dtype == torch.float64 else x.float()
    n = work.size(-1)
    # x / sqrt(sum/n + eps)  =  sqrt(n) x / sqrt(sum + n eps)
    length = (work * work).sum(-1, keepdim=True).add(n * eps).pow(0.5)
    return (work / length * (gain.to(work.dtype) * n**0.5)).to(x.dtype)


class QKNorm(nn.Module):
    """q_gain and k_gain, nothing else."""

    def __init__(self, head_dim: int, eps: float = 1e-6):
        _demand(head_dim >= 1, f"head_dim: {head_dim}")
        _demand(eps >= 0, f"eps: {eps}")
        super().__init__()
        self.q_gain, self.k_gain = (nn.Parameter(torch.ones(head_dim)) for _ in range(2))
        self.eps = eps

    def forward(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        _fit(q, k)
        _demand(q.size(3) == len(self.q_gain), f"q: {q.size(3)} wide, this module is for {len(self.q_gain)}")
        return rms_norm(q, self.q_gain, self.eps), rms_norm(k, self.k_gain, self.eps)


def _fit(q, k):
    _demand(q.dim() == 4, f"q: rank {q.dim()}")
    _demand(k.dim() == 4, f"k: rank {k.dim()}")
    _demand(q.size(0) == k.size(0), "q, k: different batches")
    _demand(q.size(1) == k.size(1), "q, k: different heads")
    _demand(q.size(3) == k.size(3), "q, k: different widths")


def qk_norm_logits(q: Tensor, k: Tensor, q_gain: Tensor, k_gain: Tensor, eps: float = 1e-6) -> Tensor:
    _fit(q, k)
    n = q.size(3)
    _demand(list(q_gain.shape) == [n], "q_gain: not (Dh,)")
    _demand(list(k_gain.shape) == [n], "k_gain: not (Dh,)")
    _demand(eps >= 0, "eps: negative")
    work = torch.float64 if q.dtype == torch.float64 else torch.float32
    qw, kw = q.to(work), k.to(work)
    # dot products first, both norms divided out afterwards
    dots = (qw * q_gain.to(work)) @ (kw * k_gain.to(work)).transpose(2, 3)
    q_rms = (qw.square().mean(-1) + eps).sqrt().unsqueeze(3)
    k_rms = (kw.square().mean(-1) + eps).sqrt().unsqueeze(2)
    return (dots / q_rms / k_rms / n**0.5).to(q.dtype)


def logit_bound(q_gain: Tensor, k_gain: Tensor) -> float:
    if q_gain.numel() == 0 or k_gain.numel() == 0:
        raise ValueError("q_gain and k_gain must not be empty")
    _demand(q_gain.dim() == 1, "q_gain: not a vector")
    _demand(k_gain.dim() == 1, "k_gain: not a vector")
    _demand(q_gain.size(0) == k_gain.size(0), "q_gain, k_gain: different lengths")
    with torch.no_grad():
        product = q_gain.to(torch.float64) * k_gain.to(torch.float64)
        return max(product.max().item(), -product.min().item()) * q_gain.size(0) ** 0.5


def saturation(logits: Tensor) -> float:
    if logits.numel() == 0:
        raise ValueError("logits has a size of 0")
    _demand(logits.dim() >= 1, "logits: rank 0")
    z = logits.detach().cpu().double()
    total, rows = 0.0, 0
    for row in z.reshape(-1, z.size(-1)):
        p = torch.softmax(row, 0)
        top = int(p.argmax())
        others = torch.cat([p[:top], p[top + 1 :]])
        rest = others.sum()
        squares = others.square().sum()
        first = p[top].square() * (rest.square() + squares)
        second = (others.square() * ((1 - others).square() + p[top].square() + squares - others.square())).sum()
        total += float(torch.sqrt(first + second))
        rows += 1
    return total / rows
