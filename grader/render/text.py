"""Text that came from somewhere else, made safe to show: no control characters, no reordering marks, no endless lines."""

from __future__ import annotations

import unicodedata

import numpy as np

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


def shown_array(value: object, *, width: int = 60, rows: int = 8) -> str:
    """A small array whole, a large one by its shape."""
    if value is None:
        return ""
    if isinstance(value, (str, bool, int)):
        return tame(repr(value), lines=1)
    if isinstance(value, float):
        return f"{value:.12g}"
    if not isinstance(value, np.ndarray):
        return tame(str(value), lines=2, width=200)
    if value.size > 64 or value.ndim > 3:
        return f"an array of shape {value.shape}"
    with np.errstate(all="ignore"):
        text = np.array2string(value, precision=4, max_line_width=width, suppress_small=True, threshold=200)
    lines = text.split("\n")
    return "\n".join(lines[:rows] + (["…"] if len(lines) > rows else []))
