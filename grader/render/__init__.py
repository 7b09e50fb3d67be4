"""One pure function per format: verdicts in, text out."""

from __future__ import annotations

from collections.abc import Callable

from ..verdict import Verdict
from .terminal import as_text

__all__ = ["as_text", "renderer"]


def renderer(style: str) -> Callable[[list[Verdict]], str]:
    """The renderer of a machine-readable format."""
    import importlib

    return importlib.import_module(f".{'json_' if style == 'json' else style}", __name__).render  # type: ignore[no-any-return]
