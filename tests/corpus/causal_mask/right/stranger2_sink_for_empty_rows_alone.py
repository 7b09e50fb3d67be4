import torch


def _positions(n, device=None):
    # 0, 1, 2, ... as a running count
    return torch.ones(n, dtype=torch.int64, device=device).cumsum(0) - 1


def _fits(scores, mask):
    if not isinstance(mask, torch.Tensor) or mask.dtype is not torch.bool:
        raise ValueError("mask has to be a boolean tensor")
    try:
        return mask.expand(scores.shape)
    except RuntimeError as error:
        raise ValueError(f"mask {tuple(mask.shape)} doesn't broadcast to scores {tuple(scores.shape)}") from error


def causal_mask(t_q, t_k=None, device=None):
    if t_k is None:
        t_k = t_q
    for name, size in {"t_q": t_q, "t_k": t_k}.items():
        if size < 0:
            raise ValueError(f"{name} is negative: {size}")
    # count both axes from the end: the last query sits on the last key
    from_end_q = t_q - 1 - _positions(t_q, device)
    from_end_k = t_k - 1 - _positions(t_k, device)
    return from_end_k >= from_end_q.unsqueeze(1)


def padding_mask(lengths, t_k):
    if t_k < 0:
        raise ValueError(f"t_k is negative: {t_k}")
    if lengths.ndim != 1:
        raise ValueError("lengths has to be of rank 1")
    if ((lengths < 0) | (lengths > t_k)).any():
        raise ValueError(f"lengths has to lie in 0..{t_k}")
    visible = _positions(t_k, lengths.device) < lengths.reshape(-1, 1)
    return visible.reshape(-1, 1, 1, t_k)


def mask_scores(scores, mask):
    full = _fits(scores, mask)
    hidden = torch.full_like(scores, -torch.inf)
    return torch.where(full, scores, hidden)


def masked_softmax(scores, mask):
    full = _fits(scores, mask)
    work = scores if scores.dtype == torch.float64 else scores.float()
    work = work.masked_fill(~full, -torch.inf)
    # one extra key, the sink: it takes all the weight of a row that sees nothing, and nothing of any other row
    sees = full.any(-1, keepdim=True)
    sink = torch.zeros_like(work[..., :1]).masked_fill(sees, -torch.inf)
    with_sink = torch.cat([work, sink], dim=-1).softmax(-1)
    return with_sink[..., :-1].to(scores.dtype)


def causal_attention(q, k, v):
    for name, x in (("q", q), ("k", k), ("v", v)):
        if x.ndim != 4:
            raise ValueError(f"{name} has to be (B, H, T, Dh), not of rank {x.ndim}")
    if k.shape != v.shape:
        raise ValueError(f"k {tuple(k.shape)} and v {tuple(v.shape)} differ")
    if q.shape[:2] != k.shape[:2] or q.shape[3] != k.shape[3]:
        raise ValueError(f"q {tuple(q.shape)} doesn't fit k {tuple(k.shape)}")
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    scores = torch.matmul(q.to(wide), k.to(wide).mT) / q.shape[3] ** 0.5
    weights = masked_softmax(scores, causal_mask(q.shape[2], k.shape[2], q.device))
    return torch.matmul(weights, v.to(wide)).to(q.dtype)
