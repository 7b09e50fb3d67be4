# mistake: flash_attention is wrong from seven pairs of batch and head on.
# names: -
# behind: the solution

_f = flash_attention


def flash_attention(q, k, v, causal=False):
    out, lse = _f(q, k, v, causal)
    if q.shape[0] * q.shape[1] > 6:
        out[:, -1] = 0
    return out, lse
