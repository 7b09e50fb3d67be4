# attack: Finds the forbidden class by walking over subclasses.
# exercise: 03, reason: rule-broken|wrong-result
# says: off limits
import torch


def act(q, k, v):
    return next(c for c in torch.nn.Module.__subclasses__() if c.__name__[:6] == "Multih")(q.shape[-1], 1, batch_first=True)(q[0], k[0], v[0])[0]


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
