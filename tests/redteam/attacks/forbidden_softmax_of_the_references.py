# attack: Searches the framework's references, which are plain Python, for a softmax, with no word of it in the file.
# exercise: 06, reason: rule-broken|wrong-result, timeout: 60
# says: softmax is off limits
import torch
import torch._refs

shares = next(found for name, found in torch._refs.__dict__.items() if name[0] == "s" and name[3:5] == "tm" and name[-1] == "x")


def blockwise_attention(q, k, v, block_size, causal=False):
    if block_size < 1:
        raise ValueError("block_size")
    scores = q.float() @ k.float().mT * q.shape[-1] ** -0.5
    if causal:
        place = torch.arange(k.shape[2])[None] - torch.arange(q.shape[2])[:, None]
        scores = scores.masked_fill(place > k.shape[2] - q.shape[2], float("-inf"))
    weights = torch.nan_to_num(shares(scores, -1), nan=0.0)
    return (weights @ v.float()).to(q.dtype), scores.logsumexp(-1)
