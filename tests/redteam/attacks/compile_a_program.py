# attack: Compiles and loads a program of its own with the machine's compiler.
# exercise: 03, reason: wrong-result|rule-broken|crash
import torch

def act(q, k, v):
    from torch.utils.cpp_extension import load_inline

    return load_inline("attack", "int f() { return system(\"touch /tmp/ATTNGRADE_WAS_HERE\"); }", functions=["f"]).f()


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
