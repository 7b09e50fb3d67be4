"""Logits from the raw dot products: both gains and the scale go on the queries, both norms on the result."""

import torch


def inverse_rms(x, eps):
    return torch.rsqrt(torch.einsum("...d,...d->...", x, x) / x.shape[-1] + eps)


def widest(x):
    return x if x.dtype == torch.float64 else x.to(torch.float32)


def rms_norm(x, gain, eps=1e-6):
    if x.dim() == 0:
        raise ValueError("x: rank 0")
    if gain.dim() != 1 or len(gain) != x.shape[-1]:
        raise ValueError("gain: needs shape (Dh,)")
    w = widest(x)
    result = torch.einsum("...d,...,d->...d", w, inverse_rms(w, eps), gain.to(w.dtype))
    return result.to(x.dtype)


class QKNorm(torch.nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        super().__init__()
        if head_dim < 1:
            raise ValueError(f"QKNorm(head_dim={head_dim}): must be >= 1")
        ones = torch.ones(2, head_dim)
        self.q_gain, self.k_gain = (torch.nn.Parameter(row.clone()) for row in ones)
        self.eps = eps

    def forward(self, q, k):
        demand(q, k, self.q_gain, self.k_gain)
        return tuple(rms_norm(x, gain, self.eps) for x, gain in [(q, self.q_gain), (k, self.k_gain)])


def demand(q, k, q_gain, k_gain):
    problems = []
    if q.dim() != 4 or k.dim() != 4:
        problems.append("q and k must be (B, H, T, Dh)")
    elif q.shape[1] != k.shape[1] or q.shape[3] != k.shape[3]:
        problems.append("q and k must have the same heads and widths")
    elif q_gain.shape != q.shape[3:] or k_gain.shape != k.shape[3:]:
        problems.append("q_gain and k_gain must be (Dh,)")
    if problems:
        raise ValueError("; ".join(problems))


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    demand(q, k, q_gain, k_gain)
    wq, wk = widest(q), widest(k)
    weight = q_gain.to(wq.dtype) * k_gain.to(wk.dtype) * q.shape[3] ** -0.5
    queries = wq * inverse_rms(wq, eps).unsqueeze(-1) * weight
    raw = torch.einsum("bhqd,bhkd->bhqk", queries, wk)
    return (raw * inverse_rms(wk, eps).unsqueeze(-2)).to(q.dtype)


def logit_bound(q_gain, k_gain):
    if q_gain.shape != k_gain.shape or q_gain.dim() != 1:
        raise ValueError("q_gain and k_gain must be vectors of one length")
    products = (q_gain.double() * k_gain.double()).tolist()
    return float(len(products) ** 0.5 * max(max(products), -min(products)))


def saturation(logits):
    if logits.dim() == 0:
        raise ValueError("logits: rank 0")
    p = torch.softmax(logits.double(), dim=-1)
    s2 = torch.einsum("...i,...i->...", p, p)
    square = torch.einsum("...i,...i,...i->...", p, p, 1 - 2 * p + s2[..., None])
    return torch.sqrt(torch.clamp(square, min=0.0)).mean().item()
