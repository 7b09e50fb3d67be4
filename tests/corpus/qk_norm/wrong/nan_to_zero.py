# mistake: no eps, and nan replaced by 0 afterwards
# names: eps-replaced-by-nan-to-num
import numpy as np
import torch


def _wide(x):
    return x if x.dtype == torch.float64 else x.to(torch.float32)


def _unit(x, eps):
    return torch.nan_to_num(x / torch.sqrt(x.pow(2).mean(-1, keepdim=True)))


def rms_norm(x, gain, eps=1e-6):
    if not x.shape:
        raise ValueError("x has rank 0")
    if gain.ndim != 1 or gain.size(0) != x.size(-1):
        raise ValueError("gain has another shape than (Dh,)")
    unit = _unit(_wide(x), eps)
    return torch.mul(unit, gain).type(x.dtype)


class QKNorm(torch.nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        if head_dim < 1:
            raise ValueError("head_dim below 1")
        super().__init__()
        self.eps = eps
        for name in ("q_gain", "k_gain"):
            self.register_parameter(name, torch.nn.Parameter(torch.ones(head_dim)))

    def forward(self, q, k):
        _pair(q, k, self.q_gain, self.k_gain)
        q_hat = _unit(_wide(q), self.eps) * self.q_gain
        k_hat = _unit(_wide(k), self.eps) * self.k_gain
        return q_hat.to(q.dtype), k_hat.to(k.dtype)


def _pair(q, k, q_gain, k_gain):
    for name, value in {"q": q, "k": k}.items():
        if value.ndim != 4:
            raise ValueError(f"{name} is not of rank 4")
    if q.size(1) != k.size(1):
        raise ValueError("k has other heads than q")
    if q.size(3) != k.size(3):
        raise ValueError("k has another width than q")
    for name, value in {"q_gain": q_gain, "k_gain": k_gain}.items():
        if value.ndim != 1 or value.size(0) != q.size(3):
            raise ValueError(f"{name} does not fit q, k")


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    _pair(q, k, q_gain, k_gain)
    d = q.size(-1)
    q_hat = _unit(_wide(q), eps) * q_gain
    k_hat = _unit(_wide(k), eps) * k_gain
    scores = torch.matmul(q_hat.to(_wide(q).dtype), k_hat.to(_wide(q).dtype).transpose(2, 3))
    return (scores / d**0.5).to(q.dtype)


def logit_bound(q_gain, k_gain):
    if q_gain.ndim != 1 or k_gain.ndim != 1 or q_gain.numel() != k_gain.numel():
        raise ValueError("q_gain and k_gain must be vectors of one length")
    a, b = np.array(q_gain.detach().double()), np.array(k_gain.detach().double())
    return float(np.sqrt(a.size) * np.max(np.abs(a * b)))


def saturation(logits):
    if logits.ndim == 0:
        raise ValueError("logits has rank 0")
    z = logits.detach().double()
    e = torch.exp(z - z.amax(-1, keepdim=True))
    p = e / e.sum(-1, keepdim=True)
    s2, s3 = (p**2).sum(-1), (p**3).sum(-1)
    squared = torch.clamp(s2 - 2 * s3 + s2**2, min=0)
    return float(squared.sqrt().mean())
