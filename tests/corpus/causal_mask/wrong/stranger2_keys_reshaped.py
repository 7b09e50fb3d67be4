# mistake: causal_attention lays out k as (B*H, Dh, T_k) with reshape instead of a transpose, so the key matrix is scrambled
# names: keys-reshaped-instead-of-transposed
import torch

LOG2E = 1.4426950408889634


def _step(n_true, n_false, device):
    return torch.tensor([True] * n_true + [False] * n_false, dtype=torch.bool, device=device)


def causal_mask(t_q, t_k=None, device=None):
    match (t_q, t_k):
        case (a, None):
            t_k = a
    match (t_q < 0, t_k < 0):
        case (True, _):
            raise ValueError(f"t_q: {t_q}")
        case (_, True):
            raise ValueError(f"t_k: {t_k}")

    # Recursion from the last row upwards: the last query sees everything, each one above sees one key less.
    def rows(count, sees):
        if count == 0:
            return []
        sees = max(sees, 0)
        return rows(count - 1, sees - 1) + [_step(sees, t_k - sees, device)]

    table, block, sees = [], t_q, t_k
    while block > 0:  # in portions, so that Python's stack never overflows
        part = min(block, 200)
        table = rows(part, sees) + table
        sees, block = max(sees - part, 0), block - part
    return torch.stack(table) if table else torch.zeros((0, t_k), dtype=torch.bool, device=device)


def padding_mask(lengths, t_k):
    if t_k < 0:
        raise ValueError(f"t_k: {t_k}")
    if lengths.ndim != 1:
        raise ValueError(f"lengths: rank {lengths.ndim}")
    if lengths.numel() and (lengths.min().item() < 0 or lengths.max().item() > t_k):
        raise ValueError(f"lengths: outside 0..{t_k}")
    # put a marker where each row ends, and see which keys come before it
    ends = torch.zeros((len(lengths), t_k + 1), dtype=torch.int64, device=lengths.device)
    ends.scatter_(1, lengths.long().unsqueeze(1), 1)
    return (ends.cumsum(1)[:, :t_k] == 0)[:, None, None, :]


def _check(scores, mask):
    if getattr(mask, "dtype", None) != torch.bool:
        raise ValueError("mask: not boolean")
    try:
        view = torch.broadcast_to(mask, scores.shape)
    except RuntimeError as e:
        raise ValueError(f"mask: {e}") from None
    return view


def mask_scores(scores, mask):
    mask = _check(scores, mask)
    out = torch.empty_like(scores).fill_(float("-inf"))
    out = out.masked_scatter(mask, scores[mask])
    return out


def masked_softmax(scores, mask):
    mask = _check(scores, mask)
    s = scores.to(torch.float64 if scores.dtype == torch.float64 else torch.float32)
    low = torch.finfo(s.dtype).min
    peak = s.detach().masked_fill(~mask, low).amax(dim=-1, keepdim=True)
    # base two: exp(x) = 2 ** (x log2(e))
    gap = (s - peak).masked_fill(~mask, 0.0)
    p = torch.exp2(gap * LOG2E).masked_fill(~mask, 0.0)
    z = p.sum(dim=-1, keepdim=True)
    return p.mul(z.masked_fill(z == 0, 1.0).reciprocal()).to(scores.dtype)


def causal_attention(q, k, v):
    match (q.ndim, k.ndim, v.ndim):
        case (4, 4, 4):
            pass
        case other:
            raise ValueError(f"q, k, v: ranks {other}, and 4 is asked")
    match (tuple(q.shape), tuple(k.shape), tuple(v.shape)):
        case ((b, h, t_q, d), (b2, h2, t_k, d2), (b3, h3, t_k3, d3)) if (b, h, d) == (b2, h2, d2) == (b3, h3, d3) and t_k == t_k3:
            pass
        case shapes:
            raise ValueError(f"q, k, v: shapes {shapes} don't fit")
    kind = torch.float64 if q.dtype == torch.float64 else torch.float32
    flat_q, flat_k, flat_v = (x.to(kind).reshape(b * h, -1, d) for x in (q, k, v))
    scores = torch.bmm(flat_q, flat_k.reshape(b * h, d, t_k)).mul(d**-0.5)
    out = torch.bmm(masked_softmax(scores, causal_mask(t_q, t_k, q.device)), flat_v)
    return out.reshape(b, h, t_q, d).to(q.dtype)
