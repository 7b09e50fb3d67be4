# mistake: eps is a registered buffer of QKNorm
# says: The state dict holds eps
import torch
import torch.nn as nn


class RMS:
    def __init__(self, eps):
        self.eps = eps

    def __call__(self, x, gain):
        h = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        return h / (h.pow(2).mean(-1, keepdim=True) + self.eps).sqrt() * gain.to(h.dtype)


def rms_norm(x, gain, eps=1e-6):
    if x.dim() == 0:
        raise ValueError("x has no axes")
    if gain.dim() != 1 or gain.size(0) != x.size(-1):
        raise ValueError("gain does not match the last axis of x")
    if eps < 0:
        raise ValueError("eps is negative")
    return RMS(eps)(x, gain).to(x.dtype)


class QKNorm(nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        super().__init__()
        if head_dim < 1:
            raise ValueError("head_dim is below 1")
        self.q_gain = nn.Parameter(torch.ones(head_dim))
        self.k_gain = nn.Parameter(torch.ones(head_dim))
        # moves with the module to its device
        self.register_buffer("eps", torch.tensor(eps, dtype=torch.float32))

    def forward(self, q, k):
        if q.dim() != 4 or q.size(-1) != self.q_gain.numel():
            raise ValueError("q does not match head_dim")
        if k.dim() != 4 or k.size(-1) != self.k_gain.numel():
            raise ValueError("k does not match head_dim")
        if q.size(0) != k.size(0) or q.size(1) != k.size(1):
            raise ValueError("q and k have different heads")
        norm = RMS(self.eps.item())
        return norm(q, self.q_gain).to(q.dtype), norm(k, self.k_gain).to(k.dtype)


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    if q.dim() != 4:
        raise ValueError("q is not (B, H, T_q, Dh)")
    if k.dim() != 4:
        raise ValueError("k is not (B, H, T_k, Dh)")
    d = q.size(-1)
    if d == 0:
        raise ValueError("q is empty")
    if k.size(-1) != d or k.size(0) != q.size(0) or k.size(1) != q.size(1):
        raise ValueError("q and k do not match")
    for name, g in {"q_gain": q_gain, "k_gain": k_gain}.items():
        if g.dim() != 1 or g.size(0) != d:
            raise ValueError(f"{name} does not match Dh")
    if eps < 0:
        raise ValueError("eps is negative")
    norm = RMS(eps)
    return (norm(q, q_gain) @ norm(k, k_gain).transpose(2, 3) * d**-0.5).to(q.dtype)


def logit_bound(q_gain, k_gain):
    if q_gain.dim() != 1 or q_gain.numel() == 0:
        raise ValueError("q_gain is not (Dh,)")
    if q_gain.shape != k_gain.shape:
        raise ValueError("k_gain is not (Dh,)")
    return ((q_gain.double() * k_gain.double()).abs().max() * q_gain.numel() ** 0.5).item()


def saturation(logits):
    if logits.dim() == 0 or logits.numel() == 0:
        raise ValueError("logits has no axes or no entries")
    p = logits.detach().double().softmax(-1)
    p2 = (p * p).sum(-1)
    p3 = (p * p * p).sum(-1)
    return (p2 + p2 * p2 - 2 * p3).clamp(min=0.0).sqrt().mean().item()
