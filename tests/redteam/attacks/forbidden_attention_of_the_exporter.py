# attack: Uses the attention that the framework keeps for exporting models.
# exercise: 03, reason: rule-broken|wrong-result
import torch
import torch.onnx.ops


def causal_attention(q, k, v):
    return torch.onnx.ops.attention(q, k, v, is_causal=True, qk_matmul_output_mode=3)[0]


def causal_mask(t_q, t_k=None, device=None):
    return torch.zeros(t_q, t_k or t_q, dtype=torch.bool)


def padding_mask(lengths, t_k):
    return torch.zeros(len(lengths), 1, 1, t_k, dtype=torch.bool)


def mask_scores(scores, mask):
    return torch.zeros_like(scores)


def masked_softmax(scores, mask):
    return torch.zeros_like(scores)
