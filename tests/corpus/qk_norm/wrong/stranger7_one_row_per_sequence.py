# mistake: saturation flattens everything behind the first axis into one row
# names: saturation-of-one-row-per-entry-of-the-first-axis
# From somebody who thinks in lengths: x / rms(x) = sqrt(Dh) * x / |x|, eps becomes Dh * eps under the root.
import math

import numpy as np
import torch
from torch.nn import Module, Parameter


class _Base(Module):
    """A parent, so that the two gains come from one place."""

    def __init__(self, names, size):
        super().__init__()
        for name in names:
            setattr(self, name, Parameter(torch.full((size,), 1.0)))


def _same(gain, width, who):
    if list(gain.size()) != [width]:
        raise ValueError(who + ": one gain per column is wanted")


def rms_norm(x, gain, eps=1e-6):
    if x.dim() < 1:
        raise ValueError("x: a number is no vector")
    n = x.size(-1)
    _same(gain, n, "gain")
    double = x.dtype == torch.float64
    y = x.double() if double else x.float()
    length = (torch.einsum("...i,...i->...", y, y) + n * eps).sqrt()
    return ((y * (gain.double() if double else gain.float())) * (math.sqrt(n) / length).unsqueeze(-1)).to(x.dtype)


class QKNorm(_Base):
    def __init__(self, head_dim, eps=1e-6):
        if head_dim < 1:
            raise ValueError("head_dim: at least one column")
        super().__init__(["q_gain", "k_gain"], head_dim)
        self._epsilon = eps

    def forward(self, q, k):
        _check(q, k)
        for who, t in (("q", q), ("k", k)):
            if t.size(3) != self.q_gain.numel():
                raise ValueError(who + ": the width isn't the module's head_dim")
        q_hat = rms_norm(q, self.q_gain, self._epsilon)
        k_hat = rms_norm(k, self.k_gain, self._epsilon)
        return (q_hat, k_hat)


def _check(q, k):
    for who, t in (("q", q), ("k", k)):
        if t.dim() != 4:
            raise ValueError(who + ": four axes")
        if t.numel() == 0:
            raise ValueError(who + ": empty")
    if q.size(1) != k.size(1):
        raise ValueError("k: as many heads as q")
    if q.size(3) != k.size(3):
        raise ValueError("k: as wide as q")
    if q.size(0) != k.size(0):
        raise ValueError("k: as large a batch as q")


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    """The gains only ever meet as a product, so one of the two sides can carry both."""
    _check(q, k)
    n = q.size(3)
    _same(q_gain, n, "q_gain")
    _same(k_gain, n, "k_gain")
    kind = torch.float64 if q.dtype == torch.float64 else torch.float32
    both = q_gain.to(kind) * k_gain.to(kind)
    a, b = q.to(kind), k.to(kind)
    la = a.pow(2).mean(-1, keepdim=True).add(eps).sqrt()
    lb = b.pow(2).mean(-1, keepdim=True).add(eps).sqrt()
    return torch.matmul(a / la * both, torch.transpose(b / lb, 2, 3)).div(math.sqrt(n)).to(q.dtype)


def logit_bound(q_gain, k_gain):
    if q_gain.dim() != 1 or q_gain.numel() < 1:
        raise ValueError("q_gain: a vector is wanted")
    _same(k_gain, q_gain.numel(), "k_gain")
    best = 0.0
    for g, h in zip(q_gain.tolist(), k_gain.tolist()):
        best = max(best, abs(g * h))
    return math.sqrt(q_gain.numel()) * best


def saturation(logits):
    if logits.dim() < 1 or logits.numel() < 1:
        raise ValueError("logits: no row in it")
    z = logits.detach().to("cpu", torch.float64).numpy().reshape(logits.size(0) if logits.dim() > 1 else 1, -1)
    e = np.exp(z - z.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    top = p.argmax(axis=1)[:, None]
    rest = p.copy()
    np.put_along_axis(rest, top, 0.0, axis=1)
    r = rest.sum(axis=1)  # 1 - top, without the cancellation
    a = np.take_along_axis(p, top, axis=1)[:, 0]
    s2, s3 = (rest**2).sum(axis=1), (rest**3).sum(axis=1)
    norm2 = (a * r) ** 2 + 2 * a**2 * s2 + s2 - 2 * s3 + s2**2
    return float(np.sqrt(np.maximum(norm2, 0.0)).mean())
