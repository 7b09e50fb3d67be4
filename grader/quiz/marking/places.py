"""A text and, for each of its characters, its place in the original: rewritten together."""

from __future__ import annotations

import re
from collections.abc import Callable

RUN = 48  # blanks in a row; a comment behind code stands so far off
_LONG_RUN = re.compile(rf"\s{{{RUN + 1},}}")
Change = str | Callable[[re.Match[str]], str]


def substitute(rule: re.Pattern[str], new: Change, text: str, places: list[int]) -> tuple[str, list[int]]:
    """The text with what a rule finds written anew."""
    found = list(rule.finditer(text))
    if not found:
        return text, places
    pieces: list[str] = []
    moved: list[int] = []
    at = 0
    for match in found:
        piece = new(match) if callable(new) else match.expand(new)
        pieces += [text[at : match.start()], piece]
        moved += places[at : match.start()]
        moved += _spread(places[match.start() : match.end()], len(piece))
        at = match.end()
    return shortened("".join([*pieces, text[at:]]), moved + places[at:])


def shortened(text: str, places: list[int]) -> tuple[str, list[int]]:
    """The text with the middle taken out of long runs of blanks; a line or a paragraph that ends in there still does."""
    kept: list[int] = []
    at = 0
    for run in _LONG_RUN.finditer(text):
        start, end = run.start() + RUN // 2 - 1, run.end() - RUN // 2 + 1
        kept += [*range(at, start), *[place for place in range(start, end) if text[place] == "\n"][:2]]
        at = end
    if not at:
        return text, places
    kept += range(at, len(text))
    return "".join(text[place] for place in kept), [places[place] for place in kept]


def _spread(places: list[int], length: int) -> list[int]:
    """`length` places from the first to the last of `places`."""
    if not places or length == 0:
        return [0] * length
    if length == 1:
        return [places[0]]
    last = len(places) - 1
    return [places[(k * last) // (length - 1)] for k in range(length)]
