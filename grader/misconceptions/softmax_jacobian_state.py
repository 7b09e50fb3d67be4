"""What people get wrong in exercise 02 about memory: results that change after they were returned."""

import functools

import numpy as np
from attngrade.misconceptions import misconception
from attngrade.solutions import exercise02_softmax_jacobian as right

__all__: list[str] = []  # filled below: one misconception for each function

SHARED = """You write every result into the same array; the result of an earlier call of {name} changes under its caller's hands.

Example: after a second call of the same shape the first result holds the second.
Why: a result never shares memory with a result of another call.
Look at: the array that lives outside the function.
"""


def shared(function):
    buffers = {}

    @functools.wraps(function)
    def wrong(z, *args, **kwargs):
        result = np.asarray(function(z, *args, **kwargs))
        buffer = buffers.setdefault((result.shape, result.dtype.str), np.empty_like(result))
        buffer[...] = result
        return buffer

    return wrong


for _name in ("softmax", "softmax_jacobian", "softmax_vjp", "jacobian_norm"):
    _short = {"softmax": "softmax", "jacobian_norm": "norm"}.get(_name, _name.removeprefix("softmax_"))
    _wrong = shared(getattr(right, _name))
    _wrong.__doc__ = SHARED.format(name=_name)
    globals()[f"{_short}_shared_buffer"] = misconception(f"{_short}-shared-buffer", of=_name)(_wrong)
    __all__.append(f"{_short}_shared_buffer")
