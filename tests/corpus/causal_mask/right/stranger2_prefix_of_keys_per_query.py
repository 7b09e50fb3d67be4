import torch


class Visibility:
    """A boolean table and what can be done with it. True = may attend."""

    def __init__(self, table):
        if not torch.is_tensor(table) or table.dtype != torch.bool:
            raise ValueError("the mask must be a boolean tensor")
        self.table = table

    @classmethod
    def causal(cls, t_q, t_k, device=None):
        if t_q < 0:
            raise ValueError("t_q must not be negative")
        if t_k < 0:
            raise ValueError("t_k must not be negative")
        everything = torch.ones((t_q, t_k), dtype=torch.bool, device=device)
        return cls(~everything.triu(diagonal=1 + t_k - t_q))

    def over(self, scores):
        if self.table.dim() > scores.dim():
            raise ValueError("the mask has more axes than the scores")
        for have, want in zip(reversed(self.table.shape), reversed(scores.shape)):
            if have not in (1, want):
                raise ValueError(f"the mask {tuple(self.table.shape)} doesn't broadcast to {tuple(scores.shape)}")
        return self.table.expand_as(scores)

    def hide(self, scores):
        return scores.clone().masked_fill(~self.over(scores), float("-inf"))

    def share(self, scores):
        seen = self.over(scores)
        wide = scores.double() if scores.dtype == torch.float64 else scores.to(torch.float32)
        # the largest visible score; rows without one get 0
        top = wide.detach().masked_fill(~seen, float("-inf")).amax(-1, keepdim=True)
        top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
        # hidden entries are put on the top *before* exp, so that exp never overflows and no gradient is NaN
        safe = torch.where(seen, wide - top, torch.zeros_like(wide))
        e = safe.exp() * seen
        total = e.sum(-1, keepdim=True)
        total = total + (total == 0)
        return (e / total).to(scores.dtype)


def causal_mask(t_q, t_k=None, device=None):
    return Visibility.causal(t_q, t_q if t_k is None else t_k, device).table


def padding_mask(lengths, t_k):
    if t_k < 0:
        raise ValueError("t_k must not be negative")
    if lengths.dim() != 1:
        raise ValueError("lengths must be (B,)")
    rows = []
    for n in lengths.tolist():
        if not 0 <= n <= t_k:
            raise ValueError(f"lengths: {n} is outside 0..{t_k}")
        rows.append([True] * n + [False] * (t_k - n))
    return torch.tensor(rows, dtype=torch.bool, device=lengths.device).view(len(rows), 1, 1, t_k)


def mask_scores(scores, mask):
    return Visibility(mask).hide(scores)


def masked_softmax(scores, mask):
    return Visibility(mask).share(scores)


def causal_attention(q, k, v):
    if not q.dim() == k.dim() == v.dim() == 4:
        raise ValueError("q, k and v must be of rank 4")
    if k.shape != v.shape:
        raise ValueError("k and v must have one shape")
    b, h, t_q, dh = q.shape
    if k.shape[0] != b or k.shape[1] != h or k.shape[3] != dh:
        raise ValueError("q and k must agree in batch, heads and width")
    t_k = k.shape[2]
    up = torch.float64 if q.dtype == torch.float64 else torch.float32
    q_, k_, v_ = q.to(up), k.to(up), v.to(up)
    outputs = []
    for i in range(t_q):
        n = max(0, min(t_k, i + t_k - t_q + 1))  # how many keys query i sees
        if n == 0:
            outputs.append(q_[:, :, i] * 0)
            continue
        s = (k_[:, :, :n] * q_[:, :, i : i + 1]).sum(-1) * dh**-0.5
        w = Visibility(torch.ones(n, dtype=torch.bool, device=q.device)).share(s)
        outputs.append((w.unsqueeze(-1) * v_[:, :, :n]).sum(-2))
    return torch.stack(outputs, dim=2).to(q.dtype)
