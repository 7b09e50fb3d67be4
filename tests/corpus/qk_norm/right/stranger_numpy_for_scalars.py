import numpy as np
import torch
from torch import nn

LOW = (torch.float16, torch.bfloat16)


def rms_norm(x, gain, eps=1e-6):
    if x.numel() == 0:
        raise ValueError("x has a size of 0")
    shape = tuple(x.shape)
    if not shape:
        raise ValueError("rms_norm: x must not be a scalar tensor")
    if tuple(gain.shape) != shape[-1:]:
        raise ValueError(f"rms_norm: gain must have shape {shape[-1:]}, not {tuple(gain.shape)}")
    if eps < 0:
        raise ValueError(f"rms_norm: eps must be >= 0, not {eps}")
    y = x.float() if x.dtype in LOW else x
    rows = y.reshape(-1, shape[-1])
    rms = torch.sqrt(torch.mean(rows * rows, dim=1) + eps)
    out = rows.T.div(rms).T * gain.to(y.dtype)
    return out.reshape(shape).to(x.dtype)


class QKNorm(nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        super().__init__()
        if head_dim < 1:
            raise ValueError(f"QKNorm: head_dim must be >= 1, not {head_dim}")
        if eps < 0:
            raise ValueError(f"QKNorm: eps must be >= 0, not {eps}")
        self.eps = eps
        self.q_gain = nn.Parameter(torch.from_numpy(np.ones(head_dim, dtype=np.float32)))
        self.k_gain = nn.Parameter(torch.from_numpy(np.ones(head_dim, dtype=np.float32)))

    def forward(self, q, k):
        expected = self.q_gain.shape[0]
        problems = []
        for name, t in {"q": q, "k": k}.items():
            if t.ndim != 4:
                problems.append(f"{name} has rank {t.ndim} instead of 4")
            elif t.shape[3] != expected:
                problems.append(f"{name} has width {t.shape[3]} instead of {expected}")
        if not problems and q.shape[:2] != k.shape[:2]:
            problems.append(f"q has batch and heads {tuple(q.shape[:2])}, k has {tuple(k.shape[:2])}")
        if problems:
            raise ValueError("QKNorm: " + "; ".join(problems))
        return rms_norm(q, self.q_gain, self.eps), rms_norm(k, self.k_gain, self.eps)


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    if q.numel() == 0 or k.numel() == 0:
        raise ValueError("q and k must not have a size of 0")
    problems = [f"{name} has rank {t.ndim} instead of 4" for name, t in (("q", q), ("k", k)) if t.ndim != 4]
    if problems:
        raise ValueError("qk_norm_logits: " + " and ".join(problems))
    if q.shape[:2] != k.shape[:2] or q.shape[3] != k.shape[3]:
        raise ValueError(f"qk_norm_logits: q {tuple(q.shape)} and k {tuple(k.shape)} don't fit")
    dh = q.shape[3]
    for name, gain in (("q_gain", q_gain), ("k_gain", k_gain)):
        if tuple(gain.shape) != (dh,):
            raise ValueError(f"qk_norm_logits: {name} must have shape {(dh,)}, not {tuple(gain.shape)}")
    a = q.float() if q.dtype in LOW else q
    b = k.float() if k.dtype in LOW else k
    a = rms_norm(a, q_gain, eps)
    b = rms_norm(b, k_gain, eps)
    out = torch.baddbmm(
        a.new_zeros(()),
        a.flatten(0, 1),
        b.flatten(0, 1).transpose(1, 2),
        beta=0,
        alpha=float(1 / np.sqrt(dh)),
    )
    return out.reshape(*q.shape[:3], k.shape[2]).to(q.dtype)


def logit_bound(q_gain, k_gain):
    if q_gain.numel() == 0 or k_gain.numel() == 0:
        raise ValueError("q_gain and k_gain must not be empty")
    g = np.asarray(q_gain.detach().cpu().double())
    h = np.asarray(k_gain.detach().cpu().double())
    if g.ndim != 1:
        raise ValueError("logit_bound: q_gain must be a vector")
    if g.shape != h.shape:
        raise ValueError(f"logit_bound: q_gain {g.shape} and k_gain {h.shape} differ")
    return float(np.sqrt(g.size) * np.abs(g * h).max())


def saturation(logits):
    if logits.numel() == 0:
        raise ValueError("logits has a size of 0")
    z = logits.detach().cpu().double().numpy()
    if z.ndim == 0:
        raise ValueError("saturation: logits must not be a scalar tensor")
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    p = e / e.sum(axis=-1, keepdims=True)
    jacobian = np.eye(p.shape[-1]) * p[..., None, :] - p[..., :, None] * p[..., None, :]
    return float(np.sqrt((jacobian**2).sum(axis=(-2, -1))).mean())
