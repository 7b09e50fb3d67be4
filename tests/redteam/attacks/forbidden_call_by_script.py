# attack: Compiles the forbidden call in another language than Python.
# exercise: 03, reason: rule-broken|wrong-result
import torch

SOURCE = "def f(q, k, v):\n  return torch." + "scaled_dot_" + "product_attention(q, k, v, None, 0.0, True)\n"


def unit(q, k, v):
    return torch.jit.CompilationUnit(SOURCE).f(q, k, v)


def act(q, k, v):
    return unit(q, k, v)


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
