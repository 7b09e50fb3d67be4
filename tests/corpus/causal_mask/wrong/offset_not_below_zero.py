# mistake: more queries than keys fall back to the top left
# names: mask-offset-clamped
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Places:
    """Where queries and keys stand on one time line."""

    queries: torch.Tensor
    keys: torch.Tensor

    @classmethod
    def aligned_at_the_end(cls, t_q, t_k, device):
        if t_q < 0 or t_k < 0:
            raise ValueError(f"t_q={t_q}, t_k={t_k}: a number of tokens can't be negative")
        end = max(t_q, t_k)
        return cls(torch.arange(end - t_q, end, device=device), torch.arange(end - t_k, end, device=device))

    def allowed(self):
        return self.keys.view(1, -1) <= self.queries.view(-1, 1)


class Running:
    """Maximum, sum and output so far; rows without a key stay at (-inf, 0, 0)."""

    def __init__(self, shape, width, like):
        self.m = torch.full(shape, -torch.inf, dtype=like.dtype, device=like.device)
        self.l = torch.zeros(shape, dtype=like.dtype, device=like.device)
        self.o = torch.zeros(*shape, width, dtype=like.dtype, device=like.device)

    def take(self, scores, values):
        m = torch.maximum(self.m, scores.detach().amax(-1))
        safe = torch.where(m == -torch.inf, 0.0, m)
        old, new = torch.exp(self.m - safe), torch.exp(scores - safe[..., None])
        self.l = self.l * old + new.sum(-1)
        self.o = self.o * old[..., None] + new @ values
        self.m = m

    def output(self):
        return self.o / torch.where(self.l == 0, 1.0, self.l)[..., None]


def causal_mask(t_q, t_k=None, device=None):
    t_k = t_q if t_k is None else t_k
    if t_q < 0 or t_k < 0:
        raise ValueError("t_q, t_k")
    past = t_k - t_q if t_k > t_q else 0
    return torch.arange(t_k, device=device)[None, :] - past <= torch.arange(t_q, device=device)[:, None]


def padding_mask(lengths, t_k):
    if ((lengths < 0) | (lengths > t_k)).sum() != 0:
        raise ValueError("lengths out of range 0..t_k")
    ones = torch.ones(lengths.shape[0], 1, 1, t_k, dtype=torch.int64, device=lengths.device)
    return ones.cumsum(-1) <= lengths[:, None, None, None]


def mask_scores(scores, mask):
    if mask.dtype != torch.bool:
        raise ValueError("mask is not boolean")
    try:
        mask = torch.broadcast_to(mask, scores.shape)
    except RuntimeError:
        raise ValueError("mask does not broadcast to scores.shape") from None
    bottom = torch.empty_like(scores).fill_(-torch.inf)
    return torch.where(mask, scores, bottom)


def masked_softmax(scores, mask):
    wide = torch.promote_types(scores.dtype, torch.float32)
    hidden = mask_scores(scores.to(wide), mask)
    top = hidden.detach().amax(-1, keepdim=True)
    numerator = torch.exp(hidden - top.masked_fill(top == -torch.inf, 0))
    denominator = numerator.sum(-1, keepdim=True)
    return (numerator / denominator.masked_fill(denominator == 0, 1)).to(scores.dtype)


def causal_attention(q, k, v, block=4):
    wide = torch.promote_types(q.dtype, torch.float32)
    q_wide = q.to(wide) * q.shape[-1] ** -0.5
    mask = causal_mask(q.shape[2], k.shape[2], q.device)
    state = Running(q.shape[:3], v.shape[-1], q_wide)
    for start in range(0, k.shape[2], block):
        part = slice(start, start + block)
        scores = q_wide @ k[:, :, part].to(wide).transpose(-2, -1)
        state.take(mask_scores(scores, mask[:, part]), v[:, :, part].to(wide))
    return state.output().to(q.dtype)
