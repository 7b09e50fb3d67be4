"""Text that came from somewhere else, made safe to show: no control characters, no reordering marks, no endless lines."""

from __future__ import annotations

import re
import unicodedata

import numpy as np

ONE_LINE, SMALL_BLOCK = 16, 24  # so many numbers may stand on one line, so many in several matrices
REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")


def tame(text: str, *, lines: int = 200, width: int = 2000) -> str:
    """Control and reordering characters spelt out, long lines and long texts cut."""
    safe = "".join(_visible(c) for c in text.replace("\r\n", "\n"))
    told = [line if len(line) <= width else line[:width] + " …" for line in safe.split("\n")]
    return "\n".join(told[:lines] + ([f"… ({len(told) - lines} more lines)"] if len(told) > lines else []))


def _visible(char: str) -> str:
    if char in "\n\t" or (char.isprintable() and char not in REORDERING):
        return char
    if char in REORDERING or unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"
    return char


def shown_array(value: object, *, width: int = 60, rows: int = 8, beside: object = None) -> str:
    """A small array whole, a large one by its shape; with more digits where it looked like ``beside`` and isn't."""
    if value is None:
        return ""
    if isinstance(value, (str, bool, int)):
        return tame(repr(value), lines=1)
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, (tuple, list)):
        return _bracketed(value)
    value = getattr(value, "array", value)
    if not isinstance(value, np.ndarray):
        return tame(str(value), lines=2, width=200)
    if value.ndim == 0 and value.dtype.kind == "f":
        return f"{value[()]:.12g}"
    if value.size <= ONE_LINE and value.ndim > 2:
        return _on_one_line(value)
    if value.size > (64 if value.ndim <= 2 else SMALL_BLOCK) or value.ndim > 3:
        return f"an array of shape {value.shape}"
    lines = _digits(value, width, beside).split("\n")
    return "\n".join(lines[:rows] + (["…"] if len(lines) > rows else []))


def _digits(value: np.ndarray, width: int, beside: object) -> str:
    """Four digits, or as many as it takes to look different from another array."""
    other = getattr(beside, "array", beside)
    differs = isinstance(other, np.ndarray) and other.shape == value.shape and value.dtype.kind == other.dtype.kind == "f" and not np.array_equal(value, other)
    for precision in (4, 6, 8, 10, 12, 15) if differs else (4,):
        text = _written(value, width, precision)
        if not differs or text != _written(other, width, precision):
            return text
    return _written(value, width, 4)


def _written(value: object, width: int, precision: int) -> str:
    with np.errstate(all="ignore"):
        array = np.asarray(value)
        text = np.array2string(array, precision=precision, max_line_width=width, suppress_small=True, threshold=200)
        if array.dtype.kind != "f" or not re.search(r"\de[+-]", text):
            return text
        wide = max(len(f"{each:.{precision}g}") for each in array.flat)  # numbers of very different size: each in its own fewest digits
        return np.array2string(array, max_line_width=width, threshold=200, formatter={"float_kind": lambda each: f"{each:>{wide}.{precision}g}"})


def _on_one_line(value: np.ndarray) -> str:
    with np.errstate(all="ignore"):
        text = np.array2string(value, precision=4, suppress_small=True, separator=",", max_line_width=10_000)
    return "".join(text.split()).replace(",", " ")


def _bracketed(values: tuple[object, ...] | list[object]) -> str:
    """A tuple or a list on one line, its arrays too where they are small."""
    arrays = [getattr(value, "array", value) for value in values]
    parts = [(_on_one_line(each) if each.size <= ONE_LINE else f"an array of shape {each.shape}") if isinstance(each, np.ndarray) and each.ndim else shown_array(each) for each in arrays]
    inner = ", ".join(parts) + ("," if isinstance(values, tuple) and len(parts) == 1 else "")
    return f"({inner})" if isinstance(values, tuple) else f"[{inner}]"
