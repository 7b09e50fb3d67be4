# right: mean as a matrix product, lengths divided out after the raw products, saturation in a loop
import torch
from torch import nn

wide = lambda dtype: torch.float64 if dtype == torch.float64 else torch.float32


def _gain(name, g, n):
    if g.ndim != 1 or len(g) != n:
        raise ValueError(f"{name}: shape {tuple(g.shape)}, wanted ({n},)")


def _pair(q, k):
    if q.ndim != 4 or k.ndim != 4:
        raise ValueError("q and k: four axes each")
    if q.shape[0] != k.shape[0] or q.shape[1] != k.shape[1] or q.shape[3] != k.shape[3]:
        raise ValueError("q and k: batch, heads and width must agree")


def _inverse_rms(x, eps):
    """1 / rms as a column; the mean is a product with a vector of 1/n."""
    n = x.shape[-1]
    average = torch.full((n, 1), 1.0 / n, dtype=x.dtype, device=x.device)
    return torch.rsqrt((x * x) @ average + eps)


def rms_norm(x, gain, eps=1e-6):
    if x.ndim < 1:
        raise ValueError("x: at least one axis")
    _gain("gain", gain, x.shape[-1])
    y = x.to(wide(x.dtype))
    inv = _inverse_rms(y.reshape(-1, y.shape[-1]), eps).reshape(*y.shape[:-1], 1)
    return y.mul(inv).mul(gain.to(y.dtype)).to(x.dtype)


class QKNorm(nn.Module):
    q_gain: nn.Parameter
    k_gain: nn.Parameter

    def __init__(self, head_dim, eps=1e-6):
        if head_dim < 1:
            raise ValueError(f"head_dim: {head_dim}")
        super().__init__()
        self.q_gain, self.k_gain = (nn.Parameter(torch.ones(head_dim)) for _ in "qk")
        self.eps = eps

    def forward(self, q, k):
        _pair(q, k)
        if q.shape[3] != self.q_gain.shape[0]:
            raise ValueError("q and k: not of the module's width")
        return tuple(rms_norm(x, g, self.eps) for x, g in zip((q, k), (self.q_gain, self.k_gain)))


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    """Raw products with the joint gain first; the lengths are divided out afterwards, row and column wise."""
    _pair(q, k)
    n = q.shape[3]
    _gain("q_gain", q_gain, n)
    _gain("k_gain", k_gain, n)
    w = wide(q.dtype)
    a, b = q.to(w), k.to(w)
    joint = q_gain.to(w) * k_gain.to(w)
    a_inv, b_inv = _inverse_rms(a, eps), _inverse_rms(b, eps)
    # put the row factor in early so that nothing overflows
    raw = (a * a_inv * joint) @ b.transpose(2, 3)
    return (raw * b_inv.transpose(2, 3) / n**0.5).to(q.dtype)


def logit_bound(q_gain, k_gain):
    if q_gain.ndim != 1:
        raise ValueError("q_gain: one axis")
    _gain("k_gain", k_gain, len(q_gain))
    n = len(q_gain)
    return max(abs(a * b) for a, b in zip(q_gain.tolist(), k_gain.tolist())) * n**0.5


def saturation(logits):
    if logits.ndim < 1:
        raise ValueError("logits: at least one axis")
    rows = logits.detach().double().reshape(-1, logits.shape[-1])
    total = 0.0
    for row in rows:  # one row after the other, the Jacobian written down in full
        p = torch.softmax(row, 0)
        jacobian = torch.diag(p) - torch.outer(p, p)
        total += jacobian.norm().item()
    return total / len(rows)
