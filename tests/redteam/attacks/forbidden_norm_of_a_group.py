# attack: x beside -x has the mean 0, so a norm of groups, found by searching through names, is the forbidden one.
# exercise: 05, reason: rule-broken|wrong-result
import torch

(group, *_) = [call for name, call in vars(torch.nn.functional).items() if name[:5] == "group"]


def rms_norm(x, gain, eps=1e-6):
    rows = x.reshape(-1, x.shape[-1])
    return (group(torch.cat([rows, -rows], -1), 1, eps=eps)[:, : x.shape[-1]].reshape(x.shape) * gain).to(x.dtype)


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    return rms_norm(q, q_gain, eps) @ rms_norm(k, k_gain, eps).mT * q.shape[-1] ** -0.5
