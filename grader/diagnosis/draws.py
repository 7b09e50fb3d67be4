"""Whether two functions draw from the same joint law, as far as their recorded calls can tell: the recipe is free, the law isn't.

Calls that differ in nothing but the state of their generator form a table, one row a call. Two tables agree when bounded features
do, each within a few standard errors, which count that rows or columns may share something. Small tables are compared by form alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..sandbox import wire
from ..sandbox.proxy import Call
from .agreement import refusal

ROWS, DRAWS = 8, 256  # tables with less say nothing about a law
GLANCE = 12  # rows after which most wrong laws show, so that the rest needn't be played
STANDARD_ERRORS = 5.5
FEW = 8.0  # a t distribution's tails, roughly
Same = Callable[[Any, Any], bool]


def same_law(calls: list[Call], played: Iterable[Call], same_value: Same) -> bool:
    """Same form in every call, the same calls repeating each other, and laws that can't be told apart. Stops at the first difference."""
    heard: list[Call] = []
    looks = {rows[-1]: rows for rows in groups(calls)} | {rows[GLANCE]: rows[: GLANCE + 1] for rows in groups(calls) if len(rows) > GLANCE}
    pattern = repeats(calls)
    for call, other in zip(calls, played, strict=True):
        heard.append(other)
        if not same_form(call, other, same_value):
            return False
        rows = looks.get(len(heard) - 1)
        if rows and (repeats(heard) != pattern[: len(heard)] or not same_tables(_table(calls, rows), _table(heard, rows))):
            return False
    return repeats(heard) == pattern


def same_form(one: Call, other: Call, same_value: Same) -> bool:
    """Everything about two calls that randomness leaves alone."""
    if one.raised is not None or other.raised is not None:
        return one.raised is not None and other.raised is not None and refusal(one.raised) == refusal(other.raised)
    if sorted(one.mutated) != sorted(other.mutated) or sorted(one.touched) != sorted(other.touched):
        return False
    left, right = one.value, other.value
    if isinstance(left, wire.Array) and isinstance(right, wire.Array):
        return (left.kind, left.dtype, left.data.shape, coarse(left)) == (right.kind, right.dtype, right.data.shape, coarse(right))
    return _form(left) == _form(right) if isinstance(left, (list, tuple)) else same_value(left, right)


def coarse(array: wire.Array) -> bool:
    """Whether every number of a float64 array is a float32 number."""
    return array.dtype == "float64" and array.data.size > 16 and bool(np.all(array.data.astype(np.float32) == array.data))


def repeats(calls: list[Call]) -> list[int]:
    """For every call the first one that came back with the same numbers."""
    first: dict[bytes, int] = {}
    return [first.setdefault(_octets(call.value), place) for place, call in enumerate(calls)]


def groups(calls: list[Call]) -> list[list[int]]:
    """Places of the calls that differ in their generators alone."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for place, call in enumerate(calls):
        if isinstance(call.value, wire.Array) and call.value.data.dtype.kind == "f" and "args" in call.message:
            asked = repr((_unseeded(call.message["args"]), _unseeded(call.message.get("kwargs", {}))))
            found.setdefault((call.value.data.shape, asked), []).append(place)
    return [rows for (shape, _), rows in found.items() if len(rows) >= ROWS and len(rows) * int(np.prod(shape)) >= DRAWS]


def same_tables(one: np.ndarray, other: np.ndarray) -> bool:
    """Two tables of draws (a row a call) whose features agree."""
    finite = np.isfinite(one), np.isfinite(other)
    if not (finite[0].all() and finite[1].all()):
        return bool(finite[0].mean() == finite[1].mean())
    if forced(one) != forced(other):
        return False
    size = float(np.median(np.abs(np.concatenate([one.ravel(), other.ravel()])))) or 1.0
    return all(close(left, right) for left, right in zip(features(one, size), features(other, size), strict=True))


def forced(table: np.ndarray) -> tuple[bool, bool]:
    """Whether the mean, and whether the variance, is the same number in every row."""
    size = float(np.abs(table).max()) or 1.0
    return bool(np.ptp(table.mean(axis=1)) < 1e-9 * size), bool(np.ptp(table.var(axis=1)) < 1e-9 * size**2)


def close(one: np.ndarray, other: np.ndarray) -> bool:
    """Two means within a few standard errors of their difference."""
    return bool(abs(one.mean() - other.mean()) <= STANDARD_ERRORS * np.sqrt(_error(one) + _error(other)) + 1e-9)


def _error(feature: np.ndarray) -> float:
    """The squared error of a feature's mean, whether its rows, its columns or none of them share something; few lines tell their own error badly."""
    lines = [feature.mean(axis=axis) for axis in (0, 1) if feature.shape[1 - axis] > 1]
    return float(sum(line.var() / max(line.size - 1, 1) * (1 + FEW / max(line.size - 1, 1)) for line in lines))


def features(table: np.ndarray, size: float) -> list[np.ndarray]:
    """Bounded features, each a table whose mean is compared: the law of one draw, then what draws share within and between calls."""
    calls, n = table.shape
    signs, near = np.sign(table), (np.abs(table) < size).astype(float)
    found = [signs, signs[:, :1], signs.prod(axis=1)[:, None], *(np.abs(table) < bound * size for bound in (0.3, 1.0, 2.0, 4.0))]
    found.append(np.array([[1 - np.unique(np.abs(row)).size / n] for row in table]))
    for part in (signs - signs.mean(), near - near.mean()):
        found.append((part - part.mean(axis=0)).sum(axis=1)[:, None] ** 2 / n)
        found.append((part - part.mean(axis=1)[:, None]).sum(axis=0)[None] ** 2 / calls)
        found += [part[:, :-lag] * part[:, lag:] for lag in sorted({1, 2, 3, n // 2, n - 1} & set(range(1, n)))]
    return [np.asarray(feature, dtype=np.float64) for feature in found]


def _table(calls: list[Call], rows: list[int]) -> np.ndarray:
    return np.stack([np.asarray(calls[place].value.data, dtype=np.float64).reshape(-1) for place in rows])


def _octets(value: Any) -> bytes:
    if isinstance(value, wire.Array) and value.data.dtype.kind == "f":
        return (value.data + 0.0).tobytes()  # -0.0 is 0.0
    return value.data.tobytes() if isinstance(value, wire.Array) else repr(value).encode()


def _unseeded(value: Any) -> Any:
    if isinstance(value, wire.Generator):
        return value.kind
    if isinstance(value, (tuple, list)):
        return [_unseeded(item) for item in value]
    return {name: _unseeded(item) for name, item in value.items()} if isinstance(value, dict) else value


def _form(value: Any) -> Any:
    return [type(value).__name__, *map(_form, value)] if isinstance(value, (tuple, list)) else type(value).__name__
