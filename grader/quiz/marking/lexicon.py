"""Concepts: named sets of phrasings, found in an answer's tokens.

A phrasing is a line of items: `word` (any form of it), `begin*` (a prefix), `_` (any one token), `..` (up to three tokens), `...` (up to
six), `[one|two|thr*]` (either), a trailing `?` (may be missing), `@name` (another concept). Articles and fillers are skipped on both sides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .tokens import Token
from .words import CONTRACTED, FILLERS, NEGATORS, distance, stem

Span = tuple[int, int]
_TURNS = frozenset(["far", "rather", "instead", "whatever", "regardless", "irrespective"])  # no gap bridges these, nor a negator
_CHOICES = re.compile(r"\[([^\[\]]*)\](\??)")


class LexiconError(ValueError):
    """A phrasing can't be read."""


@dataclass(frozen=True, slots=True)
class Item:
    stems: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()
    concept: str = ""
    gap: int = 0  # up to this many tokens
    any: bool = False
    optional: bool = False

    def takes(self, token: Token) -> bool:
        if self.any or token.stem in self.stems or token.word in self.stems:
            return True
        return bool(self.prefixes) and (token.word.startswith(self.prefixes) or token.stem.startswith(self.prefixes))


def parse_phrase(line: str) -> tuple[Item, ...]:
    """One phrasing as items; fillers are dropped."""
    items = []
    for piece in line.split():
        optional = len(piece) > 1 and piece.endswith("?")
        piece = piece[:-1] if optional else piece
        items += _items(piece, optional)
    while items and (items[0].gap or items[0].optional):
        del items[0]
    if not items:
        raise LexiconError(f"{line!r}: a phrasing has a word, a prefix or a concept that must be there (articles and fillers don't count).")
    return tuple(items)


def _items(piece: str, optional: bool) -> list[Item]:
    if piece in ("..", "..."):
        return [Item(gap=3 * (len(piece) - 1))]
    if piece == "_":
        return [Item(any=True, optional=optional)]
    if piece.startswith("@"):
        return [Item(concept=piece[1:], optional=optional)]
    choices = piece[1:-1].split("|") if piece.startswith("[") and piece.endswith("]") else [piece]
    if len(choices) == 1 and choices[0] in CONTRACTED:
        return [Item(stems=frozenset({stem(word)})) for word in CONTRACTED[choices[0]].split() if word not in FILLERS]
    if len(choices) == 1 and choices[0] in FILLERS and choices[0] not in NEGATORS:
        return []
    prefixes = tuple(choice[:-1] for choice in choices if choice.endswith("*") and len(choice) > 1)
    stems = frozenset(stem(choice) for choice in choices if not choice.endswith("*") or len(choice) == 1)
    return [Item(stems=stems, prefixes=prefixes, optional=optional)]


def widen(line: str) -> list[str]:
    """`[a|b c] d` as `[a] d` and `b c d`: choices of several words become phrasings of their own."""
    for match in _CHOICES.finditer(line):
        choices = match.group(1).split("|")
        long = [choice for choice in choices if " " in choice.strip()]
        if long:
            short = [choice for choice in choices if " " not in choice.strip()]
            mark = match.group(2)
            kept = [f"[{'|'.join(short)}]{mark}"] if short else []
            ways = kept + long + ([""] if mark and not short else [])
            return [each for way in ways for each in widen(line[: match.start()] + way + line[match.end() :])]
    return [line]


def _phrase(name: str, line: str) -> tuple[Item, ...]:
    try:
        return parse_phrase(line)
    except LexiconError as error:
        raise LexiconError(f"@{name}: {error}") from error


class Concept:
    """All phrasings of one name, indexed by how they begin."""

    def __init__(self, name: str, phrasings: str):
        self.name = name
        lines = [line for line in phrasings.splitlines() if line.strip() and not line.strip().startswith("#")]
        self.phrases = [_phrase(name, each) for line in lines for each in widen(line)]
        self.by_stem: dict[str, list[tuple[Item, ...]]] = {}
        self.others: list[tuple[Item, ...]] = []
        for phrase in self.phrases:
            if phrase[0].concept or phrase[0].prefixes or phrase[0].any:
                self.others.append(phrase)
            else:
                for first in phrase[0].stems:
                    self.by_stem.setdefault(first, []).append(phrase)


class Lexicon:
    """The concepts that one question needs, and the words that its typos are mended to."""

    def __init__(self, phrasings: Mapping[str, str], wanted: Iterable[str], known: frozenset[str] = frozenset()):
        self.concepts: dict[str, Concept] = {}
        self._collect(phrasings, list(wanted))
        self._known = known
        self._stems: set[str] = set()
        self._prefixes: tuple[str, ...] = ()
        self._words: dict[str, list[str]] = {}
        self._mended: dict[str, str] = {}
        self._vocabulary(phrasings.get("spelling", ""))

    def _collect(self, phrasings: Mapping[str, str], wanted: list[str]) -> None:
        while wanted:
            name = wanted.pop()
            if name in self.concepts:
                continue
            if name not in phrasings:
                raise LexiconError(f"@{name} is in no lexicon; add it to the question's concepts or to lexicon.yaml.")
            self.concepts[name] = Concept(name, phrasings[name])
            wanted += [item.concept for phrase in self.concepts[name].phrases for item in phrase if item.concept]

    def _vocabulary(self, spelling: str) -> None:
        items = [item for concept in self.concepts.values() for phrase in concept.phrases for item in phrase]
        self._stems = {each for item in items for each in item.stems}
        self._prefixes = tuple({prefix for item in items for prefix in item.prefixes})
        self._spelling = tuple(spelling.split())
        words = set(self._spelling) | {each for each in self._stems | set(self._prefixes) if len(each) > 4 and each.isalpha()}
        for word in words:
            self._words.setdefault(word[0], []).append(word)

    def mend(self, word: str) -> str:
        """The lexicon's word that a misspelt one was meant to be; any other word as it is."""
        if len(word) < 5 or not word.isalpha() or word in self._known:
            return word
        taken = word.startswith(self._prefixes)
        if not taken and (stem(word) in self._known or stem(word) in self._stems):
            return word
        if word not in self._mended:
            self._mended[word] = (self._slip if taken else self._nearest)(word) if len(self._mended) < 4000 else word
        return self._mended[word]

    def _slip(self, word: str) -> str:
        """A word that a prefix takes as it is: mended all the same where one letter is wrong within a word of the list of spellings that the prefix takes, too."""
        alike = (each for each in self._spelling if each[-1] == word[-1] and all(map(each.startswith, filter(word.startswith, self._prefixes))))
        return next((each for each in alike if distance(word, each, 1) == 1), word)

    def _nearest(self, word: str) -> str:
        most = 1 if len(word) < 8 else 2
        swapped = word[1] if len(word) > 1 else ""
        candidates = self._words.get(word[0], []) + (self._words.get(swapped, []) if swapped != word[0] else [])
        base = stem(word)
        best, nearest = most + 1, word
        for candidate in sorted(candidates, key=lambda each: (each not in self._known, each)):  # words before stems
            far = min(distance(word, candidate, most), distance(base, candidate, most) if len(base) > 4 else most + 1)
            if far < best:
                best, nearest = far, candidate
        return nearest

    def find(self, tokens: list[Token]) -> dict[str, list[Span]]:
        """Every place of every concept; the longest match at each place first."""
        return _Search(self, tokens).everything()


class _Search:
    def __init__(self, lexicon: Lexicon, tokens: list[Token]):
        self.lexicon, self.tokens = lexicon, tokens
        self.found: dict[str, list[Span]] = {}
        self.starts: dict[str, dict[int, list[int]]] = {}
        self.open: set[str] = set()
        self.places: dict[str, list[int]] = {}  # of each stem and word
        for at, token in enumerate(tokens):
            for form in {token.stem, token.word}:
                self.places.setdefault(form, []).append(at)

    def everything(self) -> dict[str, list[Span]]:
        for name in self.lexicon.concepts:
            self._concept(name)
        return self.found

    def _concept(self, name: str) -> dict[int, list[int]]:
        if name in self.starts:
            return self.starts[name]
        if name in self.open:
            return {}
        self.open.add(name)
        concept = self.lexicon.concepts[name]
        ends: dict[int, set[int]] = {}
        for first in concept.by_stem.keys() & self.places.keys():
            for at in self.places[first]:
                for phrase in concept.by_stem[first]:
                    ends.setdefault(at, set()).update(self._match(phrase, 0, at))
        for phrase in concept.others:
            for at in self._begins(phrase[0]):
                ends.setdefault(at, set()).update(self._match(phrase, 0, at))
        starts = {at: sorted(ends[at], reverse=True) for at in sorted(ends) if ends[at]}
        self.starts[name] = starts
        self.found[name] = [(at, end) for at, ends in starts.items() for end in ends]
        return starts

    def _begins(self, head: Item) -> list[int]:
        if head.concept:
            return list(self._concept(head.concept))
        return [at for at, token in enumerate(self.tokens) if head.takes(token)]

    def _match(self, phrase: tuple[Item, ...], n: int, at: int) -> set[int]:
        """Where the items from the n-th on can end when they start at token `at`."""
        if n == len(phrase):
            return {at}
        item = phrase[n]
        ends: set[int] = set()
        if item.optional:
            ends |= self._match(phrase, n + 1, at)
        if n and at < len(self.tokens) and self.tokens[at].sentence != self.tokens[at - 1].sentence:
            return ends
        if item.gap:
            return ends | self._gap(phrase, n, at)
        if at >= len(self.tokens):
            return ends
        if item.concept:
            for end in self._concept(item.concept).get(at, ()):
                ends |= self._match(phrase, n + 1, end)
        elif item.takes(self.tokens[at]):
            ends |= self._match(phrase, n + 1, at + 1)
        return ends

    def _apart(self, phrase: tuple[Item, ...], left: int, right: int) -> bool:
        """Another sentence; or, for a phrase that begins with a negator, beyond a comma."""
        one, other = self.tokens[left], self.tokens[right]
        return one.sentence != other.sentence or (one.segment != other.segment and bool(phrase[0].stems & NEGATORS))

    def _gap(self, phrase: tuple[Item, ...], n: int, at: int) -> set[int]:
        ends: set[int] = set()
        for skip in range(phrase[n].gap + 1):
            here = at + skip
            if skip and (here > len(self.tokens) or (self.tokens[here - 1].stem in NEGATORS or self.tokens[here - 1].word in _TURNS)):
                break
            if skip and here < len(self.tokens) and self._apart(phrase, at - 1, here):
                break
            ends |= self._match(phrase, n + 1, here)
        return ends
