"""Patterns: relations between concepts, the things that earn a point.

    @variance @add                 both in one sentence, in any order
    @dot > @grow > @linear         in this order, at most eight tokens apart (`>3`: at most three)
    @values "pile up" -@mean       a quoted phrasing; and nothing of @mean (or of `-word`, `-'two words'`) in the window
    @not > @sharp /c               in one clause
    @scale @blend /2               in two neighbouring sentences (`/3`: three, `/all`: anywhere)
    ~@formula                      no negation guard: for what is itself a negation
    ?@hint @hint                   weak: earns only beside a point that was met without it
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .lexicon import Span
from .tokens import Token

_GAP, _REACH, _MOST = 8, 26, 8
_PIECE = re.compile(r"-?'[^']*'|\[[^\]]*\]\S*|\S+")


class PatternError(ValueError):
    """A pattern can't be read."""


@dataclass(frozen=True)
class Pattern:
    source: str
    groups: tuple[tuple[tuple[str, int], ...], ...]  # chains of (concept, how far from the one before)
    absent: tuple[str, ...] = ()
    window: int = 1  # sentences; 0 is the whole answer
    guarded: bool = True
    weak: bool = False
    in_clause: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for group in self.groups for name, _ in group) + self.absent


@dataclass(frozen=True, slots=True)
class Instance:
    """One way in which a pattern was found: the spans of its concepts, in content tokens."""

    spans: tuple[Span, ...]

    @property
    def start(self) -> int:
        return min(span[0] for span in self.spans)

    @property
    def end(self) -> int:
        return max(span[1] for span in self.spans)


def parse_pattern(source: str, literals: dict[str, str]) -> Pattern:
    """A pattern, and in `literals` the anonymous concepts that it brings."""
    text = source.strip()
    guarded, weak = not text.lstrip("?").startswith("~"), text.startswith("?")
    text = text.lstrip("?~ ")
    window, in_clause, absent = 1, False, []
    groups: list[list[tuple[str, int]]] = []
    joined = -1
    for word in (piece.strip("'") for piece in _PIECE.findall(text)):
        if re.fullmatch(r"/(\d|all)", word):
            window = 0 if word == "/all" else int(word[1:])
        elif word == "/c":
            in_clause = True
        elif re.fullmatch(r">\d*", word):
            joined = int(word[1:]) if word[1:] else _GAP
        elif word in ("..", "..."):
            joined = 3 * (len(word) - 1)
        elif word.startswith("-") and word != "-inf" and len(word) > 1:
            absent.append(_name(word[1:].strip("'"), literals))
        else:
            name = _name(word, literals)
            if joined >= 0 and groups:
                groups[-1].append((name, joined))
            else:
                groups.append([(name, 0)])
            joined = -1
    if not groups:
        raise PatternError(f"{source!r}: a pattern names at least one concept.")
    return Pattern(source, tuple(tuple(group) for group in groups), tuple(absent), window, guarded, weak, in_clause)


def _name(word: str, literals: dict[str, str]) -> str:
    if word.startswith("@") and " " not in word:
        return word[1:]
    literals[f"={word}"] = word
    return f"={word}"


def instances(pattern: Pattern, found: dict[str, list[Span]], tokens: list[Token]) -> Iterator[Instance]:
    """Every way in which the pattern is in the answer, nearest together first within a window."""
    if any(not found.get(name) for group in pattern.groups for name, _ in group):
        return
    if pattern.window == 0:
        yield from _within(pattern, found, 0, len(tokens), 10**6)
        return
    sentences = _sentences(tokens)
    for first in range(len(sentences)):
        last = min(first + pattern.window, len(sentences)) - 1
        reach = _REACH * pattern.window
        for each in _within(pattern, found, sentences[first][0], sentences[last][1], reach):
            if not pattern.in_clause or tokens[each.start].clause == tokens[each.end - 1].clause:
                yield each


def _sentences(tokens: list[Token]) -> list[Span]:
    spans: list[list[int]] = []
    for at, token in enumerate(tokens):
        if spans and tokens[spans[-1][0]].sentence == token.sentence:
            spans[-1][1] = at + 1
        else:
            spans.append([at, at + 1])
    return [(a, b) for a, b in spans]


def _within(pattern: Pattern, found: dict[str, list[Span]], low: int, high: int, reach: int) -> Iterator[Instance]:
    for name in pattern.absent:
        if any(low <= start and end <= high for start, end in found.get(name, ())):
            return
    choices = [_chains(group, found, low, high) for group in pattern.groups]
    if not all(choices):
        return
    yield from sorted(_combine(choices, (), reach), key=lambda each: each.end - each.start)


def _chains(group: tuple[tuple[str, int], ...], found: dict[str, list[Span]], low: int, high: int) -> list[tuple[Span, ...]]:
    chains: list[tuple[Span, ...]] = [(span,) for span in found[group[0][0]] if low <= span[0] and span[1] <= high]
    for name, gap in group[1:]:
        chains = [
            (*chain, span)
            for chain in chains
            for span in found[name]
            if 0 <= span[0] - chain[-1][1] <= gap and span[1] <= high
        ][: _MOST * 4]
    return chains[: _MOST * 2]


def _combine(choices: list[list[tuple[Span, ...]]], taken: tuple[Span, ...], reach: int) -> Iterator[Instance]:
    if not choices:
        yield Instance(taken)
        return
    for chain in choices[0][: _MOST * 2]:
        spans = (*taken, *chain)
        if max(s[1] for s in spans) - min(s[0] for s in spans) > reach:
            continue
        if any(a[0] < b[1] and b[0] < a[1] for a in chain for b in taken):
            continue
        yield from _combine(choices[1:], spans, reach)
