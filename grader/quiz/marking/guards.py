"""What keeps words from earning: negation, withdrawal, hearsay, hedging, lists, copies, and text addressed to the marker.

Guards of single words mute tokens (a muted token earns nothing); guards of whole answers name a flag.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .lexicon import Span
from .patterns import Instance
from .tokens import Text, Token
from .words import NEGATORS, stem

_FORWARD = 8
_IDIOMS = frozenset("matter only just merely simply sure wonder mention doubt least necessarily mind care".split())
_FALSE = frozenset("wrong false incorrect untrue myth nonsense misconception mistaken misleading bogus".split())


def _by_first(phrases: str) -> dict[str, list[list[str]]]:
    """Phrases (between semicolons) by their first word."""
    table: dict[str, list[list[str]]] = {}
    for phrase in phrases.split(";"):
        table.setdefault(phrase.split()[0], []).append(phrase.split())
    return table


_DISCLAIM = _by_first(
        "not remember;not recall;not know;not sure;no idea;forget;forgot;blank on;blanking on;unsure;no clue;not certain;"
        "not write;have not clue;not think;doubt that;doubt;not tell you;not derive;not explain"
)
_HEARSAY = _by_first(
        "people say;people think;people believe;people claim;people often say;they say;some say;some people;some claim;many say;many people;"
        "many think;many believe;might think;often claimed;commonly claimed;often said;commonly believed;usual answer;textbook answer;"
        "you would think;tempting say;tempting think;it sound;used think;used believe;one would think;student say;claim be;people will tell"
)
_WITHDRAW = _by_first(
        "actually no;no wait;wait no;scratch that;no sorry;sorry no;sorry;or rather;hmm no;oops;strike that;my bad;take that back;"
        "no actually;wait actually;wait;i mean;i meant;no hang on;hang on;no that be wrong;let me fix;let me redo;let me correct;uh no;er no;ugh no;nope;make that;"
        "ignore that;forget that;no no"
)
_OPPOSITE = [
    frozenset(p.split()) for p in (
        "before after;pre post;d_k sqrt(d_k) d_k^2;1/d_k 1/sqrt(d_k);big small large;row column;independent dependent;grow shrink;"
        "increas decreas;linear quadratic;bounded unbounded;past future;same different;positive negative;mean sum;flat sharp"
    ).split(";")
]  # fmt: skip
_TO_MARKER = re.compile(
    r"(?:ignor|disregard|forget|overrid|bypass|skip)\w*\s+(?:\w+\s+){0,4}(?:instruction|rubric|prompt|rule|guideline|criteria|the above|everything above)"
    r"|\b(?:full|maximum|max|all|perfect|complete|top|100%)\s+(?:the\s+)?(?:marks?|credits?)\b|\b(?:full|maximum|all(?:\s+the)?)\s+points\b"
    r"|\b(?:award|give|grant|assign)\w*\s+(?:\w+\s+){0,4}(?:marks|credits?|points)\b|\b(?:award|give|grant|assign|output|return|set|report)\w*\s+(?:\w+\s+){0,2}(?:full|max\w*|perfect|top|highest)\s+score"
    r"|\b(?:note|message|attention|instructions?|dear|hey|hi|hello|to)[\s,:]+(?:to\s+)?(?:the\s+|all\s+)?(?:grader|marker|examiner|evaluator|judge|assistant|reviewer|llm|ai\b|model:)"
    r"|^\s*(?:system|assistant|user|developer|grader|marker|admin)\s*(?:prompt|message|note|override|update)?\s*[:>\]]|<\s*/?\s*(?:system|instructions?|rubric|grader|answer)\b"
    r"|\[\s*/?\s*(?:inst|system)\s*\]|<\|"
    r"|\bsudo\b|\bmark\s+-{0,2}all\b|--all\b|\bgrade\s*[:=]\s*(?:a\b|100|full)"
    r"|mark\w*\s+(?:\w+\s+){0,3}(?:as\s+)?(?:earned|correct|met|right|passed|complete)\b|answer\s+(?:\w+\s+){0,2}(?:earns|deserves|satisfies|meets|covers|is\s+correct|should\s+be\s+(?:marked|graded))"
    r"|\"?(?:earned|met)\"?\s*[:=]\s*(?:true|1\b|\"|\[)|\"score\"\s*:|\bauto-?grader\b|(?:score|points?|marks?)\s*[:=]\s*(?:max|true|full)|you\s+are\s+(?:now\s+)?(?:a|an|the)\s+(?:\w+\s+){0,3}(?:grader|marker|model|assistant|ai|judge|examiner|evaluator)"
    r"|as\s+(?:a|an|the)\s+(?:\w+\s+){0,2}(?:grader|marker|language model|examiner|judge)|(?:points?|criteria|rubric)\s+(?:\w+\s+){0,3}(?:satisfied|met|earned|fulfilled|covered)\b"
    r"|(?:grader|marker|rubric|teacher|examiner|evaluator|professor)\b[^.\n]{0,40}\b(?:accept|earned|correct|pass|full|must|should|please|has (?:been|already)|approved|verified)"
    r"|(?:treat|consider|count|regard|grade|accept|score)\s+(?:this|the|my|it|every|all|each)\b(?:\s+\w+){0,5}\s+(?:as\s+)?(?:earned|correct|met|right|passed|complete|perfect|valid)",
    re.MULTILINE,
)  # fmt: skip
_FINITE = frozenset(
    "is are be was were has had do does did can will would get gets go goes make makes keeps gives becomes adds sums grows prevents stops divides "
    "multiplies pushes drives saturates vanishes cancels stays freezes moves steps learns breaks scales carries limits applies puts sets normalizes "
    "leaves counts uses means say need needs want turns mixes averages loses returns equals comes drops kills flows reaches passes "
    "changes shrinks explodes blows fails holds depends know see let shows finds looks points aligns dies gets takes took because since so if when while "
    "that which than it they you we this there don = -> ~ < > <= >= == collapses tells lets reduces forces behaves lies sees assume compute share grow keep add lose become cancel saturate vanish align diverge explode depend carry give get make shares wants kill agree think".split()
)
VERBS = frozenset(word for word in _FINITE if word.isalpha())
_GRAMMAR = _FINITE | frozenset(
    "the a an to of in on at by for from with as its these those them and or but then have only all each every into out up what how why where who "
    "per before after over via without during until through + - * gets got always just".split()
)


def scopes(tokens: list[Token]) -> list[tuple[int, range]]:
    """For each negator its place and the tokens that it governs."""
    out = []
    for at, token in enumerate(tokens):
        if token.stem not in NEGATORS and token.word not in NEGATORS:
            continue
        after = tokens[at + 1] if at + 1 < len(tokens) else None
        if after is not None and (after.stem in _IDIOMS or after.word in _IDIOMS):
            continue
        out.append((at, range(at + 1, _scope_end(tokens, at))))
    for at in _two_word_negators(tokens):
        out.append((at, range(at + 1, min(_clause_end(tokens, at + 1), at + 6))))
    return out


def _scope_end(tokens: list[Token], at: int) -> int:
    word = tokens[at].word
    if word == "without":
        return min(_clause_end(tokens, at), at + 4)
    if word in ("neither", "nor"):
        return min(_sentence_end(tokens, at), at + 12)
    return min(_list_end(tokens, at), at + 1 + _FORWARD)


def _list_end(tokens: list[Token], at: int) -> int:
    """The end of the clause, or of the enumeration that begins in it: `not overflow, NaN or rounding`."""
    end = _clause_end(tokens, at)
    beyond = end
    while beyond < len(tokens) and tokens[beyond].clause - tokens[beyond - 1].clause < 2 and beyond - end < 6:
        if tokens[beyond].sentence != tokens[at].sentence:
            return end
        if tokens[beyond].word in ("or", "nor"):
            return _clause_end(tokens, beyond)
        if tokens[beyond].word in VERBS or tokens[beyond].word in ("but", "so"):
            return end
        beyond += 1
    return end


_TWO_WORDS = frozenset(
    {("rather", "than"), ("instead", "of"), ("opposed", "to"), ("other", "than"), ("anything", "but"), ("far", "from"), ("fail", "to"), ("refuse", "to"), ("stop", "being")}
)


def _two_word_negators(tokens: list[Token]) -> list[int]:
    return [at + 1 for at in range(len(tokens) - 1) if (stem(tokens[at].word), tokens[at + 1].word) in _TWO_WORDS]


def _clause_end(tokens: list[Token], at: int) -> int:
    end = at + 1
    while end < len(tokens) and tokens[end].clause == tokens[at].clause:
        end += 1
    after = end
    while after < len(tokens) and tokens[after].clause == tokens[min(end, len(tokens) - 1)].clause:
        after += 1
    adverb = end < len(tokens) and after - end == 1 and tokens[end].sentence == tokens[at].sentence and tokens[end].word.endswith("ly")
    return after if adverb else end  # "aren't changed more, relatively"


def _sentence_end(tokens: list[Token], at: int) -> int:
    end = at + 1
    while end < len(tokens) and tokens[end].sentence == tokens[at].sentence:
        end += 1
    return end


def negated(instance: Instance, governed: Iterable[tuple[int, range]]) -> bool:
    """Whether a negator that is no part of the instance governs one of its concepts."""
    for at, scope in governed:
        if any(start <= at < end for start, end in instance.spans):
            continue
        if any(start in scope for start, _ in instance.spans):
            return True
    return False


def denied_after(instance: Instance, tokens: list[Token]) -> bool:
    """`keys and values aren't kept`: the negated verb follows what it is about."""
    at = instance.end
    if at < len(tokens) and tokens[at].stem == "be":
        at += 1
    return at < len(tokens) and tokens[at].aux and tokens[at].clause == tokens[instance.end - 1].clause


def governed_spans(instance: Instance, governed: Iterable[tuple[int, range]], spared: Instance) -> list[Span]:
    """The concepts of an instance that a negator governs which is no part of it, nor of `spared`."""
    own = instance.spans + spared.spans
    outside = [scope for at, scope in governed if not any(start <= at < end for start, end in own)]
    return [span for span in instance.spans if any(span[0] in scope for scope in outside)]


def mute(text: Text) -> None:
    """Mute what the person withdraws, disclaims, reports as others' error or hedges over."""
    _withdrawn(text)
    _disclaimed(text.tokens)
    _called_false(text.tokens)
    _hearsay(text.tokens)
    _hedged(text.content)
    _lists(text)


def _at(tokens: list[Token], at: int, phrase: list[str]) -> bool:
    return at + len(phrase) <= len(tokens) and all(phrase[n] in (tokens[at + n].word, tokens[at + n].stem) for n in range(len(phrase)))


def _phrase_at(tokens: list[Token], at: int, phrases: dict[str, list[list[str]]]) -> int:
    """The length of the longest of the phrases that begins here, 0 if none does."""
    token = tokens[at]
    begun = phrases.get(token.word, []) + (phrases.get(token.stem, []) if token.stem != token.word else [])
    return max((len(phrase) for phrase in begun if _at(tokens, at, phrase)), default=0)


def _withdrawn(text: Text) -> None:
    tokens = text.tokens
    paused = {n for n, sign in text.punctuation if sign.startswith("..")}
    at = 0
    while at < len(tokens):
        length = _phrase_at(tokens, at, _WITHDRAW) or (tokens[at].word == "no" and at in paused)
        if not length:
            at += 1
            continue
        _take_back(tokens, at, at + length)
        at += length


def _take_back(tokens: list[Token], at: int, after: int) -> None:
    sentence = tokens[at].sentence
    before = [token for token in tokens[:at] if token.sentence == sentence]
    rest = [token for token in tokens[after:] if token.sentence == sentence and not token.filler]
    if not before and not (rest and tokens[at].word in ("sorry", "i")):
        before = [token for token in tokens[:at] if token.sentence == sentence - 1]
    following = rest or [token for token in tokens[after:] if token.sentence == sentence + 1]
    if not before or not following:
        return
    first = following[0]
    short = [token for token in following if token.clause == first.clause]
    if len(short) <= 3:
        _swap(before, short)
    else:
        for token in before[-16:]:
            token.muted = True


def _swap(before: list[Token], short: list[Token]) -> None:
    """`d_k squared, sorry, d_k`: the last thing of the same kind goes."""
    formula = any(not token.word.isalpha() for token in short)
    mates = [token for token in before if not token.filler and (not formula or not token.word.isalpha())]
    for token in mates[-1:] if formula else mates[-len(short) :]:
        place = before.index(token)
        for each in before[place:]:
            each.muted = True


def _disclaimed(tokens: list[Token]) -> None:
    plain = [token for token in tokens if not token.filler]
    for at in range(len(plain)):
        length = _phrase_at(plain, at, _DISCLAIM)
        if length:
            for token in plain[at + length : _clause_end(plain, at)]:
                token.muted = True


def _called_false(tokens: list[Token]) -> None:
    """`..., which is wrong`, `That is a myth.`: what stands before it goes; `It is not true that ...`: what follows."""
    for at, token in enumerate(tokens):
        if token.word not in _FALSE and not (token.word in ("true", "right", "so", "correct") and at and tokens[at - 1].word in ("not", "never")):
            continue
        subject = [t.word for t in tokens[max(0, at - 6) : at] if t.sentence == token.sentence]
        pointing = {"that", "this", "which", "it", "these", "both"} & set(subject[-5:])
        if not pointing or "be" not in [t.stem for t in tokens[max(0, at - 5) : at]]:
            continue
        begin = at - subject[::-1].index(next(w for w in subject[::-1] if w in pointing)) - 1
        same = [t for t in tokens[:begin] if t.sentence == token.sentence]
        rest = tokens[at + 1] if at + 1 < len(tokens) else None
        if rest is not None and rest.sentence == token.sentence and rest.word in ("that", "to"):
            for each in tokens[at : _sentence_end(tokens, at)]:
                each.muted = True  # "it is not true that ..."
            continue
        for each in same if len(same) > 2 else [t for t in tokens[:begin] if t.sentence == token.sentence - 1]:
            each.muted = True


def _hearsay(tokens: list[Token]) -> None:
    plain = [token for token in tokens if not token.filler]
    for at in range(len(plain)):
        if not _phrase_at(plain, at, _HEARSAY):
            continue
        end = _sentence_end(plain, at)
        but = next((n for n in range(at, end) if plain[n].word in ("but", "however", "though", "yet")), None)
        next_one = [t.word for t in plain[end : end + 4]]
        turned = {"but", "wrong", "false", "not", "no", "however", "isn", "never", "myth"} & set(next_one)
        if but is not None or turned:
            for token in plain[at : but if but is not None else end]:
                token.muted = True


def _hedged(tokens: list[Token]) -> None:
    for at in range(1, len(tokens) - 1):
        if tokens[at].word not in ("or", "maybe", "perhaps"):
            continue
        left, right = tokens[max(0, at - 2) : at], tokens[at + 1 : at + 3]
        pairs = [(a, b) for a in left for b in right for opposite in _OPPOSITE if a.stem != b.stem and ({a.stem, b.stem} <= opposite or {a.word, b.word} <= opposite)]
        if pairs:
            for token in [*(a for a, _ in pairs), *tokens[at + 1 : at + 4]]:
                token.muted = True  # what they stand before belongs to both


def _lists(text: Text) -> None:
    """A sentence that is a bare list of terms earns nothing."""
    by_sentence: dict[int, list[Token]] = {}
    for token in text.tokens:
        by_sentence.setdefault(token.sentence, []).append(token)
    for tokens in by_sentence.values():
        formulas = any(token.word == "=" for token in tokens)
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
    grammar = sum(token.word in _GRAMMAR and token.word.isalpha() for token in tokens)
    words = sum(token.word.isalpha() and len(token.word) > 1 for token in tokens)
    symbols = sum(token.word in ("->", "=", "~") for token in tokens)
    if len(segments) >= 6 and len(tokens) <= 2 * len(segments) and words >= 0.7 * len(tokens):
        return sum(_says(part) for part in segments.values()) <= len(segments) // 4
    if len(segments) >= 4 + bool(symbols) and len(tokens) / len(segments) <= 4.5:
        said = sum(_says(part) for part in segments.values())
        return said <= len(segments) // 4 and grammar <= max(1, 0.12 * words)
    return len(tokens) >= 8 and words >= 0.7 * len(tokens) and len(segments) <= 3 and grammar + symbols <= len(tokens) // 10


def _says(part: list[Token]) -> bool:
    words = {token.word for token in part}
    return bool(words & VERBS) or len(part) >= 3 and bool(words & {"=", "->", "~"})


def addressed_to_marker(text: str) -> bool:
    """Whether the answer instructs whoever marks it."""
    return bool(_TO_MARKER.search(text))


_ASKING = frozenset(map(stem, "question answer say state derive show explain write given get describe prompt ask the why what how tell because reason".split()))


def _said(text: Text) -> list[str]:
    """The words that carry content, cut to their beginnings."""
    return [token.stem[:6] for token in text.content if token.word not in _GRAMMAR and token.stem not in _ASKING and len(token.stem) > 1]


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
