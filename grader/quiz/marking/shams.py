"""Answers that aren't answers: bare lists of terms, and the prompt read back."""

from __future__ import annotations

import re
from itertools import pairwise

from .grammar import GRAMMAR, VERBS
from .tokens import Text, Token
from .words import stem

_SEPARATOR = re.compile(r"\s[|/·•]\s|;\s|(?<=\S) [-–—] (?=\S)")
_STRIPS = re.compile(r"\s[|·•]\s|(?<=\S) [-–—/] (?=\S)")
_ARROWS = re.compile(r"\s(?:->|=>|→|⇒|>|-->)\s")
_FULL_STOP = re.compile(r"[A-Za-z0-9)\]}²]\.(?:\s|$)")

_CALL = re.compile(r"\w\.\w+\(")  # a line of code


def mute_lists(text: Text) -> None:
    """A sentence that is a bare list of terms earns nothing."""
    by_sentence: dict[int, list[Token]] = {}
    for token in text.tokens:
        by_sentence.setdefault(token.sentence, []).append(token)
    for tokens in by_sentence.values():
        formulas = any(token.word == "=" for token in tokens) or bool(_CALL.search(text.original[tokens[0].start : tokens[-1].end]))
        if len({token.segment for token in tokens}) >= 6 and not formulas and is_list(tokens):
            for token in tokens:
                token.muted = True


def is_list(tokens: list[Token]) -> bool:
    """Many short segments, hardly one with a predicate; or a run of words without any grammar."""
    if len(tokens) > 80 and len({token.word for token in tokens}) < 0.15 * len(tokens):
        return True  # the same few words over and over
    segments: dict[int, list[Token]] = {}
    for token in tokens:
        segments.setdefault(token.segment, []).append(token)
    named = [part for part in segments.values() if any(letter.isalpha() for token in part for letter in token.word)]  # (0, 1, 0) is no list of terms
    if tokens[0].word in ("need", "needs", "assume", "assumes", "assuming", "suppose", "requires") and any(t.word in ("all", "everything", "every") for t in tokens):
        return False  # "need: zero mean, unit variance, everything independent"
    words = sum(map(_is_word, tokens))
    grammar = sum(token.word in GRAMMAR and token.word.isalpha() for token in tokens)
    said = sum(map(_says, named))
    symbols = sum(token.word in ("->", "=", "~") for token in tokens)
    if len(named) >= 7 and len(tokens) <= 3.2 * len(segments) and max(map(len, segments.values())) <= 5 and said <= max(1, len(named) // 3) and grammar <= 0.3 * words:
        return True  # seven short terms and hardly a verb
    if len(named) >= 6 and len(tokens) <= 2 * len(named) and words >= 0.7 * len(tokens):
        return said <= len(named) // 4
    if len(named) >= 4 + bool(symbols) and len(tokens) / len(segments) <= 4.5:
        return said <= len(named) // 4 and grammar <= max(1, 0.12 * words)
    plain = len(tokens) >= 8 and words >= 0.7 * len(tokens) and len(segments) <= 3
    return plain and not any(token.word in VERBS for token in tokens) and grammar + symbols <= len(tokens) // 10


def _is_word(token: Token) -> bool:
    return token.word.isalpha() and len(token.word) > 1


def is_separated(text: Text) -> bool:
    """Terms between bars, slashes or semicolons, with hardly a verb."""
    pieces = _SEPARATOR.split(text.original)
    formulas = sum("=" in piece or "\\sim" in piece for piece in pieces)
    if 2 * formulas >= len(pieces):
        return False
    verbs = sum(token.word in VERBS for token in text.tokens)
    strips = [len(piece.split()) for piece in _STRIPS.split(text.original)]
    arrows = [len(piece.split()) for piece in _ARROWS.split(text.original)]
    if len(arrows) >= 6 and sum(arrows) <= 1.5 * len(arrows) and not verbs and not formulas:
        return True
    return (len(pieces) >= 5 and verbs <= 1) or (len(strips) >= 5 and max(strips) <= 5 and verbs <= len(strips) // 2)


_FRAMES = re.compile(
    r"\b(?:considerations? (?:are|include)|keywords?|key (?:terms|words|points)|(?:all|each|every one) of (?:these|this|those|them|which) (?:matters?|counts?|plays?|comes?)"
    r"|speaks? (?:here )?of|(?:this|it|that|answer) (?:is|has to do) (?:all )?(?:about|with)|plays? a (?:role|part)|comes? to mind|is (?:involved|relevant)|are (?:involved|relevant))\b"
)


def is_framed(text: Text) -> bool:
    """`Relevant considerations include ...`, `this is about A, about B, ...`: terms in one sentence that only says that they matter."""
    if has_sentences(text) or not _FRAMES.search(text.original.lower()):
        return False
    segments: dict[int, list[Token]] = {}
    for token in text.tokens:
        segments.setdefault(token.segment, []).append(token)
    says = sum(_says(part) and not _FRAMES.search(" ".join(token.word for token in part).replace(" be ", " is ")) for part in segments.values())
    return len(segments) >= 5 and says <= len(segments) // 3


def has_sentences(text: Text) -> bool:
    """At least two full stops: whatever it is, it isn't one list."""
    return len(_FULL_STOP.findall(text.original)) >= 2


_COMPARED = frozenset(["less", "fewer", "smaller", "lower", "larger", "bigger", "higher", "cheaper", "faster", "not", "never", "no"])
_SAYS = "overflows rescale rescales recompute recomputes normalizes masks attends stores reads splits vanishes differs"
_SAYING = frozenset(_SAYS.split())
_PREPOSITIONS = "across by for from over between among to in with per at"
_AFTER_PARTICIPLE = frozenset(_PREPOSITIONS.split())


def _says(part: list[Token]) -> bool:
    words = {token.word for token in part}
    shared_across = any(one.word.endswith("ed") and other.word in _AFTER_PARTICIPLE for one, other in pairwise(part))
    if words & _SAYING or (len(part) >= 3 and (words & _COMPARED or shared_across)):
        return True
    return bool(words & VERBS) or (len(part) >= 3 and bool(words & {"=", "->", "~", "exp"}))


_ASKED = "question answer say state derive show explain write given get describe prompt ask the why what how tell because reason mention task show work"
_ASKING = frozenset(map(stem, _ASKED.split()))


def _said(text: Text) -> list[str]:
    """The words that carry content, cut to their beginnings."""
    return [token.stem[:6] for token in text.content if token.word not in GRAMMAR and token.stem not in _ASKING and len(token.stem) > 1]


def copied(answer: Text, prompts: list[Text]) -> bool:
    """Whether the answer says little that the question does not."""
    own = _said(answer)
    for prompt in prompts:
        known = set(_said(prompt))
        new = [each for each in own if each not in known]
        covers = len(known & set(own)) >= 0.5 * len(known)
        if own and covers and len(new) <= max(0.3 * len(own), 1 if len(own) > 5 else 0):
            return True
    return False
