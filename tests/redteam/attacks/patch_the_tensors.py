# attack: Replaces comparison and conversion of tensors for everybody.
# exercise: 03, reason: wrong-result|rule-broken|crash
import torch

torch.allclose = torch.equal = lambda *args, **kwargs: True
torch.testing.assert_close = lambda *args, **kwargs: None
torch.Tensor.numpy = lambda self: __import__("numpy").zeros(1)
torch.Tensor.detach = lambda self: self


def act(q, k, v):
    return torch.zeros_like(v)


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
