"""The softmax has a backward pass of its own (torch.autograd.Function), with the Jacobian-vector product written out."""

import torch


class _MaskedSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores, mask):
        wide = scores.to(torch.promote_types(scores.dtype, torch.float32))
        hidden = wide.masked_fill(~mask, -torch.inf)
        top = hidden.max(dim=-1, keepdim=True).values.clamp_min(torch.finfo(wide.dtype).min)
        e = (hidden - top).exp_()
        total = e.sum(-1, keepdim=True)
        p = e.div_(total.masked_fill_(total == 0, 1.0))
        ctx.save_for_backward(p)
        return p.to(scores.dtype)

    @staticmethod
    def backward(ctx, grad):
        (p,) = ctx.saved_tensors
        g = grad.to(p.dtype)
        return (p * (g - (p * g).sum(-1, keepdim=True))).to(grad.dtype), None


class MaskError(ValueError):
    """A mask that is none."""


def causal_mask(t_q, t_k=None, device=None):
    t_k = t_q if t_k is None else t_k
    if t_q < 0:
        raise ValueError("t_q is negative")
    if t_k < 0:
        raise ValueError("t_k is negative")
    query = torch.arange(t_k - t_q, t_k, device=device)
    key = torch.arange(0, t_k, device=device)
    return torch.ge(query[:, None], key[None, :])


def padding_mask(lengths, t_k):
    for length in lengths:
        if length < 0 or length > t_k:
            raise MaskError(f"lengths holds {int(length)}; allowed are 0 to t_k = {t_k}")
    return torch.stack([torch.arange(t_k, device=lengths.device) < n for n in lengths])[:, None, None]


def mask_scores(scores, mask):
    if mask.is_floating_point() or mask.dtype != torch.bool:
        raise MaskError("mask must be boolean")
    try:
        mask = mask.expand_as(scores)
    except RuntimeError:
        raise MaskError("mask doesn't broadcast to the scores") from None
    return torch.masked_fill(scores, ~mask, float("-inf"))


def masked_softmax(scores, mask):
    mask_scores(scores, mask)  # for its refusals
    return _MaskedSoftmax.apply(scores, mask.expand_as(scores))


def causal_attention(q, k, v):
    work = torch.promote_types(q.dtype, torch.float32)
    scores = torch.matmul(q.to(work), k.to(work).transpose(-1, -2)) / q.shape[-1] ** 0.5
    return torch.matmul(_MaskedSoftmax.apply(scores, causal_mask(q.shape[-2], k.shape[-2], q.device)), v.to(work)).to(q.dtype)
