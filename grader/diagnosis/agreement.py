"""Whether two recorded calls came back the same, up to rounding: the measure by which a wrong answer is recognised."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..sandbox import wire
from ..sandbox.errors import Raised
from ..sandbox.proxy import Call

CLOSE = {"float64": 1e-9, "float32": 5e-5, "float16": 4e-3, "bfloat16": 2e-2, "complex128": 1e-9, "complex64": 1e-5}
ROUNDING = {"float64": 2e-8, "float32": 2e-4}  # about the root of eps: what is left where terms near 1 cancel
NARROWED = 2e-6
NOISE = {"float64": 1e-13, "float32": 1e-6, "float16": 1.2e-7}  # an array of rounding errors is an array of zeros; float16 ends in steps of 6e-8
ACCIDENTS = ("RuntimeError", "IndexError")  # what torch and NumPy raise where nobody looked
UNSTEADY, MUCH = 6 << 20, 48 << 20  # bytes by which the growth of a process is off, and from which on that is the least of it


def agree(one: Call, other: Call) -> bool:
    """Same value (kind, shape, dtype, numbers up to rounding) or same exception, same gradients, same side effects, same order of memory."""
    if (one.raised is None) != (other.raised is None):
        return False
    if one.raised is not None and other.raised is not None:
        return refusal(one.raised) == refusal(other.raised)
    if sorted(one.mutated) != sorted(other.mutated) or sorted(one.touched) != sorted(other.touched):
        return False
    if bool(one.launches) != bool(other.launches) or (one.weighed and not same_memory(one.peak_bytes, other.peak_bytes)):
        return False
    coarse = coarsest(one.message)
    return same_value(one.value, other.value, coarse) and same_value(one.grads, other.grads, coarse)


def differs(call: Call, right: Call, passed: frozenset[str]) -> bool:
    """Whether a call went another way than the right one; in a check that has ``passed`` only what it did to its surroundings tells."""
    if call.check in passed:
        return sorted(call.mutated) != sorted(right.mutated) or sorted(call.touched) != sorted(right.touched)
    return not agree(call, right)


def is_number_in_array(value: Any) -> bool:
    """Whether a value is an array without axes: some exercises take one for a number, some don't."""
    return isinstance(value, wire.Array) and value.kind == "ndarray" and value.data.ndim == 0


def numbers_as_scalars(call: Call) -> Call:
    """The call with a number where an array without axes came back."""
    return replace(call, value=replace(call.value, kind="scalar")) if is_number_in_array(call.value) else call


def refusal(raised: Raised) -> str:
    """The class of an exception as far as the contract tells classes apart: a ValueError of one's own is a ValueError."""
    return "ValueError" if "ValueError" in raised.bases else raised.type


def verdict_on(call: Call) -> str:
    """Whether a call was refused, and how: by a ValueError, by another exception, or not on purpose."""
    if call.raised is None or call.raised.type in ACCIDENTS:
        return "accepted"
    return "ValueError" if "ValueError" in call.raised.bases else call.raised.type


def coarsest(message: Any) -> str:
    """The floating dtype with the fewest digits among the arguments of a call: no result can be sharper than that."""
    found, queue = "float64", [message.get("args", ()), message.get("kwargs", {})]
    while queue:
        value = queue.pop()
        if isinstance(value, (tuple, list)):
            queue.extend(value)
        elif isinstance(value, dict):
            queue.extend(value.values())
        elif isinstance(value, wire.Array) and CLOSE.get(value.dtype, 0.0) > CLOSE[found]:
            found = value.dtype
    return found


def same_memory(one: int, other: int) -> bool:
    """No further apart than what the system counts besides; or within a factor of four where it is much (one copy of all scores, or one and what is made of it), of 1.5 where it isn't."""
    low, high = sorted((one, other))
    return high - low <= UNSTEADY or low * (4 if high >= MUCH else 1.5) >= high


def same_value(one: Any, other: Any, coarse: str = "float64") -> bool:
    """Equal structure and numbers equal up to rounding in the dtype they have, or in the dtype ``coarse`` that they were computed from."""
    numbers = _number(one), _number(other)
    if numbers[0] is not None and numbers[1] is not None:  # Python's or NumPy's: where a number is asked, either will do
        dtypes = [value.dtype if isinstance(value, wire.Array) else "float64" for value in (one, other)]
        widest = max((*dtypes, coarse), key=lambda dtype: CLOSE.get(dtype, 0.0))
        return close(np.asarray(numbers[0]), np.asarray(numbers[1]), widest, slack=ROUNDING.get(widest, 0.0))
    if isinstance(one, wire.Array) and isinstance(other, wire.Array):
        if (one.kind, one.dtype, one.data.shape) != (other.kind, other.dtype, other.data.shape):
            return False
        if bool(one.extra.get("requires_grad")) != bool(other.extra.get("requires_grad")):
            return False
        return close(one.data, other.data, one.dtype, coarse, slack=NOISE.get(one.dtype, 0.0))
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return type(one) is type(other) and len(one) == len(other) and all(same_value(a, b, coarse) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_value(one[key], other[key], coarse) for key in one)
    return type(one) is type(other) and bool(one == other)


def _number(value: Any) -> float | None:
    """The number in a Python int or float or a NumPy scalar of floating or integer dtype."""
    if isinstance(value, wire.Array):
        return float(value.data) if value.kind == "scalar" and value.data.dtype.kind in "iuf" and value.dtype != "bfloat16" else None
    return float(value) if type(value) is float or (type(value) is int and abs(value) < 2**1000) else None


def close(one: np.ndarray, other: np.ndarray, dtype: str, coarse: str = "float64", slack: float = 0.0) -> bool:
    """Numbers equal up to rounding, relative to the largest; the same non-finite entries in the same places."""
    if dtype not in CLOSE:
        return bool(np.array_equal(one, other))
    if dtype == "bfloat16":
        one, other = wire.widen(one), wire.widen(other)
    one, other = (np.asarray(x, dtype=np.complex128 if dtype.startswith("complex") else np.float64) for x in (one, other))
    finite = np.isfinite(one)
    if not np.array_equal(finite, np.isfinite(other)) or not np.array_equal(one[~finite], other[~finite], equal_nan=True):
        return False
    if not finite.any():
        return True
    gap, size = np.abs(one[finite] - other[finite]).max(), np.abs(other[finite]).max()
    narrowed = NARROWED if dtype == "float64" and all(map(fits_float32, (one[finite], other[finite]))) else 0.0
    return bool(gap <= max(CLOSE[dtype], CLOSE[coarse], narrowed) * size + slack)


def fits_float32(values: np.ndarray) -> bool:
    """Whether float64 numbers hold no more digits than float32 has: somebody went through float32 on the way."""
    with np.errstate(over="ignore"):
        return bool((values.astype(np.float32) == values).all())
