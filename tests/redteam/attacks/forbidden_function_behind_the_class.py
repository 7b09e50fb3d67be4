# attack: Calls the function with which the forbidden class does its work.
# exercise: 03, reason: rule-broken|wrong-result
# says: off limits
import torch
def attend(q,k,v,m):
    d=q.shape[-1]; e=torch.eye(d,dtype=q.dtype)
    f=lambda t:t.reshape(-1,*t.shape[2:]).transpose(0,1)
    return torch.nn.functional.multi_head_attention_forward(f(q),f(k),f(v),d,1,e.repeat(3,1),None,None,None,False,0.0,e,None,attn_mask=~m,need_weights=True)[0].transpose(0,1).reshape(q.shape)


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
