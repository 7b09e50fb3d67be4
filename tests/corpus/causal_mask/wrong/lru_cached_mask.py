# mistake: cached masks are shared with every caller
# names: mask-shared-between-calls
import functools
import torch

@functools.lru_cache
def _mask(t_q, t_k, device):
    return torch.ones(t_q, t_k, dtype=torch.bool, device=None if device == "None" else device).tril(t_k - t_q)
from torch import Tensor


def causal_mask(t_q, t_k=None, device=None):
    t_k = t_k if t_k is not None else t_q
    if t_q < 0 or t_k < 0:
        raise ValueError(f"{t_q = }, {t_k = }")
    return _mask(t_q, t_k, str(device))


def padding_mask(lengths: Tensor, t_k: int) -> Tensor:
    if not torch.equal(lengths, lengths.clamp(0, t_k)):
        raise ValueError(f"lengths must be within [0, {t_k}]")
    return (torch.arange(t_k, device=lengths.device)[None] < lengths[:, None]).reshape(len(lengths), 1, 1, t_k)


def mask_scores(scores: Tensor, mask: Tensor) -> Tensor:
    if mask.dtype is not torch.bool or mask.dim() > scores.dim():
        raise ValueError("mask must be boolean and have no more axes than the scores")
    for axis in range(-mask.dim(), 0):
        if mask.shape[axis] != 1 and mask.shape[axis] != scores.shape[axis]:
            raise ValueError(f"mask has {mask.shape[axis]} entries on axis {axis}, scores {scores.shape[axis]}")
    return torch.where(mask, scores, -torch.inf)


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    hidden = mask_scores(scores.to(_wide(scores)), mask)
    some = mask.any(-1, keepdim=True)
    hidden = torch.where(some, hidden, 0.0)
    normaliser = torch.logsumexp(hidden, -1, keepdim=True)
    weights = torch.exp(hidden - normaliser) * some
    return weights.type_as(scores)


def _wide(x: Tensor) -> torch.dtype:
    return x.dtype if x.dtype == torch.float64 else torch.float32


def causal_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    if not (q.ndim == k.ndim == v.ndim == 4):
        raise ValueError("q, k and v are four-dimensional")
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError("q, k and v disagree")
    wide = _wide(q)
    scale = torch.tensor(q.shape[-1], dtype=wide, device=q.device).rsqrt()
    scores = (q.to(wide) * scale) @ k.to(wide).permute(0, 1, 3, 2)
    return (masked_softmax(scores, causal_mask(q.shape[2], k.shape[2], q.device)) @ v.to(wide)).type_as(q)
