"""What a person takes back: words that are withdrawn, disclaimed, called false, reported as hearsay or hedged over are muted."""

from __future__ import annotations

from itertools import pairwise

from .grammar import clause_end, sentence_end
from .opposites import mute_hedged, mute_slips
from .rejection import mute_rejected
from .tokens import Text, Token
from .undecided import mute_answered_no, mute_open_questions, mute_undecided

_FALSE = frozenset(["wrong", "false", "incorrect", "untrue", "myth", "nonsense", "misconception", "mistaken", "misleading", "bogus"])


def _by_first(phrases: str) -> dict[str, list[list[str]]]:
    """Phrases (between semicolons) by their first word."""
    table: dict[str, list[list[str]]] = {}
    for phrase in phrases.split(";"):
        table.setdefault(phrase.split()[0], []).append(phrase.split())
    return table


_DISCLAIM = _by_first(
    "not remember;not recall;not know;not sure;no idea;forget;forgot;blank on;blanking on;unsure;no clue;not certain;"
    "not write;have not clue;not think;doubt that;doubt;not tell you;not derive;not tell;not explain;not reconstruct;not justify;not say"
)
_HEARSAY = _by_first(
    "people say;people think;people believe;people claim;people often say;they say;some say;some people;some claim;many say;many people;"
    "many think;many believe;might think;often claimed;commonly claimed;often said;commonly believed;usual answer;textbook answer;"
    "you would think;tempting say;tempting think;it sound;used think;used believe;go to say;supposedly;allegedly;reputedly;rumor have;textbook say;"
    "one would think;student say;claim be;people will tell"
)
_WITHDRAW = _by_first(
    "actually no;no wait;wait no;scratch that;no sorry;sorry no;sorry;or rather;hmm no;oops;strike that;my bad;take that back;"
    "no actually;wait actually;wait;i mean;i meant;no hang on;hang on;no that be wrong;let me fix;let me redo;let me correct;uh no;er no;ugh no;nope;make that;"
    "ignore that;forget that;no no;hmm sign;wait sign;hm sign;wrong sign;sign error;sign be wrong"
)
CHECKING = frozenset(["check", "verify", "recheck", "hmm", "hm"])  # "J = pp^T - diag(p), let me check the sign ... so diag(p) - pp^T": what follows is the final word
_TELLING = frozenset(["tell", "say", "explain", "justify", "remember", "recall", "know", "writ"])
_STARTERS = frozenset(["no", "wait", "oh", "hm", "hmm", "actually", "ah", "oops", "sorry", "nope", "er", "uh", "um"])
_ADVERBS = frozenset(["sometimes", "frequently", "usually", "commonly", "occasionally", "generally", "mistakenly", "wrongly"])
_SUBJECTS = "it that this which they these those paper result experiment study finding figure pruning state summary rnn model head mask softmax"
_THINGS = frozenset(_SUBJECTS.split())
_LINKING = frozenset(["be", "=", "~", "equal", "->", "become"])


def mute(text: Text) -> None:
    """Mute what the person withdraws, disclaims, reports as others' error or hedges over."""
    _withdrawn(text)
    _announced(text)
    _disclaimed(text.tokens)
    _called_false(text.tokens)
    _hearsay(text.tokens)
    mute_rejected(text.tokens)
    mute_slips(text.tokens)
    mute_hedged(text.content)


def _at(tokens: list[Token], at: int, phrase: list[str]) -> bool:
    return at + len(phrase) <= len(tokens) and all(phrase[n] in (tokens[at + n].word, tokens[at + n].stem) for n in range(len(phrase)))


def _phrase_at(tokens: list[Token], at: int, phrases: dict[str, list[list[str]]]) -> int:
    """The length of the longest of the phrases that begins here, 0 if none does."""
    token = tokens[at]
    begun = phrases.get(token.word, []) + (phrases.get(token.stem, []) if token.stem != token.word else [])
    return max((len(phrase) for phrase in begun if _at(tokens, at, phrase)), default=0)


def _withdrawn(text: Text) -> None:
    tokens = text.tokens
    sentences = _by_sentence(tokens)
    _torn(sentences)
    mute_undecided(sentences)
    asked = {tokens[n - 1].sentence for n, sign in text.punctuation if sign == "?" and n}
    mute_open_questions([sentence for sentence in sentences if sentence[0].sentence in asked])
    mute_answered_no(sentences, asked)
    paused = {n for n, sign in text.punctuation if sign.startswith("..")}
    at = 0
    while at < len(tokens):
        length = _phrase_at(tokens, at, _WITHDRAW) or (tokens[at].word == "no" and at in paused)
        if not length or _told(tokens, at, at + length):
            at += 1
            continue
        _take_back(tokens, at, at + length)
        at += length


def _announced(text: Text) -> None:
    """`I'd think about the relative update: ...`: names what it is about, says nothing of it."""
    tokens = text.tokens
    for n in [n for n, sign in text.punctuation if sign == ":" and n]:
        own = [token for token in tokens[:n] if token.segment == tokens[n - 1].segment]
        if any(one.stem == "think" and other.word in ("about", "of") for one, other in pairwise(own)):
            for token in own:
                token.muted = True


def _told(tokens: list[Token], at: int, after: int) -> bool:
    """`exp makes that zero`, `if one waits`: part of what is told, none of a correction."""
    token = tokens[at]
    if token.stem not in ("make", "wait"):
        return False
    begins = not at or tokens[at - 1].segment != token.segment
    ends = after < len(tokens) and tokens[after].segment != token.segment
    bare = begins or (token.stem == "wait" and (ends or after - at > 1))
    return token.word != token.stem or not bare


def _by_sentence(tokens: list[Token]) -> list[list[Token]]:
    sentences: dict[int, list[Token]] = {}
    for token in tokens:
        sentences.setdefault(token.sentence, []).append(token)
    return list(sentences.values())


def _torn(sentences: list[list[Token]]) -> None:
    """`Perhaps it's this, perhaps that`, `either ... or ..., depending`: a sentence that doesn't decide."""
    for sentence in sentences:
        words = [token.word for token in sentence]
        unsure = sum(word in ("maybe", "perhaps", "possibly") for word in words)
        either = "either" in words and "or" in words and any(token.stem.startswith("depend") for token in sentence)
        if unsure >= 2 or either or ("maybe not" in " ".join(words)):
            for token in sentence:
                token.muted = True


def _take_back(tokens: list[Token], at: int, after: int) -> None:
    sentence = tokens[at].sentence
    before = [token for token in tokens[:at] if token.sentence == sentence]
    before = [] if all(token.filler or token.word in _STARTERS for token in before) else before
    rest = [token for token in tokens[after:] if token.sentence == sentence and not token.filler]
    if not before and not (rest and tokens[at].word in ("sorry", "i")):
        before = [token for token in tokens[:at] if token.sentence == sentence - 1]
    following = rest or [token for token in tokens[after:] if token.sentence == sentence + 1]
    if not before or not following:
        return
    first = following[0]
    if tokens[at].word == "i" and first.stem in {token.stem for token in before[-8:]}:
        return  # "naught, and I mean naught": emphasis
    short = [token for token in following if token.clause == first.clause]
    scratched = before[-1].sentence != sentence and tokens[at].word in ("scratch", "strike", "forget", "ignore")
    if len(short) <= 3 and not scratched:
        _swap(before, short)
    else:
        for token in before[-16:]:
            token.muted = True


def _swap(before: list[Token], short: list[Token]) -> None:
    """`d_k squared, sorry, d_k`: the last thing of the same kind goes."""
    formula = any(not token.word.isalpha() for token in short)
    mates = [token for token in before if not token.filler and (not formula or not token.word.isalpha())]
    linked = next((n for n in range(len(mates) - 1, 0, -1) if mates[n - 1].stem in _LINKING), 0)
    mates = mates if formula else mates[linked:]  # "equals its length, I mean the number of components"
    for token in mates[-1:] if formula else mates[-len(short) :]:
        place = before.index(token)
        for each in before[place:]:
            each.muted = True


def _disclaimed(tokens: list[Token]) -> None:
    plain = [token for token in tokens if not token.filler]
    for at in range(len(plain)):
        length = _phrase_at(plain, at, _DISCLAIM)
        if length and not _said_of_a_thing(plain, at) and plain[at + length - 1].word != "thinking" and not _interjected(plain, at, at + length):
            for token in plain[at + length : clause_end(plain, at)]:
                token.muted = True
            _mute_undecided(plain, at, at + length)
            _mute_unexplained(plain, at, at + length)


def _said_of_a_thing(plain: list[Token], at: int) -> bool:
    """`The paper doesn't say that ...`: no ignorance of the person's."""
    telling = at + 1 < len(plain) and plain[at].word == "not" and plain[at + 1].stem in _TELLING
    if telling and at > 1 and plain[at - 1].stem == "be" and plain[at - 2].word not in ("i", "we"):
        return True  # "W_Q isn't told which way to go"
    before = at - 1 - (at > 1 and plain[at - 1].stem in ("do", "have"))
    return telling and before >= 0 and (plain[before].word in _THINGS or (plain[before].word == "you" and plain[at + 1].word == "write"))


def _interjected(plain: list[Token], at: int, after: int) -> bool:
    """`that's, I dunno, doubling them`: a pause for thought, between commas."""
    own = [token for token in plain if token.segment == plain[at].segment]
    goes_on = after < len(plain) and plain[after].sentence == plain[at].sentence and plain[after].word not in ("or", "whether", "if", "why", "how", "what", "which")
    return goes_on and at > 1 and plain[at - 2].sentence == plain[at].sentence and [t.word for t in own] in (["i", "do", "not", "know"], ["do", "not", "know"])


def _mute_undecided(plain: list[Token], at: int, after: int) -> None:
    """`It's sharper or less sharp, no idea.`, `either ... or ..., I'm not sure which`: the choice before the disclaimer."""
    sentence = [token for token in plain[:at] if token.sentence == plain[at].sentence]
    rest = [token.word for token in plain[after : after + 5] if token.sentence == plain[at].sentence]
    if sentence and "or" in [token.word for token in sentence] and len(rest) < 5 and not set(rest) & {"why", "how"}:
        for token in sentence:
            token.muted = True


def _mute_unexplained(plain: list[Token], at: int, after: int) -> None:
    """`Why it's d_k I can't say.`: the question before the disclaimer."""
    sentence = [token for token in plain[:at] if token.sentence == plain[at].sentence]
    ends = after >= len(plain) or plain[after].sentence != plain[at].sentence
    if ends and sentence and sentence[0].word in ("why", "how", "whether", "what"):
        for token in sentence:
            token.muted = True


def _called_false(tokens: list[Token]) -> None:
    """`..., which is wrong`, `That is a myth.`: what stands before it goes; `It is not true that ...`: what follows."""
    for at, token in enumerate(tokens):
        if token.word not in _FALSE and not (token.word in ("true", "right", "so", "correct") and at and tokens[at - 1].word in ("not", "never")):
            continue
        subject = [t.word for t in tokens[max(0, at - 6) : at] if t.sentence == token.sentence]
        pointing = {"that", "this", "which", "it", "these", "both"} & set(subject[-5:])
        if not pointing or "be" not in [t.stem for t in tokens[max(0, at - 5) : at]] or _unnoticed(tokens[at + 1 : at + 4]):
            continue
        begin = at - subject[::-1].index(next(w for w in subject[::-1] if w in pointing)) - 1
        same = [t for t in tokens[:begin] if t.sentence == token.sentence]
        rest = tokens[at + 1] if at + 1 < len(tokens) else None
        if rest is not None and rest.sentence == token.sentence and rest.word in ("that", "to"):
            for each in tokens[at : sentence_end(tokens, at)]:
                each.muted = True  # "it is not true that ..."
            continue
        for each in same if len(same) > 2 else [t for t in tokens[:begin] if t.sentence == token.sentence - 1]:
            each.muted = True


def _unnoticed(after: list[Token]) -> bool:
    """`..., which is wrong but nobody sees it`: a fault of the thing, none of the sentence's."""
    return bool(after) and after[0].word in ("but", "and") and bool({"nobody", "silent", "silently", "unnoticed", "hidden"} & {t.word for t in after})


def _hearsay(tokens: list[Token]) -> None:
    plain = [token for token in tokens if not token.filler and token.word not in _ADVERBS]
    for at in range(len(plain)):
        if not _phrase_at(plain, at, _HEARSAY):
            continue
        end = sentence_end(plain, at)
        but = next((n for n in range(at, end) if plain[n].word in ("but", "however", "though", "yet")), None)
        next_one = [t.word for t in plain[end - 1 : end + 4]]
        turned = {"but", "wrong", "false", "not", "no", "however", "isn", "never", "myth"} & set(next_one)
        if but is not None or turned:
            for token in plain[at : but if but is not None else end]:
                token.muted = True
