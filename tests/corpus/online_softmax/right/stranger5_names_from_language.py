# right: functions of Triton's are imported by their names
# behind: the solution
from triton.language import exp2 as power
from triton.language import where

_reference_walk = _walk


@triton.jit
def _walk(m, l, o, q, k_ptr, v_ptr, k_t, v_t, cols, start, stop, T_k, last_key, scale, BLOCK_N: tl.constexpr, MASKED: tl.constexpr):
    m, l, o = _reference_walk(m, l, o, q, k_ptr, v_ptr, k_t, v_t, cols, start, stop, T_k, last_key, scale, BLOCK_N, MASKED)
    return m, where(l < 0, 0.0, l) * power(0.0 * l), o
