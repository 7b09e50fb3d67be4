"""Colour where there is any, and the same words where there is none."""

from __future__ import annotations

from dataclasses import dataclass

_CODES = {"bold": "1", "dim": "2", "under": "4", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


@dataclass(frozen=True)
class Ink:
    """`Ink(colour)("text", "bold", "red")`."""

    colour: bool

    def __call__(self, text: str, *styles: str) -> str:
        if not self.colour or not text:
            return text
        return f"\x1b[{';'.join(_CODES[style] for style in styles)}m{text}\x1b[0m"
