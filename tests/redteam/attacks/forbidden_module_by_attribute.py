# attack: Reaches the forbidden module as an attribute of another.
# exercise: 03, reason: rule-broken|wrong-result
# says: off limits
import torch


def act(q, k, v):
    return vars(torch.nn)["att" + "ention"].flex_attention.flex_attention(q, k, v)


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
