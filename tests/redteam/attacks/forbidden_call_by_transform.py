# attack: Hides the forbidden call inside a transformation.
# exercise: 03, reason: rule-broken|wrong-result
# says: off limits
import torch

name = "_".join(["product", "attention"])


def act(q, k, v):
    return torch.func.vmap(lambda a, b, c: vars(torch._C._nn)["scaled_dot_" + name](a, b, c, None, 0.0, True))(q, k, v)


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
