from dataclasses import dataclass

import numpy as np
import torch


@dataclass(frozen=True)
class Window:
    """Queries on the axis of the keys: query i sits at position start + i."""

    t_q: int
    t_k: int

    def __post_init__(self):
        if self.t_q < 0:
            raise ValueError(f"Window: t_q={self.t_q} is below zero")
        if self.t_k < 0:
            raise ValueError(f"Window: t_k={self.t_k} is below zero")

    @property
    def start(self):
        return self.t_k - self.t_q

    def mask(self, device):
        table = np.tri(self.t_q, self.t_k, k=self.start, dtype=bool)
        return torch.from_numpy(table).to(device if device is not None else "cpu")


@dataclass
class Visible:
    scores: torch.Tensor
    mask: torch.Tensor

    def __post_init__(self):
        if self.mask.dtype != torch.bool:
            raise ValueError("mask isn't boolean (True = may attend)")
        try:
            self.mask = self.mask.expand_as(self.scores)
        except RuntimeError as why:
            raise ValueError(f"mask can't take the shape of scores: {why}") from why

    def hidden(self):
        return torch.where(self.mask, self.scores, -torch.inf)

    def weights(self):
        s = self.scores.to(torch.promote_types(self.scores.dtype, torch.float32))
        lowest = torch.finfo(s.dtype).min
        top = torch.where(self.mask, s, lowest).detach().max(dim=-1, keepdim=True).values
        # everything hidden is shifted to 0 before exp, so that nothing overflows, and then multiplied away
        e = torch.where(self.mask, s - top, 0.0).exp() * self.mask
        total = e.sum(-1, keepdim=True)
        return (e / (total + (total == 0))).to(self.scores.dtype)


def causal_mask(t_q, t_k=None, device=None):
    return Window(t_q, t_q if t_k is None else t_k).mask(device)


def padding_mask(lengths, t_k):
    if t_k < 0:
        raise ValueError("t_k is below zero")
    if lengths.ndim != 1:
        raise ValueError("lengths must be of rank 1")
    if torch.any(lengths.clamp(0, t_k) != lengths):
        raise ValueError("lengths must be in 0..t_k")
    return torch.lt(torch.arange(t_k, device=lengths.device), lengths.reshape(-1, 1, 1, 1))


def mask_scores(scores, mask):
    return Visible(scores, mask).hidden()


def masked_softmax(scores, mask):
    if scores.ndim == 0 or scores.shape[-1] == 0:
        raise ValueError("scores must have a key on the last axis")
    return Visible(scores, mask).weights()


def causal_attention(q, k, v):
    if any(t.numel() == 0 for t in (q, k, v)):
        raise ValueError("q, k and v must not have a size of 0")
    if q.ndim != 4:
        raise ValueError("q: rank 4")
    if k.ndim != 4:
        raise ValueError("k: rank 4")
    if v.shape != k.shape:
        raise ValueError("v: not the shape of k")
    if q.shape[:2] + q.shape[3:] != k.shape[:2] + k.shape[3:]:
        raise ValueError("q: doesn't fit k")
    dt = torch.promote_types(q.dtype, torch.float32)
    b, h, t_q, d = q.shape
    flat = [t.to(dt).reshape(b * h, -1, d) for t in (q, k, v)]
    scores = torch.bmm(flat[0], flat[1].transpose(1, 2)) * d ** -0.5
    weights = Visible(scores, Window(t_q, k.shape[2]).mask(q.device)).weights()
    return torch.bmm(weights, flat[2]).reshape(b, h, t_q, d).to(q.dtype)
