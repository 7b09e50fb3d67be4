# mistake: masked_softmax drops hidden exponentials from the numerator and keeps them in the sum
# names: hidden-exponentials-in-the-sum
"""Causal masking.

>>> causal_mask(2, 3).tolist()
[[True, True, False], [True, True, True]]
"""
from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import torch

if TYPE_CHECKING:
    from torch import Tensor

_LOW: Final[float] = -math.inf


class AttentionInputError(ValueError):
    """An argument that can't be right."""


@contextlib.contextmanager
def naming(parameter: str) -> Iterator[None]:
    """Turn the complaint of a library into one that names the parameter."""
    try:
        yield
    except (RuntimeError, IndexError, TypeError) as error:
        raise AttentionInputError(f"{parameter}: {error}") from error


@dataclass(frozen=True, kw_only=True)
class Visibility:
    queries: int
    keys: int

    def __post_init__(self) -> None:
        for parameter, size in (("t_q", self.queries), ("t_k", self.keys)):
            if size < 0:
                raise AttentionInputError(f"{parameter} must not be negative, got {size}")

    def table(self, device) -> Tensor:
        i = torch.arange(self.queries, device=device).unsqueeze(-1)
        j = torch.arange(self.keys, device=device).unsqueeze(0)
        return torch.ge(i + (self.keys - self.queries), j)


def causal_mask(t_q, t_k=None, device=None):
    return Visibility(queries=t_q, keys=t_q if t_k is None else t_k).table(device)


def padding_mask(lengths, t_k):
    if t_k < 0:
        raise AttentionInputError(f"t_k must not be negative, got {t_k}")
    if lengths.dim() != 1:
        raise AttentionInputError(f"lengths must have rank 1, got {lengths.dim()}")
    outside = torch.nonzero((lengths < 0).logical_or(lengths > t_k)).flatten().tolist()
    if outside:
        raise AttentionInputError(f"lengths at {outside} are outside 0..{t_k}")
    positions = torch.arange(t_k, device=lengths.device).expand(lengths.numel(), t_k)
    return positions.lt(lengths.view(-1, 1)).view(-1, 1, 1, t_k) if t_k and lengths.numel() else torch.zeros(
        lengths.numel(), 1, 1, t_k, dtype=torch.bool, device=lengths.device)


def _broadcast(mask: Tensor, scores: Tensor) -> Tensor:
    if mask.dtype != torch.bool:
        raise AttentionInputError(f"mask must be boolean, got {mask.dtype}")
    with naming("mask"):
        return mask.expand(scores.shape)


def mask_scores(scores, mask):
    hidden = _broadcast(mask, scores).logical_not()
    return scores.masked_fill(hidden, _LOW)


def masked_softmax(scores, mask):
    visible = _broadcast(mask, scores)
    if scores.dim() == 0:
        raise AttentionInputError("scores must have an axis to normalise over")
    wide = scores.to(torch.promote_types(scores.dtype, torch.float32))
    safe = torch.where(visible, wide, torch.zeros((), dtype=wide.dtype, device=wide.device))
    peak = safe.masked_fill(visible.logical_not(), _LOW).amax(-1, keepdim=True) if scores.shape[-1] else safe.sum(-1, keepdim=True)
    peak = torch.nan_to_num(peak, neginf=0.0).detach()
    # hidden scores are zeros by now, but zero minus a very negative peak still overflows
    exponent = safe - peak
    numerator = exponent.exp()
    denominator = numerator.sum(-1, keepdim=True)
    numerator = numerator * visible
    return (numerator / denominator.masked_fill(denominator == 0, 1.0)).to(scores.dtype)


def causal_attention(q, k, v):
    for parameter, tensor in dict(q=q, k=k, v=v).items():
        if tensor.dim() != 4:
            raise AttentionInputError(f"{parameter} must have rank 4, got {tensor.dim()}")
    match (*q.shape,), (*k.shape,), (*v.shape,):
        case (b, h, t_q, d), (kb, kh, t_k, kd), (vb, vh, vt, vd) if (b, h) == (kb, kh) == (vb, vh) and d == kd == vd and t_k == vt:
            pass
        case shapes:
            raise AttentionInputError(f"q, k and v don't fit each other: {shapes}")
    kind = torch.promote_types(q.dtype, torch.float32)
    logits = torch.einsum("bhqd,bhkd->bhqk", q.to(kind), k.to(kind)) / math.sqrt(d or 1)
    weights = masked_softmax(logits, Visibility(queries=t_q, keys=t_k).table(q.device))
    return torch.einsum("bhqk,bhkd->bhqd", weights, v.to(kind)).to(q.dtype)
