"""The lowest finite number inside the softmax, weights emptied by the mask and shared out again; talks on stdout and stderr."""

import sys
import warnings

import torch

print("exercise 03, lowest-number version")


def causal_mask(t_q, t_k=None, device=None, verbose=True):
    if t_k is None:
        t_k = t_q
    if t_q < 0 or t_k < 0:
        raise ValueError("t_q and t_k must be >= 0")
    if t_q > t_k and verbose:
        warnings.warn(f"the first {t_q - t_k} queries see nothing", stacklevel=2)
    return torch.ones(t_q, t_k, dtype=torch.uint8, device=device).tril(t_k - t_q) == 1


def padding_mask(lengths, t_k):
    print("lengths:", lengths.tolist(), file=sys.stderr)
    if (lengths < 0).any():
        raise ValueError("a length in lengths is negative")
    if (lengths > t_k).any():
        raise ValueError("a length in lengths exceeds t_k")
    return torch.arange(1, t_k + 1, device=lengths.device)[None, None, None, :] <= lengths[:, None, None, None]


def mask_scores(scores, mask):
    if not mask.dtype == torch.bool:
        raise ValueError(f"Expected a boolean mask, got {mask.dtype}.")
    try:
        full = mask & torch.ones(scores.shape, dtype=torch.bool, device=scores.device)
    except RuntimeError:
        full = None
    if full is None or full.shape != scores.shape:
        raise ValueError(f"Mask mismatch: `mask` has shape {tuple(mask.shape)}, scores {tuple(scores.shape)}.")
    result = scores.clone()
    result.masked_fill_(~full, -float("inf"))
    return result


def masked_softmax(scores, mask):
    wide = scores.to(torch.promote_types(scores.dtype, torch.float32))
    mask_scores(wide, mask)
    weights = wide.masked_fill(~mask, torch.finfo(wide.dtype).min).softmax(dim=-1) * mask
    total = weights.sum(-1, keepdim=True)
    return (weights / total.masked_fill(total == 0, 1)).to(scores.dtype)


def causal_attention(q, k, v):
    print("q", q.shape)
    kind = torch.promote_types(q.dtype, torch.float32)
    mask = causal_mask(q.shape[-2], k.shape[-2], q.device, verbose=False)
    weights = masked_softmax((q.to(kind) @ k.to(kind).mT).div(q.shape[-1] ** 0.5), mask)
    return (weights @ v.to(kind)).to(q.dtype)
