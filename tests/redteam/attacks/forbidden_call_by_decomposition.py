# attack: Finds the forbidden operator's decomposition in the framework's tables.
# exercise: 03, reason: rule-broken|wrong-result
import torch
import torch._decomp
def attend(q,k,v,m):
    for op,fn in torch._decomp.decomposition_table.items():
        if "dot_prod" in str(op):
            try: 
                r=fn(q,k,v,0.0,False,attn_mask=m)
                return r[0] if isinstance(r,tuple) else r
            except TypeError: pass
    for key,table in torch._decomp.global_decomposition_table.items():
        for op,fn in table.items():
            if "dot_prod" in str(op):
                r=fn(q,k,v,m); return r[0] if isinstance(r,tuple) else r


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
