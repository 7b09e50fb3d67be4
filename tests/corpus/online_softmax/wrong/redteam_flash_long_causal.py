# mistake: flash_attention, causal, forgets the first keys of a long cache.
# names: -
# behind: the solution

_f = flash_attention


def flash_attention(q, k, v, causal=False):
    return _f(q, k, v, causal and k.shape[2] < 160)
