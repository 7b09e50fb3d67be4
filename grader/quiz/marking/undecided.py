"""A person who doesn't decide: `either ... or ..., I forget which`, `could be this, could be that`, `before or after, take your pick`."""

from __future__ import annotations

import re
from itertools import pairwise

from .tokens import Text, Token
from .words import NEGATORS

_NOT_KNOWING = (
    r"(?:(?:forget|forgot|unsure|undecided|wonder)|(?:not|never) (?:\w+ )?(?:recall|remember|sure|know|tell|say|certain|decide)"
    r"|(?:hard|difficult|impossible|tough|unable) to (?:tell|say|know|remember|recall)|(?:escape\w*|beats?|eludes?) me|slips? my mind|(?:who|nobody|no one) (?:can |could |would )?(?:know\w*|tell|say|remember)"
    r"|no (?:idea|clue)|unclear)"
)
_WHICH = re.compile(
    rf"\b{_NOT_KNOWING} (?:\w+ )?(?:which|whether|what)\b"
    rf"|\bwhich\b.* {_NOT_KNOWING} (?=$|,)|\bnot (?:\w+ )?(?:decide|choose|settle|distinguish) between\b"
    r"|\bnot (?:\w+ )?(?:bet|swear|vouch)\b|, who (?:can |could )?(?:say|know|tell)\w* (?=$|,)"
    r"|\b(?:anyone|anybody|everyone|everybody)(?: ?'?s)? guess\b|\btoss up\b|\b(?:coin flip|(?:flip|toss) (?:of )?a coin)\b|, (?:that|it|this) depends? (?=$|,)"
    r"|\b(?:always|keep|constantly|forever) (?:mix|mixing|confuse|confusing|swap|swapping) (?:up |these |those |them |the )"
    r"|, (?:one (?:or (?:the )?other|of (?:the )?(?:two|three|these|those|them)))(?= ,| $|$)"
    r"|\b(?:sometimes|occasionally)\b.*, (?:and |or |then )?(?:sometimes|occasionally|other times)\b"
    r"|\bi (?:would|will|could) (?:accept|take|go with|be fine with) (?:either|whichever|any|both)\b|\bwhichever it be\b"
)
_WHETHER = re.compile(rf"\bwhether\b.* (?:or|not|be|do)\b.*(?:{_NOT_KNOWING}|\bguess) (?=$|,)")
_CHOICE = re.compile(r"\bor\b|\bbetween\b.* and\b|\bsome\b.*\bothers\b|\btwo (?:candidates|options|possibilities|stories|views|readings)\b|\bsometimes\b|\boccasionally\b|\bone of\b|\beither\b|\bwhether\b|\b(?:could|might|may) be\b.*\b(?:could|might|may) be\b")
_MODAL = r"(could|might|may)"
_SWINGING = re.compile(
    r"^(?:could|might|may) be\b.* or\b|\bcan or can not\b"
    rf"|\b{_MODAL} (?:\w+ ){{0,6}}?or (?:it |they )?(?:\1 )?not (?=$|,|be\b|\w+ $)"
    rf"|\b{_MODAL} (?:[\w^()/]+ )*?(?:, )?or (?:it |they |this )?\2 "
    rf"|\b{_MODAL} be (?:[^ ]+ )*?, (?:it |they )?\3 (?:also |just |equally )?(?:as well )?be "
    rf"|\b{_MODAL} (?:[^ ,]+ ){{1,8}}, (?:and |or )?(?:it|they|this|that) (?:also |equally )?\4 "
    r"|\beither (?:[^ ]+ )*?or (?:it |they |this |that )?(?:be |do |have |can |could |will |would )?not (?=$|,)"
)
_ALL_THE_SAME = re.compile(
    r"\btake (?:your|a) pick\b|\bboth orders?\b|\beither (?:order|way|one|place|side) (?:\w+ )?(?:be|do|work\w*|go|fine|right|possible)\b"
    r"|\b(?:choose|pick|use|take) (?:the (?:faster|cheaper|simpler|easier) (?:one)?|whichever|either)\b|\bwhichever (?:you|one|be)\b|\bno matter which\b"
    r"|\bboth (?:\w+ )?(?:work\w*|fine|okay|ok|right|possible|valid|legitimate|allowed|correct|the same)\b|\bdo not matter (?:which|whether)\b"
)
_OPPOSED = re.compile(
    r"\bbefore\b.*\bor\b.*\b(?:after|afterwards)\b|\bafter\b.*\bor\b.*\b(?:before|beforehand)\b|\bpre\b.*\bor\b.*\bpost\b"
    r"|\bsqrt\(d_k\) .*\bor\b.* d_k |\b d_k .*\bor\b.* sqrt\(d_k\)|\brows?\b.*\bor\b.*\bcolumns?\b|\bfuture\b.*\bor\b.*\bpast\b|\bpast\b.*\bor\b.*\bfuture\b"
)

_GOES_ON = re.compile(r"^(?:then|so|hence|therefore|thus|and)\b|\b(?:accordingly|respectively|correspondingly|either)\b")
_YES_OR_NO = frozenset(["be", "do", "have", "can", "could", "will", "would", "should", "may", "might", "must", "so"])
_SUPPOSED = "suppose supposing imagine had were would could if think thinks thought believe might hypothesis opposite otherwise say pointless useless"
_SUPPOSING = frozenset(_SUPPOSED.split())
_ASKING = frozenset(["why", "how", "what", "which", "when", "where", "who"])


def mute_undecided(sentences: list[list[Token]]) -> None:
    """Mute what leaves open which of its options holds."""
    before: list[Token] = []
    open_before = False
    for sentence in sentences:
        said = spoken(sentence)
        unsure = _WHICH.search(said)
        here = bool(unsure and (_CHOICE.search(said[: unsure.end()]) or unsure.group().endswith("between")))
        torn = bool((unsure and here) or _SWINGING.search(said) or _WHETHER.search(said))
        goes_on = open_before and bool(_GOES_ON.search(said) and _CHOICE.search(said))
        torn = torn or goes_on
        if torn or (_ALL_THE_SAME.search(said) and _OPPOSED.search(said)):
            _mute(sentence)
        elif unsure and unsure.start() < 24 and len(sentence) < 14 and _CHOICE.search(spoken(before)):
            _mute(before)  # "Either this or that. I forget which."
        before, open_before = sentence, all(token.muted for token in sentence)


def mute_open_questions(sentences: list[list[Token]]) -> None:
    """`Before or after the softmax?` asserts neither."""
    for sentence in sentences:
        words = {token.word for token in sentence}
        if "or" in words and not words & _ASKING:
            _mute(sentence)


def mute_answered_no(sentences: list[list[Token]], asked: set[int]) -> None:
    """`Do the variances add up to d_k? No.` asserts nothing of what it asks."""
    for question, answer in pairwise(sentences):
        yes_or_no = question[0].stem in _YES_OR_NO or question[0].word in _YES_OR_NO
        if question[0].sentence in asked and yes_or_no and answer[0].word in ("no", "nope", "nah", "never", "hardly"):
            _mute(question)


def only_supposed(text: Text, sentence: int) -> bool:
    """`Suppose you masked after the softmax`, `You'd think the std is d_k`, `Not because ...`, `Are they different?`: said to be taken up, not asserted."""
    said = [token for token in text.tokens if token.sentence == sentence]
    asked = any(sign == "?" and n and text.tokens[n - 1].sentence == sentence for n, sign in text.punctuation)
    return asked or (bool(said) and said[0].word in NEGATORS) or any(token.word in _SUPPOSING for token in said)


def spoken(tokens: list[Token]) -> str:
    """The sentence in words, `be` and `do` for all their forms, a comma wherever it pauses."""
    text, segment = "", tokens[0].segment if tokens else 0
    for token in tokens:
        text += ", " if token.segment != segment else ""
        segment = token.segment
        text += (token.stem if token.stem in ("be", "do", "have") else token.word) + " "
    return text


def _mute(tokens: list[Token]) -> None:
    for token in tokens:
        token.muted = True
