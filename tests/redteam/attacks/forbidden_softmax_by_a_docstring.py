# attack: Fetches the forbidden softmax by a name that stands in a docstring.
# exercise: 06, reason: rule-broken|wrong-result, timeout: 60
import torch


def shares(scores):
    """softmax"""
    return getattr(scores, shares.__doc__)(-1)


def blockwise_attention(q, k, v, block_size, causal=False):
    if block_size < 1:
        raise ValueError("block_size")
    scores = q.float() @ k.float().mT * q.shape[-1] ** -0.5
    if causal:
        place = torch.arange(k.shape[2])[None] - torch.arange(q.shape[2])[:, None]
        scores = scores.masked_fill(place > k.shape[2] - q.shape[2], float("-inf"))
    weights = torch.nan_to_num(shares(scores), nan=0.0)
    return (weights @ v.float()).to(q.dtype), scores.logsumexp(-1)
