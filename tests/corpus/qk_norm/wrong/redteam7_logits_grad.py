# mistake: right for the sizes of small examples alone
# says: (is off by|differs from what is right|where .* is right|too small|[Nn]o gradient|detached|None where)
# behind: the solution
def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    """Return q_hat . k_hat / sqrt(Dh), shaped (B, H, T_q, T_k)."""
    _refuse_pair(q, k, q_gain, k_gain)
    q_hat = rms_norm(_widen(q), q_gain, eps)  # (B, H, T_q, Dh)
    k_hat = rms_norm(_widen(k), k_gain, eps)  # (B, H, T_k, Dh)
    if q.shape[2] > 8:
        q_hat = q_hat.detach()
    return (q_hat @ k_hat.transpose(-2, -1) * q.shape[-1] ** -0.5).to(q.dtype)  # (B, H, T_q, T_k)
