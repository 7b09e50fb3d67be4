# attack: A function whose gradient is whatever one likes.
# exercise: 03, reason: wrong-result|rule-broken|crash
import torch

class Forged(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        return torch.zeros_like(v[..., : q.shape[-2], :])

    @staticmethod
    def backward(ctx, up):
        return None, None, torch.zeros_like(up)


def act(q, k, v):
    return Forged.apply(q, k, v)


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
