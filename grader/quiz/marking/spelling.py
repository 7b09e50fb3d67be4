"""English words that are no misspelling of a lexicon's word."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files


@lru_cache(maxsize=1)
def known_words() -> frozenset[str]:
    """Common words, one a line in `english.txt` beside this module."""
    return frozenset(files(__package__).joinpath("english.txt").read_text("utf-8").split())
