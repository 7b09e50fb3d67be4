"""What people get wrong in exercise 02 about memory: results that change after they were returned, arguments that do, arrays remembered for their place."""

import functools
import sys

import numpy as np
from attngrade.misconceptions import misconception
from attngrade.solutions import exercise02_softmax_jacobian as right

__all__: list[str] = []  # filled below: some misconceptions for each function

SHARED = """You write every result into the same array; the result of an earlier call of {name} changes under its caller's hands.

Example: after a second call of the same shape the first result holds the second.
Why: a result never shares memory with a result of another call.
Look at: the array that lives outside the function.
"""

WIDE = """You write into the caller's own array where it is wide already (float32, float64): there your widening makes no copy.

Example: after the call of {name} z holds shifted scores; only float16 scores stay as they were.
Why: `np.asarray`, `np.asanyarray` and `astype(..., copy=False)` hand back the same array where nothing has to be converted.
Look at: `z -= ...`, `z[...] = ...` or `out=z` after it.
"""

DOUBLE = """You write into the caller's own array where it is float64 already: there your widening makes no copy.

Example: after the call of {name} a float64 z holds something else; float32 and float16 scores stay as they were.
Why: `astype(np.float64, copy=False)` and `np.asarray(z, float)` hand back the same array where nothing has to be converted.
Look at: `z -= ...`, `z /= ...` or `out=z` after it.
"""

REMEMBERED = """You remember an array by its identity and not by what is in it; asked again after its caller had changed it in place, {name} gives the old answer.

Example: z is filled with new scores, in place, and the result is that of the old ones.
Why: `id(z)` says where an array lies, not what it holds.
Look at: the dictionary (or `lru_cache`) that has an array or its id for a key.
"""


def shared(function):
    @functools.wraps(function)
    def wrong(z, *args, **kwargs):
        result = np.asarray(function(z, *args, **kwargs))
        buffer = memory().setdefault(("buffer", function, result.shape, result.dtype.str), np.empty_like(result))
        buffer[...] = result
        return buffer

    return wrong


def shifts(function, *dtypes):
    """The function, its argument shifted by its maximum where it has one of these dtypes."""

    @functools.wraps(function)
    def wrong(z, *args, **kwargs):
        result = function(z, *args, **kwargs)
        if z.dtype in dtypes:
            z -= z.max(axis=(args or (kwargs.get("axis", -1),))[0] if function is right.softmax else -1, keepdims=True)
        return result

    return wrong


def shifts_wide_ones(function):
    return shifts(function, np.float32, np.float64)


def shifts_doubles(function):
    return shifts(function, np.float64)


def memory():
    """A dictionary that lives as long as one submission would."""
    return vars(sys.modules["solution_on_stage"]).setdefault("remembered", {})


def remembers(function):
    @functools.wraps(function)
    def wrong(z, *args, **kwargs):
        key = (function.__name__, id(z), *map(id, args), *kwargs.items())
        kept, _ = memory().setdefault(key, (function(z, *args, **kwargs), (z, args)))  # what is kept is never freed, so no id comes twice
        return np.array(kept)[()]

    return wrong


for _name in ("softmax", "softmax_jacobian", "softmax_vjp", "jacobian_norm"):
    _short = {"softmax": "softmax", "jacobian_norm": "norm"}.get(_name, _name.removeprefix("softmax_"))
    for _what, _make, _text in (("shared-buffer", shared, SHARED), ("changes-wide-arguments", shifts_wide_ones, WIDE), ("changes-double-arguments", shifts_doubles, DOUBLE),
                               ("remembers-an-array", remembers, REMEMBERED)):
        _wrong = _make(getattr(right, _name))
        _wrong.__doc__ = _text.format(name=_name)
        _exported = f"{_short}-{_what}".replace("-", "_")
        globals()[_exported] = misconception(f"{_short}-{_what}", of=_name)(_wrong)
        __all__.append(_exported)
