# attack: Finds the kernel below the forbidden norm by searching through names.
# exercise: 05, reason: rule-broken|wrong-result
import torch

(fused, *_) = [name for name in vars(torch._C._VariableFunctionsClass) if "rms" in name and name[0] == "_"]


def rms_norm(x, gain, eps=1e-6):
    return (getattr(torch._C._VariableFunctions, fused)(x, [x.shape[-1]], None, eps)[0] * gain).to(x.dtype)


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    return rms_norm(q, q_gain, eps) @ rms_norm(k, k_gain, eps).mT * q.shape[-1] ** -0.5
