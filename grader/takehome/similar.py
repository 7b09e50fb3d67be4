"""Submissions that are the same after renaming and reformatting: token fingerprints (winnowing, Schleimer et al. 2003), the stub discounted.

It informs a reviewer. It never changes a score.
"""

from __future__ import annotations

import contextlib
import io
import keyword
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from zlib import crc32

GRAM, WINDOW = 12, 6
FLOOR, LEAST = 0.6, 12
BLANKS = re.compile(r"[ \t\f]+")
STRANGE_CAP = 30  # characters that begin no token; behind each the rest of a line may be read through
SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER}


@dataclass(frozen=True)
class Pair:
    """Two candidates whose files for an exercise share ``share`` of the smaller one's fingerprints, and the lines that do in each."""

    exercise: str
    one: str
    other: str
    share: float
    lines_one: tuple[int, ...]
    lines_other: tuple[int, ...]


def fingerprints(source: str) -> dict[int, int]:
    """Fingerprint -> line where it first stands. Names, numbers and strings count by kind alone, layout and comments not at all."""
    tokens = list(_words(source))
    hashes = [(crc32(" ".join(word for word, _ in tokens[i : i + GRAM]).encode()), tokens[i][1]) for i in range(len(tokens) - GRAM + 1)]
    kept: dict[int, int] = {}
    for i in range(max(0, len(hashes) - WINDOW + 1)):
        value, line = min(hashes[i : i + WINDOW])
        kept.setdefault(value, line)
    return kept


def _words(source: str) -> Iterator[tuple[str, int]]:
    """Each token by its kind, with its line; as far as the text is Python, and blanks one at a time: a run of them is searched anew from each."""
    strange, begun = 0, False
    with contextlib.suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(io.StringIO(BLANKS.sub(" ", source)).readline):
            if token.type in SKIPPED or (token.type == tokenize.STRING and not begun):
                continue
            strange, begun = strange + (token.type == tokenize.ERRORTOKEN), True
            if strange > STRANGE_CAP:
                return
            plain = "n" if token.type == tokenize.NAME and not keyword.iskeyword(token.string) else "s" if token.type in (tokenize.STRING, tokenize.NUMBER) else token.string
            yield plain, token.start[0]


def pairs(exercise: str, sources: dict[str, str], stub: str) -> list[Pair]:
    """Pairs above the floor, the most alike first. What stands in the stub, or in more than half of many submissions, doesn't count."""
    common = set(fingerprints(stub))
    prints = {name: fingerprints(source) for name, source in sources.items()}
    if len(prints) >= 8:
        counts: dict[int, int] = {}
        for marks in prints.values():
            for value in marks:
                counts[value] = counts.get(value, 0) + 1
        common |= {value for value, n in counts.items() if n > len(prints) / 2}
    own = {name: {value: line for value, line in marks.items() if value not in common} for name, marks in prints.items()}
    found = []
    for one, other in combinations(sorted(own), 2):
        shared = own[one].keys() & own[other].keys()
        smaller = min(len(own[one]), len(own[other]))
        if len(shared) >= LEAST and len(shared) / smaller >= FLOOR:
            found.append(Pair(exercise, one, other, round(len(shared) / smaller, 3), _lines(own[one], shared), _lines(own[other], shared)))
    return sorted(found, key=lambda pair: (-pair.share, pair.one, pair.other))


def _lines(marks: dict[int, int], shared: set[int]) -> tuple[int, ...]:
    return tuple(sorted({marks[value] for value in shared}))
