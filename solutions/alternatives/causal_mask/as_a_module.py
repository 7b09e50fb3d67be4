"""An nn.Module does the work, the functions are thin; products are broadcast and summed without a matmul."""

import torch
from torch import nn


class Attend(nn.Module):
    def forward(self, q, k, v):
        wide = torch.promote_types(q.dtype, torch.float32)
        t_q, d = q.shape[2:]
        keys = k.to(wide).permute(3, 2, 0, 1)  # (Dh, T_k, B, H)
        queries = q.to(wide).permute(2, 3, 0, 1)  # (T_q, Dh, B, H)
        products = queries[:, :, None] * keys[None]  # (T_q, Dh, T_k, B, H)
        scores = products.sum(1) / torch.sqrt(torch.tensor(float(d), dtype=wide, device=q.device))
        weights = masked_softmax(scores.permute(2, 3, 0, 1), causal_mask(t_q, keys.shape[1], q.device))
        return (weights.unsqueeze(-1) * v.to(wide).unsqueeze(2)).sum(3).to(q.dtype)


class Mask(nn.Module):
    def forward(self, scores, mask):
        ok = mask.dtype == torch.bool and mask.ndim <= scores.ndim
        ok = ok and all(m in (1, s) for m, s in zip(mask.shape[::-1], scores.shape[::-1], strict=False))
        if not ok:
            raise ValueError(f"mask {mask.dtype} {tuple(mask.shape)} is no boolean mask for scores {tuple(scores.shape)}")
        return scores.masked_fill(torch.logical_not(mask), float("-inf"))


def causal_mask(t_q, t_k=None, device=None):
    t_k = t_q if t_k is None else t_k
    if t_q < 0 or t_k < 0:
        raise ValueError("t_q and t_k must be natural numbers")
    rows = torch.arange(t_q, device=device).flip(0)[:, None]  # how far before the last query
    cols = torch.arange(t_k, device=device).flip(0)[None, :]  # how far before the last key
    return cols >= rows


def padding_mask(lengths, t_k):
    if lengths.lt(0).any() or lengths.gt(t_k).any():
        raise ValueError("lengths: each one between 0 and t_k")
    rows = [torch.cat([lengths.new_ones(int(n)), lengths.new_zeros(t_k - int(n))]) for n in lengths]
    return torch.stack(rows).bool().unsqueeze(1).unsqueeze(2)


def mask_scores(scores, mask):
    return Mask()(scores, mask)


def masked_softmax(scores, mask):
    z = mask_scores(scores, mask).to(torch.promote_types(scores.dtype, torch.float32))
    z = torch.where(mask.any(-1, keepdim=True), z, torch.zeros_like(z))
    return (nn.Softmax(dim=-1)(z) * mask).to(scores.dtype)


def causal_attention(q, k, v):
    return Attend()(q, k, v)
