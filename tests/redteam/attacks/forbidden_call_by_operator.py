# attack: Calls a variant of the forbidden operator by the table of operators.
# exercise: 03, reason: rule-broken|wrong-result
# says: off limits
import torch


def act(q, k, v):
    return getattr(torch.ops.aten, "_scaled_dot_product_flash_attention" + "_for_cpu")(q, k, v, 0.0, True)[0]


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
