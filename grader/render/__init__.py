"""One pure function per format: verdicts in, text out."""

from __future__ import annotations

from collections.abc import Callable

from ..verdict import Verdict


def as_text(verdicts: list[Verdict], *, colour: bool, width: int) -> str:
    """The verdicts for a person at a terminal. (NumPy is loaded here, not by those who render questions.)"""
    from .terminal import as_text as drawn

    return drawn(verdicts, colour=colour, width=width)


def renderer(style: str) -> Callable[[list[Verdict]], str]:
    """The renderer of a machine-readable format."""
    import importlib

    return importlib.import_module(f".{'json_' if style == 'json' else style}", __name__).render
