"""What people get wrong about soft caps."""

import numpy as np
from attngrade.misconceptions import misconception


@misconception("cap-multiplied-only", of="softcap")
def multiplied_only(x, cap):
    """You squash x itself and multiply by the cap: scores far below the cap are blown up.

    Example: x=0.1, cap=30: you give 2.99 where 0.1 is nearly untouched.
    Why: tanh(x) is near x; cap * tanh(x) is near cap * x.
    Look at: what stands inside tanh.
    """
    if cap <= 0:
        raise ValueError("cap has to be positive")
    return cap * np.tanh(x)


@misconception("hard-clip", of="softcap")
def hard_clip(x, cap):
    """You clip hard: scores beyond the cap have no gradient, and those below it aren't squashed at all.

    Example: x=1.0, cap=2.0: you give 1.0 where 0.924 is right.
    Why: np.clip is flat beyond the cap, which is the dead gradient that a soft cap avoids.
    Look at: the formula at the top of the stub.
    """
    if cap <= 0:
        raise ValueError("cap has to be positive")
    return np.clip(x, -cap, cap)


@misconception("grows-like-a-logarithm", of="softcap")
def unbounded(x, cap):
    """You use a function that leaves the cap for large scores.

    Example: x=1e6, cap=5: you give about 69 where 5 is the most there is.
    Why: asinh and the logarithm grow without bound, only more slowly.
    Look at: the limit of your function for large x.
    """
    if cap <= 0:
        raise ValueError("cap has to be positive")
    return cap * np.arcsinh(x / cap)


@misconception("no-value-error-for-bad-cap", of="softcap")
def any_cap(x, cap):
    """You take any cap, zero and negative ones too.

    Example: cap=0 gives NaN where a ValueError is asked.
    Why: a cap that can't be meant has to be refused, with its name in the message.
    Look at: the first line of the function.
    """
    with np.errstate(all="ignore"):
        return cap * np.tanh(x / cap)
