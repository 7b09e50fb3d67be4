import torch


def _need(ok, what):
    if not ok:
        raise ValueError(what)


def causal_mask(t_q, t_k=None, device=None):
    t_k = t_q if t_k is None else t_k
    _need(t_q >= 0 and t_k >= 0, f"t_q and t_k must not be negative: {t_q}, {t_k}")
    # count how many keys each query sees, then compare a running count with it
    seen = (torch.arange(t_q, device=device) + (t_k - t_q + 1)).clamp(min=0)
    running = torch.ones(t_q, t_k, dtype=torch.int64, device=device).cumsum(dim=1)
    return running <= seen[:, None]


def padding_mask(lengths, t_k):
    _need(t_k >= 0, "t_k must not be negative")
    _need(lengths.dim() == 1, "lengths must be a vector")
    _need(bool(torch.all((0 <= lengths) & (lengths <= t_k))), f"lengths must be between 0 and t_k={t_k}")
    # one mark at every end, then "no end so far"
    ends = torch.zeros(lengths.shape[0], t_k + 1, dtype=torch.int64, device=lengths.device)
    ends.scatter_(1, lengths[:, None], 1)
    return (ends.cumsum(1)[:, :t_k] == 0)[:, None, None, :]


def _full_mask(scores, mask):
    _need(mask.dtype == torch.bool, "mask must hold booleans")
    _need(mask.dim() <= scores.dim(), "mask has a higher rank than scores")
    try:
        return mask.expand_as(scores)
    except RuntimeError:
        raise ValueError("mask can't be expanded to scores") from None


def mask_scores(scores, mask):
    visible = _full_mask(scores, mask)
    out = scores.new_full(scores.shape, float("-inf"))
    return out.masked_scatter(visible, scores[visible])


def masked_softmax(scores, mask):
    visible = _full_mask(scores, mask)
    _need(scores.dim() > 0, "scores must have an axis")
    _need(scores.numel() > 0, "scores must not be empty")
    wide = scores.to(torch.promote_types(scores.dtype, torch.float32))
    n = wide.shape[-1]
    rows = wide.numel() // n
    flat, seen = wide.reshape(-1), visible.reshape(-1)
    index = seen.nonzero().squeeze(-1)
    segment = index // n
    values = flat.index_select(0, index)
    top = wide.new_full((rows,), float("-inf")).scatter_reduce(0, segment, values.detach(), "amax")
    e = torch.exp(values - top[segment])
    total = wide.new_zeros(rows).index_add(0, segment, e)
    weights = torch.zeros_like(flat).index_put((index,), e / total[segment])
    return weights.reshape(scores.shape).to(scores.dtype)


def causal_attention(q, k, v):
    _need(q.dim() == 4, "q must be (B, H, T_q, Dh)")
    _need(k.dim() == 4, "k must be (B, H, T_k, Dh)")
    _need(v.dim() == 4, "v must be (B, H, T_k, Dh)")
    B, H, T_q, Dh = q.shape
    T_k = k.shape[2]
    _need(tuple(k.shape) == (B, H, T_k, Dh), "k doesn't fit q")
    _need(tuple(v.shape) == (B, H, T_k, Dh), "v doesn't fit k")
    wide = torch.promote_types(q.dtype, torch.float32)
    scores = torch.tensordot(q.to(wide), k.to(wide), dims=([3], [3])) if B * H == 1 else None
    if scores is not None:
        scores = scores.reshape(1, 1, T_q, T_k)
    else:
        scores = torch.matmul(q.to(wide), k.to(wide).permute(0, 1, 3, 2))
    weights = masked_softmax(scores.div(Dh ** 0.5), causal_mask(T_q, T_k, q.device))
    return torch.matmul(weights, v.to(wide)).to(q.dtype)
