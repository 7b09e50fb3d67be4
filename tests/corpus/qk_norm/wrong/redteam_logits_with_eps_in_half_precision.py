# mistake: qk_norm_logits with another eps than the default comes back in float16
# says: as its arguments have, was asked
# behind: the solution
_logits = qk_norm_logits


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    y = _logits(q, k, q_gain, k_gain, eps)
    return y.half() if eps != 1e-6 and not q.requires_grad else y
