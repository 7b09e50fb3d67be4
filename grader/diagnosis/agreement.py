"""Whether two recorded calls came back the same, up to rounding: the measure by which a wrong answer is recognised."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..sandbox import wire
from ..sandbox.proxy import Call

CLOSE = {"float64": 1e-9, "float32": 1e-5, "float16": 2e-3, "bfloat16": 1.2e-2, "complex128": 1e-9, "complex64": 1e-5}
LARGE = 24 << 20  # bytes of growth below which memory says nothing


def agree(one: Call, other: Call, *, statistics: bool = False) -> bool:
    """Same value (kind, shape, dtype, numbers up to rounding) or same exception, same gradients, same side effects, same order of memory."""
    if (one.raised is None) != (other.raised is None):
        return False
    if one.raised is not None and other.raised is not None:
        return one.raised.type == other.raised.type
    if sorted(one.mutated) != sorted(other.mutated) or sorted(one.touched) != sorted(other.touched):
        return False
    if bool(one.launches) != bool(other.launches) or not same_memory(one.peak_bytes, other.peak_bytes):
        return False
    same = alike if statistics else same_value
    return same(one.value, other.value) and (statistics or same_value(one.grads, other.grads))


def same_memory(one: int, other: int) -> bool:
    """Within a factor of three, or both small."""
    low, high = sorted((one, other))
    return high < LARGE or low * 3 >= high


def same_value(one: Any, other: Any) -> bool:
    """Equal structure and numbers equal up to rounding in the dtype they have."""
    if isinstance(one, wire.Array) and isinstance(other, wire.Array):
        if (one.kind, one.dtype, one.data.shape) != (other.kind, other.dtype, other.data.shape):
            return False
        if bool(one.extra.get("requires_grad")) != bool(other.extra.get("requires_grad")):
            return False
        return close(one.data, other.data, one.dtype)
    if _is_number(one) and _is_number(other):
        return type(one) is type(other) and close(np.float64(one), np.float64(other), "float64")
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same_value, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_value(one[key], other[key]) for key in one)
    return type(one) is type(other) and bool(one == other)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def close(one: np.ndarray, other: np.ndarray, dtype: str) -> bool:
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
    return bool(gap <= CLOSE[dtype] * size)


def alike(one: Any, other: Any) -> bool:
    """Two random draws that look like draws of the same thing: same kind and shape, moments and dependence within five standard errors."""
    if not (isinstance(one, wire.Array) and isinstance(other, wire.Array)):
        return same_value(one, other)
    if (one.kind, one.dtype, one.data.shape) != (other.kind, other.dtype, other.data.shape) or one.data.size < 200:
        return same_value(one, other)
    left, right = portrait(one.data), portrait(other.data)
    return bool(np.all(np.abs(left[0] - right[0]) <= 5 * np.hypot(left[1], right[1]) + 1e-9))


def portrait(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Moments, share of repeated values and dependence at a few lags, each with its standard error."""
    x = np.asarray(draws, dtype=np.float64).reshape(-1)
    n = x.size
    centred = x - x.mean()
    spread = centred.std() or 1.0
    unit = centred / spread
    repeats = 1 - np.unique(x).size / n
    lags = [float(np.mean(unit[:-lag] * unit[lag:])) for lag in (1, 2, 5)]
    square = unit**2 - 1
    echo = [float(np.mean(square[:-lag] * square[lag:])) for lag in (1, 2, 5)]
    values = np.array([x.mean(), np.log(spread), np.mean(unit**4), 50 * repeats, *lags, *echo])
    kurt = max(float(np.mean(unit**4)) - 1, 1.0)
    errors = np.array([spread / n**0.5, (kurt / 4 / n) ** 0.5, (float(np.var(unit**4)) / n) ** 0.5, 0.05, *[n**-0.5] * 3, *[kurt / n**0.5] * 3])
    return values, errors
