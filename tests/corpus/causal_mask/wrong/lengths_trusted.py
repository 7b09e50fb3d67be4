# mistake: lengths are not checked
# names: lengths-unchecked
import torch


def causal_mask(t_q, t_k=None, device=None):
    t_k = t_q if t_k is None else t_k
    if any(size < 0 for size in (t_q, t_k)):
        raise ValueError(f"t_q and t_k have to be at least 0, not {(t_q, t_k)}")
    visible = (torch.arange(1, t_q + 1, device=device) + (t_k - t_q)).clamp(min=0)
    return torch.arange(t_k, device=device).expand(t_q, t_k).lt(visible.unsqueeze(1))


def padding_mask(lengths, t_k):
    return (lengths[:, None] > torch.arange(t_k, device=lengths.device)[None, :]).view(-1, 1, 1, t_k)


def mask_scores(scores, mask):
    if mask.dtype != torch.bool:
        raise ValueError("mask isn't boolean")
    try:
        view = mask.expand(*scores.shape) if scores.ndim else mask.reshape(())
    except RuntimeError as problem:
        raise ValueError(f"mask doesn't broadcast to the scores: {problem}") from problem
    return torch.where(~view, torch.tensor(float("-inf"), dtype=scores.dtype, device=scores.device), scores)


def masked_softmax(scores, mask):
    hidden = mask_scores(scores.to(torch.promote_types(scores.dtype, torch.float32)), mask)
    empty = ~mask.any(-1, keepdim=True).expand(*scores.shape[:-1], 1)
    sink = torch.zeros(empty.shape, dtype=hidden.dtype, device=hidden.device).masked_fill(~empty, -torch.inf)
    return torch.cat([hidden, sink], dim=-1).softmax(-1)[..., :-1].to(scores.dtype)


def causal_attention(q, k, v):
    wide = torch.promote_types(q.dtype, torch.float32)
    scores = torch.einsum("bhqd,bhkd->bhqk", [q.to(wide), k.to(wide) * q.shape[-1] ** -0.5])
    weights = masked_softmax(scores, causal_mask(scores.shape[-2], scores.shape[-1], scores.device))
    return torch.einsum("bhqk,bhkd->bhqd", [weights, v.to(wide)]).to(q.dtype)
