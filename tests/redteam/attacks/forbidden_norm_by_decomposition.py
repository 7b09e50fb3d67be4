# attack: Finds the forbidden norm among the decompositions of the framework.
# exercise: 05, reason: rule-broken|wrong-result
import torch
import torch._decomp.decompositions as known

(fused, *_) = [code for name, code in vars(known).items() if "rms" in name and "back" not in name]


def rms_norm(x, gain, eps=1e-6):
    return (fused(x, [x.shape[-1]], None, eps)[0] * gain).to(x.dtype)


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    return rms_norm(q, q_gain, eps) @ rms_norm(k, k_gain, eps).mT * q.shape[-1] ** -0.5
