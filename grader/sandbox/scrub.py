"""Text from a worker as a person may see it: no control characters, no surrogates, nothing that turns the direction of a line. Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from .wire import Array, Opaque

UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]")


def clean_text(text: str) -> str:
    """``text`` with whatever a terminal or a browser would obey (and nobody would see) written out; newlines and tabs stay."""
    return UNSEEN.sub(_written_out, text.replace("\r\n", "\n"))


def one_line(text: str, cap: int = 1000) -> str:
    """``text`` on one line, so that no line of a report begins with somebody else's words."""
    joined = " ".join(clean_text(text[: 4 * cap]).split())
    return joined if len(joined) <= cap else joined[: cap - 3] + "..."


def clean(value: Any) -> Any:
    """A value off the wire with every text in it cleaned."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, (tuple, list)):
        return type(value)(clean(item) for item in value)
    if isinstance(value, dict):
        return {clean_text(key): clean(item) for key, item in value.items()}
    if isinstance(value, Opaque):
        return Opaque(one_line(value.type, 200))
    if isinstance(value, Array) and value.extra:
        return replace(value, extra=clean(value.extra))
    return value


def _written_out(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
