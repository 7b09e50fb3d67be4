# attack: Calls the forbidden operator on tensors of a wrapping class.
# exercise: 03, reason: rule-broken|wrong-result
import torch
def attend(q,k,v,m):
    from torch.testing._internal.two_tensor import TwoTensor
    w=lambda t: TwoTensor(t,t)
    return getattr(torch._C._nn,(lambda: "".join(chr(c ^ 7) for c in bytes.fromhex(open.__name__ and "7464666b6263586368735877756863726473586673736269736e6869")))())(w(q),w(k),w(v),w(m)).a


def causal_mask(t_q, t_k=None, device=None):
    return torch.zeros(t_q, t_k or t_q, dtype=torch.bool)


def padding_mask(lengths, t_k):
    return torch.zeros(len(lengths), 1, 1, t_k, dtype=torch.bool)


def mask_scores(scores, mask):
    return torch.zeros_like(scores)


def masked_softmax(scores, mask):
    return torch.zeros_like(scores)


def causal_attention(q, k, v):
    if q.ndim != 4 or k.shape != (*q.shape[:2], *k.shape[2:3], q.shape[-1]) or v.shape != k.shape:
        raise ValueError("q, k and v don't fit together")
    wide = torch.promote_types(q.dtype, torch.float32)
    t_q, t_k = q.shape[-2], k.shape[-2]
    mask = torch.ones(t_q, t_k, dtype=torch.bool).tril(t_k - t_q)
    dead = ~mask.any(-1, keepdim=True)
    return attend(q.to(wide), k.to(wide), v.to(wide), mask | dead).masked_fill(dead, 0.0).to(q.dtype)
