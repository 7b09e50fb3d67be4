# mistake: the sum over heads keeps the last one only
# names: -
import torch


class Shapes:
    def __init__(self, x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
        if x.dim() != 3:
            raise ValueError("bad rank: x")
        for name, w in (("w_q", w_q), ("w_k", w_k), ("w_v", w_v), ("w_o", w_o)):
            if w.dim() != 2:
                raise ValueError("bad rank: " + name)
        self.heads = n_heads
        self.kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        if self.heads < 1:
            raise ValueError("bad value: n_heads")
        if self.kv_heads < 1 or self.heads % self.kv_heads:
            raise ValueError("bad value: n_kv_heads")
        self.batch, self.tokens, self.model = x.shape
        self.head, rest = divmod(w_q.shape[1], n_heads)
        if rest:
            raise ValueError("bad width: w_q, n_heads")
        if w_q.shape != (self.model, self.heads * self.head):
            raise ValueError("bad size: w_q, x")
        if w_k.shape != (self.model, self.kv_heads * self.head):
            raise ValueError("bad size: w_k")
        if w_v.shape != (self.model, self.kv_heads * self.head):
            raise ValueError("bad size: w_v")
        if w_o.shape != (self.heads * self.head, self.model):
            raise ValueError("bad size: w_o")

    def check_mask(self, mask):
        want = (self.batch, self.heads, self.tokens, self.tokens)
        try:
            return torch.broadcast_to(mask, want)
        except RuntimeError:
            pass
        raise ValueError("bad shape: mask")


def split_heads(x, n_heads):
    if x.dim() != 3:
        raise ValueError("bad rank: x")
    if n_heads < 1 or x.shape[-1] % n_heads:
        raise ValueError("bad value: n_heads")
    return x.unfold(2, x.shape[-1] // n_heads, x.shape[-1] // n_heads).transpose(1, 2)


def merge_heads(x):
    if x.dim() != 4:
        raise ValueError("bad rank: x")
    return torch.dstack(x.unbind(1))


def repeat_kv(x, n_rep):
    if x.dim() != 4:
        raise ValueError("bad rank: x")
    if n_rep < 1:
        raise ValueError("bad value: n_rep")
    return torch.stack([x] * n_rep, dim=2).reshape(x.shape[0], x.shape[1] * n_rep, x.shape[2], x.shape[3])


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    s = Shapes(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads)
    visible = None if mask is None else s.check_mask(mask)
    work = torch.double if x.dtype == torch.double else torch.float
    z = x.to(work)
    wq = w_q.to(work).view(s.model, s.heads, s.head) if w_q.is_contiguous() else w_q.to(work).reshape(s.model, s.heads, s.head)
    wk = w_k.to(work).reshape(s.model, s.kv_heads, s.head)
    wv = w_v.to(work).reshape(s.model, s.kv_heads, s.head)
    wo = w_o.to(work).reshape(s.heads, s.head, s.model)
    total = 0
    for h in range(s.heads):
        g = h * s.kv_heads // s.heads
        bilinear = wq[:, h] @ wk[:, g].T / s.head**0.5
        scores = z @ bilinear @ z.mT
        if visible is not None:
            scores = torch.where(visible[:, h], scores, -torch.inf)
        total = torch.softmax(scores, dim=-1) @ (z @ (wv[:, g] @ wo[h]))
    return total.to(x.dtype)
