"""Sentences that take back what was said before them: `None of that holds`, `All three are myths`, `But they don't.`"""

from __future__ import annotations

import re

from .tokens import Token

_FALSE = r"(?:wrong|false|incorrect|untrue|myths?|nonsense|misconceptions?|mistaken|rubbish|bogus|bunk|fictions?|lies|backwards?)"
_POINTING = r"(?:that|this|it|these|those|them|above)"
_TRUE = r"(?:true|right|correct|so|case|happen\w*|hold\w*|stand\w*|appl\w+|work\w*|survive\w*)"
_EVERYTHING = re.compile(
    rf"\b(?:not|never) (?:buy|believe|accept|agree with|subscribe to) any(?:thing)?(?: of)?(?: {_POINTING})?\b"
    rf"|\bnone of {_POINTING}(?: \w+){{0,2}}? (?:be |do )?(?:{_TRUE})\b"
    rf"|\bnot (?:a|one|a single) \w+ of {_POINTING} (?:\w+ )?(?:be |do )?{_TRUE}\b"
    rf"|\b(?:all|both|everything|each)(?: of)?(?: {_POINTING})?(?: \w+)?(?: i say)? be (?:just |simply |plain )?(?:\w+ )?{_FALSE}\b"
    rf"|\b(?:withdraw|retract|revoke|disown) (?:{_POINTING}|all|everything|my)\b|\btake (?:{_POINTING}|all of {_POINTING}|everything) back\b"
    rf"|\b(?:scratch|forget|ignore|drop|strike|delete|discard) (?:all|everything|any)(?: of)?(?: {_POINTING})?(?: i say)?\b(?! \w+ing)"
)
_LAST = re.compile(
    rf"\b(?:it|that|this|they|we|you|training) (?:do|be) (?:no such thing|nothing of (?:the )?(?:sort|kind))\b"
    rf"|\b(?:the )?(?:opposite|reverse|contrary) be (?:true|case|the case|what)\b|\b(?:neither|not one) (?:be|do)? ?(?:the )?{_TRUE}\b"
    rf"|\b(?:that|this|it) be not (?:what|how|the case|so|case)\b(?! much)"
    rf"|^(?:but|yet|only|however|except|well|in reality|in fact|in truth) (?:it|they|that|this|these|those|we|none|neither)(?: really)? "
    rf"(?:be|do|have|will|would|can|could) not(?: really)? (?=$|so\b|and\b|,)"
)
_ELLIPSIS = re.compile(r"\b(?:which|and|but|only) (?:it|they|that|this|we) (?:be|do|have|will|would|can|could) not $")


def mute_rejected(tokens: list[Token]) -> None:
    """Mute what a later sentence rejects: everything before it, or the last sentence."""
    for low, high in _sentences(tokens):
        said, ends = _said(tokens[low:high])
        whole = _EVERYTHING.search(said)
        if whole:
            _mute(tokens[: low + _index(ends, whole.start())])
            continue
        last = _LAST.search(said)
        if last:
            _mute_last(tokens, low, low + _index(ends, last.start()))
        ellipsis = _hanging(tokens[low:high])
        if ellipsis:
            _mute(tokens[low : low + ellipsis])


def _sentences(tokens: list[Token]) -> list[tuple[int, int]]:
    bounds = [n for n, token in enumerate(tokens) if not n or token.sentence != tokens[n - 1].sentence]
    return list(zip(bounds, [*bounds[1:], len(tokens)], strict=True))


def _said(tokens: list[Token]) -> tuple[str, list[int]]:
    """The sentence with `be` and `do` for all their forms, and where each of its words begins."""
    text, starts, segment = "", [], tokens[0].segment
    for token in tokens:
        if token.segment != segment:
            text, segment = text + ", ", token.segment
        starts.append(len(text))
        text += (token.stem if token.stem in ("be", "do", "have", "say", "happen") else token.word) + " "
    return text, starts


def _index(starts: list[int], at: int) -> int:
    return sum(start < at for start in starts)


def _hanging(tokens: list[Token]) -> int:
    """Where the relative clause of `..., which they aren't` begins, 0 if there is none."""
    for at in range(3, len(tokens)):
        closes = at + 1 == len(tokens) or tokens[at + 1].segment != tokens[at].segment
        if tokens[at].aux and closes and _ELLIPSIS.search(_said(tokens[at - 3 : at + 1])[0]):
            return at - 3
    return 0


def _mute_last(tokens: list[Token], low: int, at: int) -> None:
    """What stands before in the same sentence; or, where that is next to nothing, the sentence before."""
    own = [token for token in tokens[low:at] if not token.filler]
    _mute(tokens[low:at] if len(own) > 2 else [token for token in tokens[:low] if token.sentence == tokens[low].sentence - 1])


def _mute(tokens: list[Token]) -> None:
    for token in tokens:
        token.muted = True
