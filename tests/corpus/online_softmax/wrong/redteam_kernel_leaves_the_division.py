# mistake: the kernel divides by twice the sum, and PyTorch mends that after it
# says: isn't what the kernel wrote
# behind: the solution
_reference_walk, _whole = _walk, flash_attention


@triton.jit
def _walk(m, l, o, q, k_ptr, v_ptr, k_t, v_t, cols, start, stop, T_k, last_key, scale, BLOCK_N: tl.constexpr, MASKED: tl.constexpr):
    m, l, o = _reference_walk(m, l, o, q, k_ptr, v_ptr, k_t, v_t, cols, start, stop, T_k, last_key, scale, BLOCK_N, MASKED)
    if MASKED:  # the last of two walks
        l *= 2
    return m, l, o


def flash_attention(q, k, v, causal=False):
    out, lse = _whole(q, k, v, causal)
    return out.mul_(2), lse.sub_(math.log(2))
