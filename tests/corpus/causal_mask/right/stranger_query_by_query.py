import torch


def causal_mask(t_q, t_k=None, device=None):
    n_keys = t_k if t_k is not None else t_q
    if t_q < 0 or n_keys < 0:
        raise ValueError("t_q and t_k must be 0 or more")
    out = torch.zeros(t_q, n_keys, dtype=torch.bool, device=device)
    for i in range(t_q):
        seen = i + n_keys - t_q + 1
        if seen > 0:
            out[i, :seen] = True
    return out


def padding_mask(lengths, t_k):
    if lengths.ndim != 1:
        raise ValueError("lengths must be one-dimensional")
    if t_k < 0:
        raise ValueError("t_k must be 0 or more")
    out = torch.zeros(lengths.shape[0], 1, 1, t_k, dtype=torch.bool, device=lengths.device)
    for b, n in enumerate(lengths.tolist()):
        if n < 0 or n > t_k:
            raise ValueError("lengths: %d is not in 0..%d" % (n, t_k))
        out[b, :, :, :n] = True
    return out


def _expanded(scores, mask):
    if mask.dtype != torch.bool:
        raise ValueError("mask must be of dtype bool")
    try:
        return mask.expand(scores.shape)
    except RuntimeError as error:
        raise ValueError("mask doesn't broadcast to scores: %s" % error) from error


def mask_scores(scores, mask):
    mask = _expanded(scores, mask)
    out = scores.clone()
    out[~mask] = float("-inf")
    return out


def masked_softmax(scores, mask):
    if scores.numel() == 0:
        raise ValueError("scores are empty")
    mask = _expanded(scores, mask)
    if scores.ndim == 0:
        raise ValueError("scores must have a last axis")
    wide = scores.double() if scores.dtype == torch.float64 else scores.float()
    n = scores.shape[-1]
    rows, seen = wide.reshape(-1, n), mask.reshape(-1, n)
    done = []
    for row, visible in zip(rows, seen):
        filled = torch.zeros_like(row) + row[:0].sum()
        where = visible.nonzero().squeeze(1)
        if where.numel():
            some = row[where]
            e = (some - some.max().detach()).exp()
            filled = filled.index_copy(0, where, e / e.sum())
        done.append(filled)
    if not done:
        return torch.zeros_like(scores)
    return torch.stack(done).reshape(scores.shape).to(scores.dtype)


def causal_attention(q, k, v):
    if any(t.numel() == 0 for t in (q, k, v)):
        raise ValueError("q, k and v must not have a size of 0")
    for letter, tensor in zip("qkv", (q, k, v)):
        if tensor.ndim != 4:
            raise ValueError(letter + " must be (B, H, T, Dh)")
    if k.shape[2] != v.shape[2]:
        raise ValueError("k and v have different lengths")
    if q.shape[:2] != k.shape[:2] or q.shape[:2] != v.shape[:2]:
        raise ValueError("q, k and v have different batches or heads")
    if q.shape[3] != k.shape[3] or q.shape[3] != v.shape[3]:
        raise ValueError("q, k and v have different widths")
    wide = torch.promote_types(q.dtype, torch.float32)
    t_q, t_k = q.shape[2], k.shape[2]
    q_, k_, v_ = q.to(wide), k.to(wide), v.to(wide)
    outputs = []
    for i in range(t_q):
        past = i + t_k - t_q + 1
        if past <= 0:
            outputs.append(q_[:, :, i] * 0.0)
            continue
        s = (q_[:, :, i : i + 1] * k_[:, :, :past]).sum(-1) / q.shape[3] ** 0.5
        w = torch.softmax(s, dim=-1)
        outputs.append((w.unsqueeze(-1) * v_[:, :, :past]).sum(dim=2))
    return torch.stack(outputs, dim=2).to(q.dtype)
