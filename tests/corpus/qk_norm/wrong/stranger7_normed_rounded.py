# mistake: qk_norm_logits rounds the normed vectors to the input's dtype before their product
# names: normed-vectors-rounded-to-half-precision
"""Ported from a functional framework: parameters are a record, everything is a pure function; the module is a thin coat."""
import dataclasses
from functools import partial

import torch
from torch import nn


@dataclasses.dataclass(frozen=True)
class Gains:
    q: torch.Tensor
    k: torch.Tensor

    def validate(self, width, names=("q_gain", "k_gain")):
        for name, g in zip(names, dataclasses.astuple(self) if False else (self.q, self.k)):
            if tuple(g.shape) != (width,):
                raise ValueError(f"{name}.shape == {tuple(g.shape)}, want {(width,)}")
        return self


def compose(*fs):
    def run(x):
        for f in fs:
            x = f(x)
        return x
    return run


def to_compute(x):
    return x.to(torch.promote_types(x.dtype, torch.float32))


def unit(x, *, eps):
    # scale by the largest entry first: squares neither overflow nor vanish
    top = x.detach().abs().amax(-1, keepdim=True)
    s = torch.where(top > 0, top, torch.ones_like(top))
    y = x / s
    return y / torch.sqrt(torch.mean(y**2, -1, keepdim=True) + eps / s / s)


def rms_norm(x, gain, eps=1e-6):
    if x.ndim < 1 or x.shape[-1] < 1:
        raise ValueError("x.ndim >= 1 and x.shape[-1] >= 1 expected")
    if tuple(gain.shape) != tuple(x.shape[-1:]):
        raise ValueError(f"gain.shape == {tuple(gain.shape)}, want {tuple(x.shape[-1:])}")
    return compose(to_compute, partial(unit, eps=eps), lambda y: y * gain.to(y.dtype), lambda y: y.to(x.dtype))(x)


def agree(q, k):
    if q.ndim != 4 or k.ndim != 4:
        raise ValueError(f"q.ndim == {q.ndim}, k.ndim == {k.ndim}, want 4")
    if not (q.numel() and k.numel()):
        raise ValueError("q and k must not be empty")
    for axis, what in ((0, "batch"), (1, "heads"), (3, "width")):
        if q.shape[axis] != k.shape[axis]:
            raise ValueError(f"q and k differ in {what}: {q.shape[axis]} != {k.shape[axis]}")
    return q.shape[-1]


class QKNorm(nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        super().__init__()
        if head_dim <= 0:
            raise ValueError(f"head_dim == {head_dim}")
        self.apply_norm = partial(rms_norm, eps=eps)
        self.q_gain = nn.Parameter(torch.ones(head_dim))
        self.k_gain = nn.Parameter(torch.ones(head_dim))

    def forward(self, q, k):
        if agree(q, k) != self.q_gain.shape[0]:
            raise ValueError(f"q.shape[-1] == {q.shape[-1]}, want {self.q_gain.shape[0]}")
        return tuple(self.apply_norm(x, g) for x, g in ((q, self.q_gain), (k, self.k_gain)))


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    width = agree(q, k)
    gains = Gains(q_gain, k_gain).validate(width)
    qh, kh = to_compute(rms_norm(q, gains.q, eps)), to_compute(rms_norm(k, gains.k, eps))
    rows = [torch.stack([qh[b, h] @ kh[b, h].T for h in range(q.shape[1])]) for b in range(q.shape[0])]
    return (torch.stack(rows) / torch.sqrt(torch.tensor(width, dtype=qh.dtype, device=q.device))).to(q.dtype)


def logit_bound(q_gain, k_gain):
    if q_gain.ndim != 1 or q_gain.shape[0] < 1:
        raise ValueError("q_gain must be one-dimensional and not empty")
    gains = Gains(q_gain.detach().to(torch.float64), k_gain.detach().to(torch.float64)).validate(q_gain.shape[0])
    return float(torch.sort(torch.abs(gains.q * gains.k)).values[-1] * torch.tensor(q_gain.shape[0], dtype=torch.float64).sqrt())


def saturation(logits):
    if logits.ndim == 0 or 0 in logits.shape:
        raise ValueError(f"logits.shape == {tuple(logits.shape)}")
    with torch.inference_mode():
        p = torch.softmax(to_compute(logits).double(), -1).flatten(end_dim=-2) if logits.ndim > 1 else torch.softmax(to_compute(logits).double(), -1)[None]


        def frobenius(r):
            # one row of J after the other would do; here column j of J is r * (delta_j - r_j), in blocks of 64 columns
            columns = torch.arange(r.numel(), device=r.device)
            parts = [(r[None] * ((columns[None] == c[:, None]).to(r) - r[c, None])).norm() for c in columns.split(64)]
            return torch.stack(parts).norm()

        return torch.stack([frobenius(r) for r in p]).mean().item()
