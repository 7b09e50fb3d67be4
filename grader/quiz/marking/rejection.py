"""Sentences that take back what was said before them: `None of that holds`, `All three are myths`, `But they don't.`"""

from __future__ import annotations

import re

from .tokens import Token

_FALSE = (
    r"(?:wrong|false|incorrect|untrue|myths?|nonsense|misconceptions?|mistaken|rubbish|bogus|bunk|fictions?|lies|backwards?|humbug|hogwash"
    r"|fairy tales?|folklore|wishful thinking|old wives tales?)"
)
_POINTING = r"(?:that|this|it|these|those|them|above)"
_TRUE = r"(?:true|right|correct|so|case|happen\w*|hold\w*|stand\w*|appl\w+|work\w*|survive\w*)"
_EVERYTHING = re.compile(
    rf"\b(?:not|never) (?:buy|believe|accept|agree with|subscribe to) any(?:thing)?(?: of)?(?: {_POINTING})?\b"
    rf"|\bnone of {_POINTING}(?: \w+){{0,2}}? (?:be |do )?(?:{_TRUE})\b"
    rf"|\bnot (?:a|one|a single) \w+ of {_POINTING} (?:\w+ )?(?:be |do )?{_TRUE}\b"
    rf"|\b(?:all|both|everything|each|every)(?: \w+){{0,4}} be (?:\w+ )?{_FALSE}\b|\b{_FALSE} on (?:all|both|every|each)\b"
    rf"|\b(?:withdraw|retract|revoke|disown) (?:{_POINTING}|all|everything|my)\b|\btake (?:{_POINTING}|all of {_POINTING}|everything) back\b"
    rf"|\bnot (?:one|a single one) of {_POINTING} (?:\w+ )?(?:be |do )?{_TRUE}\b|\b(?:scrap|scratch|forget) (?:{_POINTING} , )?the (?:whole|entire|lot)\b"
    rf"|\b{_POINTING} be (?:a )?(?:slip|mistake|error|blunder)\b.*\b(?:forget|scrap|ignore|drop|scratch) {_POINTING}"
    rf"|\b(?:scrap|scratch|forget|ignore|drop|strike|delete|discard) (?:all|everything|any)(?: of)?(?: {_POINTING})?(?: i say)?\b(?! \w+ing)"
)
_LAST = re.compile(
    rf"\b(?:no such thing|nothing of (?:the |that )?(?:sort|kind))\b|\b(?:not|no longer|never) (?:believe|buy|hold|accept) (?:it|that|this|them|so|a word)\b"
    rf"|^(?:that|this|it|those|these) be (?:a |an |pure |sheer |just |all |but |mere )*(?:{_FALSE}) (?=$)"
    rf"|^(?:a |an |pure |utter |complete |total |sheer |all |just |but )*{_FALSE} (?=$)"
    rf"|\b(?:the )?(?:opposite|reverse|contrary) be (?:true|case|the case|what)\b|\b(?:neither|not one) (?:be|do)? ?(?:the )?{_TRUE}\b"
    rf"|\b(?:wrong|no|nope) ?, (?:it|they|that) (?:be|do) not $"
    rf"|\b(?:that|this|it) be not (?:what|how|the case|so|case)\b(?! much| that)"
    rf"|^(?:but|yet|only|however|except|well|in reality|in fact|in truth) (?:it|they|that|this|these|those|we|none|neither)(?: really)? "
    rf"(?:be|do|have|will|would|can|could) not(?: really)? (?=$|so\b|and\b|,)"
)
_DENIED = re.compile(r"\b(?:be|do|have|will|would|can|could) not (?=$|so\b|and\b|, )")
_RULED_OUT = re.compile(r"\brul(?:es?|ed|ing) (?:that|this|it|all that|all of that) out\b|\b(?:that|this|it) (?:be|do) never (?:happen\w*|so|the case|arise\w*|occur\w*)\b|^(?:luckily|fortunately|thankfully|happily)\b|^(?:so )?(?:a|any|every) (?:real|actual|sane) ")
_ATTRIBUTED = re.compile(
    r"\b(?:textbooks?|colleagues?|folklore|lore|legend|rumou?r|wisdom|supposedly|allegedly|reputedly|according to|tempting to|"
    r"(?:popular|usual|standard|common|classic|official|conventional|naive|received) "
    r"(?:account|story|view|explanation|answer|claim|belief|version|line|argument)|"
    r"(?:people|they|some|many|students?|most|others|you|one|everybody|everyone|lots)(?: \w+)? ?(?:often |commonly |will |would |might |may |keep |always )?"
    r"(?:say|says|claim\w*|think|thinks|believe\w*|reads|hears?|hearing|expect|told|taught|argu\w+|maintain\w*|insist\w*|assert\w*|reckon\w*|swear\w*)|it be (?:often |commonly |widely )?(?:said|claimed|believed)|some would|"
    r"i (?:be|have|used)(?: been| once| always)? (?:told|taught|to (?:think|believe)|read|heard)|(?:story|argument|derivation|claim|idea) (?:goes|be that|that))\b"
)
_LOOSELY = re.compile(
    rf"\b{_FALSE}\b|\bnot (?:believe|buy|agree|accept|true|right|so|case|correct|hold|happen\w*|work)\b|\bno such\b|\bnothing of\b|\bnone of\b"
    r"|^(?:but|well|alas) ,? ?no\b|\b(?:unnecessary|nobody|no one|unfounded|exaggerated|disproved|refuted|debunked)\b|\bin (?:reality|truth)\b|\bdisagree\b|\breject\b|\bnot (?=$)|^(?:but |well )?(?:it|they|that|this) (?:be|do) not (?=,)"
)
_FOLLOWING = re.compile(
    rf"\bnot (?:the )?(?:case|true|so|right|correct) that\b|\b(?:disagree|deny|reject|dispute)(?: with)?(?: the (?:claim|idea|view))? that\b|\b{_FALSE} (?:to say )?that\b"
)
_CLAIM = re.compile(r"\b(?:claim|idea|statement|belief|notion|assertion|thesis|view) that\b")
_IS_FALSE = re.compile(rf"\bbe (?:\w+ )?{_FALSE} $")
_FAR = 2  # sentences between an attribution and its rejection
_ELLIPSIS = re.compile(r"\b(?:which|but|only) (?:it|they|that|this|we) (?:be|do|have|will|would|can|could) not $")


def mute_rejected(tokens: list[Token]) -> None:
    """Mute what a later sentence rejects: everything before it, what was attributed to others, or the last sentence."""
    sentences = _sentences(tokens)
    spoken = [_said(tokens[low:high]) for low, high in sentences]
    for n, (low, high) in enumerate(sentences):
        said, starts = spoken[n]
        whole, last = _EVERYTHING.search(said), _LAST.search(said)
        if whole:
            _mute(tokens[: low + _index(starts, whole.start())])
        elif last:
            _mute_last(tokens, low, low + _index(starts, last.start()))
        elif n and (_DENIED.search(said) or _RULED_OUT.search(said)) and _supposed(tokens[sentences[n - 1][0] : low]):
            _mute(tokens[sentences[n - 1][0] : low])
        _mute(tokens[low : low + _hanging(tokens[low:high])])
        following = _FOLLOWING.search(said)
        if following or (_CLAIM.search(said) and _IS_FALSE.search(said)):
            _mute(tokens[low + (_index(starts, following.start()) if following else 0) : high])
    _mute_attributed(tokens, sentences, [said for said, _ in spoken])


def _supposed(sentence: list[Token]) -> bool:
    """`If q and k were independent, it would ...`"""
    words = {token.word for token in sentence}
    return "would" in words and bool(words & {"if", "were", "had", "suppose", "supposing"})


def _mute_attributed(tokens: list[Token], sentences: list[tuple[int, int]], spoken: list[str]) -> None:
    """`A colleague's derivation: ... Every step of it is mistaken.`: from the attribution to its rejection."""
    for n, said in enumerate(spoken):
        if not _ATTRIBUTED.search(said):
            continue
        rejecting = next((k for k in range(n + 1, min(n + 2 + _FAR, len(spoken))) if _LOOSELY.search(spoken[k])), None)
        if rejecting is not None:
            _mute(tokens[sentences[n][0] : sentences[rejecting][0]])


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
