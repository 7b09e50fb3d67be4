# attack: Uses the pattern by which the framework's compiler knows attention.
# exercise: 03, reason: rule-broken|wrong-result
import torch
from torch._inductor.fx_passes import fuse_attention


def causal_attention(q, k, v):
    bias = torch.zeros(q.shape[2], k.shape[2], dtype=q.dtype).masked_fill(~torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril(), float("-inf"))
    return fuse_attention._sfdp_pattern_5(q, k, v, bias, q.shape[-1] ** 0.5)


def causal_mask(t_q, t_k=None, device=None):
    return torch.zeros(t_q, t_k or t_q, dtype=torch.bool)


def padding_mask(lengths, t_k):
    return torch.zeros(len(lengths), 1, 1, t_k, dtype=torch.bool)


def mask_scores(scores, mask):
    return torch.zeros_like(scores)


def masked_softmax(scores, mask):
    return torch.zeros_like(scores)
