import torch
import torch.nn as nn


def _positive(eps):
    if not eps >= 0:
        raise ValueError("eps has to be zero or positive")
    return eps


def _vector(gain, name, n):
    if gain.ndim != 1 or gain.numel() != n:
        raise ValueError(f"{name} has to be a vector of {n} numbers and has shape {list(gain.shape)}")
    return gain


def _norm(x, gain, eps):
    """In x's own dtype. Large entries are brought down first, so that their squares can't overflow."""
    peak = x.detach().abs().amax(-1, keepdim=True).clamp_min(1.0)
    y = x / peak
    mean_square = torch.einsum("...d,...d->...", y, y).unsqueeze(-1) / x.shape[-1]
    return y / torch.sqrt(mean_square + eps / peak / peak) * gain


def rms_norm(x, gain, eps=1e-6):
    if x.numel() == 0:
        raise ValueError("x has a size of 0")
    _positive(eps)
    if x.ndim < 1:
        raise ValueError("x has to have an axis to take the mean over")
    _vector(gain, "gain", x.shape[-1])
    compute = torch.promote_types(x.dtype, torch.float32)
    return _norm(x.to(compute), gain.to(compute), eps).to(x.dtype)


class QKNorm(nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        if head_dim < 1:
            raise ValueError("head_dim has to be 1 or more")
        super().__init__()
        self.eps = _positive(eps)
        for name in ("q_gain", "k_gain"):
            self.register_parameter(name, nn.Parameter(torch.full((head_dim,), 1.0)))

    def extra_repr(self):
        return f"{self.q_gain.numel()}, eps={self.eps}"

    def forward(self, q, k):
        width = self.q_gain.numel()
        for name, t in zip("qk", (q, k)):
            if t.ndim != 4:
                raise ValueError(f"{name} has to be of rank 4")
            if t.shape[-1] != width:
                raise ValueError(f"{name} has to be {width} wide")
        if q.shape[:2] != k.shape[:2]:
            raise ValueError("q and k have to agree in batch and heads")
        return tuple(rms_norm(t, g, self.eps) for t, g in ((q, self.q_gain), (k, self.k_gain)))


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    if q.numel() == 0 or k.numel() == 0:
        raise ValueError("q and k must not have a size of 0")
    if q.ndim != 4 or k.ndim != 4:
        raise ValueError(f"q and k have to be of rank 4, not {q.ndim} and {k.ndim}")
    b, h, _, d = q.shape
    if (k.shape[0], k.shape[1], k.shape[3]) != (b, h, d):
        raise ValueError(f"k {list(k.shape)} doesn't fit q {list(q.shape)}")
    _vector(q_gain, "q_gain", d)
    _vector(k_gain, "k_gain", d)
    _positive(eps)
    compute = torch.promote_types(q.dtype, torch.float32)
    q_hat = _norm(q.to(compute), q_gain.to(compute), eps)
    k_hat = _norm(k.to(compute), k_gain.to(compute), eps)
    return torch.einsum("bhid,bhjd->bhij", q_hat * d**-0.5, k_hat).to(q.dtype)


def logit_bound(q_gain, k_gain):
    if q_gain.numel() == 0 or k_gain.numel() == 0:
        raise ValueError("q_gain and k_gain must not be empty")
    n = q_gain.numel()
    _vector(q_gain, "q_gain", n)
    _vector(k_gain, "k_gain", n)
    both = [abs(a * b) for a, b in zip(q_gain.tolist(), k_gain.tolist())]
    return max(both) * n**0.5


def saturation(logits):
    if logits.numel() == 0:
        raise ValueError("logits has a size of 0")
    if logits.ndim == 0:
        raise ValueError("logits has to have a row")
    z = logits.detach().to(torch.float64).reshape(-1, logits.shape[-1])
    norms = []
    for row in z:
        p = torch.exp(row - row.max())
        p = p / p.sum()
        jacobian = torch.diag(p) - torch.outer(p, p)
        norms.append(float(torch.linalg.norm(jacobian)))
    return sum(norms) / len(norms)
