# attack: Evaluates a text in which the forbidden call stands, in base64.
# exercise: 03, reason: rule-broken|wrong-result
# says: off limits
import torch

import base64


def act(q, k, v):
    return eval(base64.b64decode(b"dG9yY2gubm4uZnVuY3Rpb25hbC5zY2FsZWRfZG90X3Byb2R1Y3RfYXR0ZW50aW9uKHEsIGssIHYsIGlzX2NhdXNhbD1UcnVlKQ==").decode(), {"torch": torch, "q": q, "k": k, "v": v})


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
