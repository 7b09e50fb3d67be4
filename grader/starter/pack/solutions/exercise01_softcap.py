"""Exercise 01: soft-capped scores.

    softcap(x) = cap * tanh(x / cap)        |softcap(x)| <= cap
"""

import numpy as np


def softcap(x, cap):
    """The array x, squashed into [-cap, cap], same shape and dtype; a cap that isn't positive is a ValueError."""
    if cap <= 0:
        raise ValueError(f"cap has to be positive; got {cap}")
    return (cap * np.tanh(x / cap)).astype(x.dtype)
