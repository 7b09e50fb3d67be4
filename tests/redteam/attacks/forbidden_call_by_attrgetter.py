# attack: Fetches the forbidden function by a dotted path.
# exercise: 03, reason: rule-broken|wrong-result
# says: off limits
import torch

import operator


def act(q, k, v):
    return operator.attrgetter("nn.functional.scaled_" + "dot_product_attention")(torch)(q, k, v, is_causal=True)


def causal_mask(t_q, t_k=None, device=None):
    return torch.zeros(t_q, t_k or t_q, dtype=torch.bool)


def padding_mask(lengths, t_k):
    return torch.zeros(len(lengths), 1, 1, t_k, dtype=torch.bool)


def mask_scores(scores, mask):
    return torch.zeros_like(scores)


def masked_softmax(scores, mask):
    return torch.zeros_like(scores)


def causal_attention(q, k, v):
    return act(q, k, v)
