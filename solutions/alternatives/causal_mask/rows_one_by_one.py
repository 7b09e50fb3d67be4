"""Loops: the mask is a list of lists, and each query meets only the keys it may see, so nothing is ever hidden."""

import torch


def causal_mask(t_q, t_k=None, device=None):
    t_k = t_q if t_k is None else t_k
    if min(t_q, t_k) < 0:
        raise ValueError("neither t_q nor t_k may be negative")
    rows = [[j <= i + t_k - t_q for j in range(t_k)] for i in range(t_q)]
    return torch.tensor(rows, dtype=torch.bool, device=device).reshape(t_q, t_k)


def padding_mask(lengths, t_k):
    out = torch.zeros(len(lengths), 1, 1, t_k, dtype=torch.bool, device=lengths.device)
    for b, length in enumerate(lengths.tolist()):
        if not 0 <= length <= t_k:
            raise ValueError(f"lengths[{b}] = {length} is outside 0..{t_k}")
        out[b, ..., :length] = True
    return out


def _fitted(mask, scores):
    if mask.dtype != torch.bool:
        raise ValueError("mask: expected booleans")
    try:
        return torch.broadcast_to(mask, scores.shape)
    except RuntimeError as error:
        raise ValueError(f"mask: {error}") from error


def mask_scores(scores, mask):
    out = scores.clone()
    out[~_fitted(mask, scores)] = -torch.inf
    return out


def masked_softmax(scores, mask):
    visible = _fitted(mask, scores).reshape(-1, scores.shape[-1])
    rows = []
    for row, seen in zip(scores.reshape(-1, scores.shape[-1]), visible, strict=True):
        weights = torch.zeros_like(row)
        where = seen.nonzero().flatten()
        if len(where):
            kept = torch.softmax(row[where].to(torch.promote_types(row.dtype, torch.float32)), 0)
            weights = weights.index_put((where,), kept.to(row.dtype))
        else:
            weights = row * 0
        rows.append(weights)
    return torch.stack(rows).reshape(scores.shape)


def causal_attention(q, k, v):
    dtype = torch.promote_types(q.dtype, torch.float32)
    past = k.shape[2] - q.shape[2]
    outputs = []
    for i in range(q.shape[2]):
        seen = max(0, i + past + 1)
        query = q[:, :, i : i + 1].to(dtype) * q.shape[3] ** -0.5
        weights = torch.softmax(query @ k[:, :, :seen].to(dtype).transpose(2, 3), dim=-1)
        outputs.append(weights @ v[:, :, :seen].to(dtype))
    return torch.cat(outputs, dim=2).to(q.dtype)
