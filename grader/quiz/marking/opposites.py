"""Words and their opposites: a choice between them that is left open, and a slip that is mended on the spot."""

from __future__ import annotations

from .tokens import Token

_OPPOSITES = (
    "before after;pre post;d_k sqrt(d_k) d_k^2;1/d_k 1/sqrt(d_k);big small large;row column;independent dependent;grow shrink;"
    "linear root;linear sqrt(d_k);linearly root;linearly sqrt(d_k);0 inf;0 infinity;plus minus;+ -;+ minus;plus -;0 identity;d_k root;vanish explod;vanish blow;increas decreas;linear quadratic;bounded unbounded;past future;same different;positive negative;mean sum;flat sharp;flatter sharp;future past;backward forward;row column"
)
_OPPOSITE = [frozenset(pair.split()) for pair in _OPPOSITES.split(";")]
_MENDING = frozenset(["er", "erm", "uh", "um", "no", "sorry", "pardon", "rather", "correction", "hmm", "oops", "nope"])


def _opposite(one: Token, other: Token) -> bool:
    stems, words = {one.stem, other.stem}, {one.word, other.word}
    return len(stems) == 2 and any(stems <= each or words <= each for each in _OPPOSITE)


def _or_not(tokens: list[Token], at: int) -> bool:
    """`matter or don't matter`, `sharper or less sharp`"""
    right = [token.stem for token in tokens[at + 1 : at + 4] if token.segment == tokens[at].segment]
    return tokens[at].word == "or" and tokens[at - 1].stem in right[1:] and bool({"not", "less", "no"} & set(right[:2]))


def mute_hedged(tokens: list[Token]) -> None:
    """`before or after the softmax`: neither is asserted."""
    for at in range(1, len(tokens) - 1):
        if tokens[at].word not in ("or", "maybe", "perhaps"):
            continue
        if _or_not(tokens, at):
            for token in tokens[max(0, at - 6) : at + 4]:
                token.muted = token.muted or token.sentence == tokens[at].sentence
        right = [token for token in tokens[at + 1 : at + 5] if token.word not in ("it", "they", "its", "maybe", "perhaps") and token.stem != "be"][:2]
        left = tokens[max(0, at - 2) : at]
        pairs = [(a, b) for a in left for b in right if _opposite(a, b)]
        if pairs:
            for token in [*(a for a, _ in pairs), *tokens[at + 1 : at + 4]]:
                token.muted = True  # what they stand before belongs to both


def mute_slips(tokens: list[Token]) -> None:
    """`diag(p) plus, er, minus p pᵀ`: a word that its opposite mends on the spot."""
    for at in range(1, len(tokens) - 1):
        before, token, after = tokens[at - 1], tokens[at], tokens[at + 1]
        alone = before.segment != token.segment != after.segment and before.sentence == token.sentence == after.sentence
        if token.word in _MENDING and (alone or token.word != "no") and _opposite(before, after):
            before.muted = True
