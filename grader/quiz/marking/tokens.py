"""An answer as tokens: each knows its word, its stem, its sentence, its clause and its place in the original."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from .normalise import normalise
from .words import CONTRACTED, FILLERS, NEGATORS, american, stem

_TOKEN = re.compile(
    r"-inf\b|-huge\b|1/sqrt\(d_k\)|sqrt\([^()\s]*\)|1/d_k|\w+\^-1/4|o\(1\)|q\.k|q_i\*k_i|pp\^t|ee\^t|delta_ij|->|<=|>=|!=|==|\.\.+"
    r"|[a-z][a-z0-9]*(?:_[a-z0-9]+)*(?:\^[a-z0-9]+)?(?:'[a-z]+)?|\d+(?:\.\d+)?(?:e[+-]?\d+)?%?|\n|[^\s\w]"
)
_CONJUNCTIONS = "but so because since while whereas which then hence thus therefore though however if when unless where who yet except -> and as"
_BREAKS_CLAUSE = frozenset(_CONJUNCTIONS.split())
_PREDICATE = r"(?:is|are|scales?|grows?|stays?|becomes?|adds?|goes|gets?|saturates?|vanishes|has|can|will|would)\b"
_NEW_CLAUSE = re.compile(rf"\s+(?:(?:q\.k|d_k|scores?|logits?|variances?|gradients?|softmax|training|everything|nothing)\s+{_PREDICATE}|(?:the|it|they|that|this|these|we|you|so|there|its|their|then|i|if|when|one|once|as|after|with|because|since)\b)")
_SMALL = re.compile(r"\d+(?:\.\d+)?e-(?:[4-9]|\d\d+)")
_TAKES_AS = frozenset(["out", "act", "acts", "serve", "serves", "count", "counts", "seen", "treated", "regarded", "known", "such", "used"])
_AUXILIARIES = frozenset(["be", "do", "have", "can", "will", "would", "could", "should"])
_SIGNS = "= == ~ + - * / < > <= >= != -> ^ @"
_OPERATORS = frozenset(_SIGNS.split())


@dataclass(slots=True)
class Token:
    word: str
    stem: str
    start: int
    end: int
    sentence: int
    clause: int
    filler: bool = False
    segment: int = 0  # between commas: what a list is made of
    aux: bool = False  # a negator right after is/do/have/can: it negates what stands before it, too
    muted: bool = False  # withdrawn, copied or reported: earns nothing


@dataclass(frozen=True)
class Text:
    """`tokens` for the guards; `content` (no fillers) for the concepts."""

    original: str
    tokens: list[Token]
    content: list[Token]
    punctuation: list[tuple[int, str]]  # (index of the token that follows, mark)


def read(original: str, correct: Callable[[str], str] | None = None) -> Text:
    """Cut an answer into tokens; `correct` may mend a misspelt word."""
    text, places = normalise(original)
    cutter = _Cutter(places, correct or (lambda word: word))
    for match in _TOKEN.finditer(text):
        cutter.take(match.group(), match.start(), match.end(), text)
    return Text(original, cutter.tokens, [token for token in cutter.tokens if not token.filler], cutter.marks)


class _Cutter:
    def __init__(self, places: list[int], correct: Callable[[str], str]):
        self.places, self.correct = places, correct
        self.tokens: list[Token] = []
        self.marks: list[tuple[int, str]] = []
        self.sentence = self.clause = self.segment = self.longest = 0

    def take(self, piece: str, start: int, end: int, text: str) -> None:
        if piece == "\n":
            self._line(text, end)
        elif piece[0] in ".!?" and piece != "!=" and not piece.startswith("..") and _ends(text, end):
            self._stop(piece)
        elif piece in (";", ":", ",") or piece.startswith(".."):
            self._pause(piece)
        elif piece[0].isalnum() or piece in _OPERATORS or piece == "-inf" or piece[0] == "-":
            if piece in ("-", "*", "+") and not text[text.rfind("\n", 0, start) + 1 : start].strip():
                return  # a bullet
            self.segment += piece in ("/", "+") and text[start - 1 : start] == " " == text[end : end + 1]
            self._words(piece, start, end, text)
        elif piece in ("|", "&") and text[start - 1 : start] == " " == text[end : end + 1]:
            self.segment += 1
        elif piece in "()":
            self.clause += 1
            self.segment += piece == "(" and "," in text[end : max(end, text.find(")", end, end + 200))]
            self.marks.append((len(self.tokens), piece))

    def _line(self, text: str, end: int) -> None:
        rest = text[end : end + 40].lstrip(" \t")
        if rest[:1] in ("-", "*", "#", "\n", "") or rest[:1].isdigit() or self._lines_are_sentences(text, end):
            self._stop("\n")

    def _lines_are_sentences(self, text: str, end: int) -> bool:
        """A short line, or one that ends although the next word would have had room on it."""
        begin = text.rfind("\n", 0, end - 1) + 1
        self.longest = self.longest or max(map(len, text.split("\n")))
        first = text[end : end + 30].split(None, 1)[0] if text[end:].strip() else ""
        return end - begin < 60 or self.longest < 70 or end - begin + len(first) + 4 < self.longest < 120

    def _stop(self, mark: str) -> None:
        if self.tokens and self.tokens[-1].sentence == self.sentence:
            self.sentence += 1
        self.clause += 1
        self.segment += 1
        self.marks.append((len(self.tokens), mark))

    def _pause(self, mark: str) -> None:
        self.clause += 2 if mark in ";:" else 1
        self.segment += 1
        self.marks.append((len(self.tokens), mark))

    def _words(self, piece: str, start: int, end: int, text: str) -> None:
        part_of_verb = piece == "as" and bool(self.tokens) and self.tokens[-1].word in _TAKES_AS
        if piece in _BREAKS_CLAUSE and not part_of_verb and not (piece == "and" and not _NEW_CLAUSE.match(text, end)):
            self.clause += 1
        for word in _expand(piece):
            word = self.correct(american(word))
            begin = self.places[start]
            finish = self.places[end - 1] + 1
            filler = word in FILLERS and word not in NEGATORS
            aux = word == "not" and bool(self.tokens) and self.tokens[-1].stem in _AUXILIARIES
            self.tokens.append(Token(word, _stem(word), begin, finish, self.sentence, self.clause, filler, self.segment, aux))


def _stem(word: str) -> str:
    if word[0].isdigit():
        if word.endswith("%"):
            return "%"
        if _SMALL.fullmatch(word):
            return "negligibl"
    return stem(word)


def _ends(text: str, end: int) -> bool:
    return end >= len(text) or text[end] in " \t\n\"')]" or text[end : end + 1].isspace()


def _expand(piece: str) -> list[str]:
    if piece in CONTRACTED:
        return CONTRACTED[piece].split()
    if piece.endswith("n't"):
        return [piece[:-3], "not"] if len(piece) > 3 else ["not"]
    if "'" in piece:
        head, _, tail = piece.partition("'")
        return [head, *({"re": ["be"], "ll": ["will"], "ve": ["have"], "d": ["would"], "m": ["be"]}.get(tail, []))]
    return [piece]
