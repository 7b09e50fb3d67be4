"""Names that a person gives to things: the width of a head as m, softmax outputs as s or π, entries with any two letters."""

from __future__ import annotations

import re

_WIDTH = (
    r"(?:(?:head|key|query)[\s-]*(?:width|dim\w*|size)|(?:width|dimension|dim|size)\s+of\s+(?:a|the|each|one)\s+(?:head|key|query)"
    r"|width|dimension(?:ality)?|number\s+of\s+(?:components|coordinates|entries|terms|dimensions|summands)|d_?k)\b"
)
_LETTER = r"\$?(?<![\w\\'])([cflmnr])(?![\w'])\$?"
_NAMED = re.compile(
    rf"{_LETTER}\s*,?\s*(?::?=\s*|(?:(?:being|is|be|for|as|denotes|denoting|means|meaning|stands\s+for)\s+(?:the\s+|a\s+)?)|the\s+){_WIDTH}"
    rf"|\b{_WIDTH}\s*(?:=|of|,|called|named|\()?\s*{_LETTER}(?!\s*(?:=|>)\s*\d)"
)
_SPELLED_OUT = re.compile(r"\b(?:d_?\{?k|dim|head_?dim)\b")
_UNDER_ROOT = re.compile(r"(?:∝|~|=|/|\bof)\s*(?:\\?sqrt|√)\s*[({]?\s*([cflmnr])\b(?=[^\w])")
_V = r"(?<![\w\\])(p|s|a|y|pi|alpha|sigma|sm|x|w)"
_AT = r"(?:_\s*|\[\s*)([a-z])\]?"
_SAME_V = r"\1(?:_\s*|\[\s*)[a-z]\]?"
_DELTA = (
    r"(?:(?:kronecker\s+)?delta\s*[_(\[{\s]*[a-z]\s*,?\s*[a-z]\s*[)\]}]?(?![a-z])"
    r"|(?:\b1|\bi|\bidentity|delta_ij)?\s*[\[{(]\s*[a-z]\s*==?\s*[a-z]\s*[\]})])"
)
_TIMES, _MINUS = r"\s*(?:\*|\btimes\b)?\s*", r"\s*(?:-|\bminus\b)\s*"
ENTRIES: list[tuple[str, str]] = [
    (r"\bdelta\s*\(\s*(?!i\s*,\s*j\b)([a-z])\s*,\s*([a-z])\s*\)", r" delta_\1\2 "),
    (rf"{_V}{_AT}{_TIMES}[\[({{]\s*{_DELTA}{_MINUS}{_SAME_V}\s*[\])}}]", " p_i * (delta_ij - p_j) "),
    (rf"{_V}{_AT}{_TIMES}{_DELTA}{_MINUS}{_SAME_V}{_TIMES}{_SAME_V}(?![a-z])", " p_i * delta_ij - p_i * p_j "),
]


def width_letter(text: str) -> re.Pattern[str] | None:
    """Where the letter stands that this text gives to the width of a head, if it gives one."""
    named = _NAMED.search(text) or (None if _SPELLED_OUT.search(text) else _UNDER_ROOT.search(text))
    if named is None:
        return None
    letter = named.group(1) or (named.re is _NAMED and named.group(2))
    return re.compile(rf"(?:(?<![a-z_'\\^])|(?<=sqrt)){letter}(?![\w'])")
