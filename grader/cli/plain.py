"""Output where the encoding knows fewer signs than we use: a Windows code page behind a pipe, an old terminal. A plain sign stands in; nothing ends in an error."""

from __future__ import annotations

import codecs
import os
import shutil
import sys
import textwrap

import click

NAME = "attngrade-plain"
SIGNS = str.maketrans({  # one for one where columns are lined up
    "✓": "+", "✗": "x", "◐": "o", "–": "-", "—": "-", "·": ".", "…": ".", "→": ">", "×": "x", "█": "#", "▓": "%", "▒": "=", "░": ".", "▪": "#",
    "●": "*", "○": "o", "│": "|", "┤": "+", "└": "+", "─": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "\N{NO-BREAK SPACE}": " ",
    "√": "sqrt", "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "²": "^2", "³": "^3", "−": "-", "ᵀ": "^T", "∞": "inf",
})


def colours() -> bool:
    """Whether standard output takes colours, and nobody has said no to them."""
    return sys.stdout.isatty() and _welcome()


def _welcome() -> bool:
    return "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def say(text: str, *, err: bool = False) -> None:
    """Print sentences; on a terminal no word of them is broken in two."""
    stream = sys.stderr if err else sys.stdout
    if stream is not None and stream.isatty():
        width = shutil.get_terminal_size((80, 24)).columns
        text = "\n".join(piece for line in text.split("\n") for piece in filled(line, width))
    click.echo(text, err=err, color=None if _welcome() else False)


def filled(line: str, width: int) -> list[str]:
    """A line as lines of at most ``width``, the further ones as far to the right as the first."""
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [""]


def stand_in(error: UnicodeError) -> tuple[str, int]:
    """What is written in place of signs that can't be encoded."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    told = error.object[error.start : error.end].translate(SIGNS)
    return "".join(sign if sign.isascii() else "?" for sign in told), error.end


def forgive() -> None:
    """From here on standard output and error take any text."""
    codecs.register_error(NAME, stand_in)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=NAME)
