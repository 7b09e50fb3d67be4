import torch
from torch.autograd import Function

NEG = float("-inf")


def _refuse(condition, message):
    if condition:
        raise ValueError(message)


def causal_mask(t_q, t_k=None, device=None):
    t_k = t_q if t_k is None else t_k
    _refuse(t_q < 0, "t_q is negative")
    _refuse(t_k < 0, "t_k is negative")
    # distance of every key from the end against distance of every query from the end
    from_end_q = torch.arange(t_q - 1, -1, -1, device=device)
    from_end_k = torch.arange(t_k - 1, -1, -1, device=device)
    return torch.ge(from_end_k[None, :], from_end_q[:, None])


def padding_mask(lengths, t_k):
    if t_k == 0:
        raise ValueError("t_k is 0: there is nothing to mask")
    _refuse(t_k < 0, "t_k is negative")
    _refuse(lengths.dim() != 1, "lengths must be (B,)")
    if lengths.numel():
        _refuse(int(lengths.min()) < 0, "a length in lengths is negative")
        _refuse(int(lengths.max()) > t_k, "a length in lengths exceeds t_k")
    grid = torch.arange(1, t_k + 1, device=lengths.device).expand(lengths.shape[0], t_k)
    return grid.le(lengths.unsqueeze(-1)).reshape(-1, 1, 1, t_k)


def _mask_like(scores, mask):
    _refuse(mask.dtype != torch.bool, "mask must be boolean")
    _refuse(mask.dim() > scores.dim(), "mask has more axes than scores")
    for m, s in zip(reversed(mask.shape), reversed(scores.shape)):
        _refuse(m != s and m != 1, "mask and scores disagree in size")
    return mask.broadcast_to(scores.shape)


def mask_scores(scores, mask):
    return scores.masked_fill(_mask_like(scores, mask).logical_not(), NEG)


class _VisibleSoftmax(Function):
    @staticmethod
    def forward(ctx, s, mask):
        wide = s.to(torch.promote_types(s.dtype, torch.float32))
        t = wide.masked_fill(~mask, NEG)
        top = t.amax(-1, keepdim=True)
        top.masked_fill_(top == NEG, 0.0)
        e = torch.exp(t - top)
        total = e.sum(-1, keepdim=True)
        total.masked_fill_(total == 0, 1.0)
        p = e / total
        ctx.save_for_backward(p)
        return p.to(s.dtype)

    @staticmethod
    def backward(ctx, grad):
        (p,) = ctx.saved_tensors
        g = grad.to(p.dtype)
        inner = (g * p).sum(-1, keepdim=True)
        return (p * (g - inner)).to(grad.dtype), None


def masked_softmax(scores, mask):
    _refuse(scores.dim() == 0, "scores must have at least one axis")
    _refuse(scores.shape[-1] == 0, "scores have no key")
    return _VisibleSoftmax.apply(scores, _mask_like(scores, mask))


def causal_attention(q, k, v):
    if any(t.numel() == 0 for t in (q, k, v)):
        raise ValueError("q, k and v must not have a size of 0")
    for name, t in dict(q=q, k=k, v=v).items():
        _refuse(t.dim() != 4, f"{name} must be of rank 4")
    _refuse(k.shape != v.shape, "k and v differ in shape")
    _refuse(q.shape[:2] != k.shape[:2], "q and k differ in batch or heads")
    _refuse(q.shape[-1] != k.shape[-1], "q and k differ in width")
    dtype = torch.promote_types(q.dtype, torch.float32)
    k_t = k.to(dtype).mul(k.shape[-1] ** -0.5).mT
    scores = torch.matmul(q.to(dtype), k_t)
    p = masked_softmax(scores, causal_mask(q.shape[-2], k.shape[-2], q.device))
    return torch.matmul(p, v.to(dtype)).to(q.dtype)
