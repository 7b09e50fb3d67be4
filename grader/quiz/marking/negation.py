"""What a negator governs, and which instances it takes back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .grammar import VERBS, clause_end, sentence_end
from .lexicon import Span
from .patterns import Instance
from .tokens import Token
from .words import NEGATORS, stem

_FORWARD = 8  # tokens that a negator reaches at most
_BREATH = 30  # tokens without a comma or a stop: so long is only what was dictated
_SUBJECTS = frozenset(["i", "you", "we", "it", "they"])
_FRONTED = frozenset(["with", "in", "at", "for", "after", "by", "on"])
_IDIOMS = frozenset(["matter", "only", "just", "merely", "simply", "sure", "wonder", "mention", "doubt", "least", "necessarily", "mind", "care"])
_OFF = "something what true allowed needed required possible permitted assumed right used case correct prevented avoided stopped necessary"
_CALLED_OFF = frozenset(_OFF.split())
_MORE = frozenset(["more", "less", "later", "longer", "larger", "fewer", "bigger", "higher"])
_OPEN = frozenset(["open", "unclear", "unknown", "doubtful", "questionable"])
_PREDICATES = frozenset(["be", "stay", "become", "remain", "get", "have", "go", "lose", "fail"])
_FOLLOWING = frozenset(["follow", "hold", "true", "so", "given", "implied"])
_TWO_WORDS = frozenset(
    {
        ("rather", "than"), ("instead", "of"), ("opposed", "to"), ("other", "than"), ("anything", "but"), ("far", "from"), ("fail", "to"),
        ("refuse", "to"), ("stop", "being"),
    }
)  # fmt: skip


class Scope(NamedTuple):
    """A negator: its place, the tokens that it governs, and where `but ...` says what holds instead (-1: nowhere)."""

    at: int
    governs: range
    instead: int = -1


def scopes(tokens: list[Token]) -> list[Scope]:
    """For each negator its place and the tokens that it governs."""
    out = []
    for at, token in enumerate(tokens):
        if token.word == "whether" and at and tokens[at - 1].word in _OPEN:
            out.append(Scope(at, range(at + 1, _scope_end(tokens, at))))
        if token.stem not in NEGATORS and token.word not in NEGATORS:
            continue
        after = tokens[at + 1] if at + 1 < len(tokens) else None
        if after is not None and after.word in _MORE and at + 2 < len(tokens) and tokens[at + 2].word == "than":
            continue  # "no more than in proportion"
        if after is not None and (after.stem in _IDIOMS or after.word in _IDIOMS):
            continue
        if after is not None and after.stem == "know" and _only_a_pause(tokens, at):
            continue
        out.append(Scope(at, range(at + 1, _scope_end(tokens, at)), _instead(tokens, at)))
    out += [Scope(at, range(_sentence_start(tokens, at), at)) for at in _verdicts(tokens)]
    for at in _two_word_negators(tokens):
        out.append(Scope(at, range(at + 1, min(clause_end(tokens, at + 1), at + 6))))
    return out


def _verdicts(tokens: list[Token]) -> list[int]:
    """`That settings carry over does not follow`: the negator that speaks on the clause before it."""
    return [
        at
        for at, token in enumerate(tokens[:-1])
        if token.aux and tokens[at + 1].word in _FOLLOWING and tokens[_sentence_start(tokens, at)].word == "that" and at - _sentence_start(tokens, at) > 4
    ]


def _sentence_start(tokens: list[Token], at: int) -> int:
    while at and tokens[at - 1].sentence == tokens[at].sentence:
        at -= 1
    return at


def _only_a_pause(tokens: list[Token], at: int) -> bool:
    """`that's, I dunno, doubling them`"""
    near = [token.word for token in tokens[max(0, at - 4) : at + 6] if token.segment == tokens[at].segment]
    return set(near) <= {"i", "do", "not", "know"}


def _instead(tokens: list[Token], at: int) -> int:
    """`It doesn't normalise the scores but q and k`: where what holds instead begins, -1 if nothing is said."""
    if tokens[at].word != "not":
        return -1
    end = min(sentence_end(tokens, at), at + 16)
    but = next((n for n in range(at + 2, end - 1) if tokens[n].word == "but"), -1)
    after = tokens[but + 1 : min(but + 4, end)] if but > 0 else []
    has_verb = any(token.word in VERBS or token.stem == "be" or token.word in NEGATORS for token in after)
    return but if after and not has_verb else -1


def negated(instance: Instance, governed: Iterable[Scope]) -> bool:
    """Whether a negator that is no part of the instance governs one of its concepts."""
    first, last = instance.start, instance.end
    for at, scope, instead in governed:
        if instead > 0 and any(start > instead for start, _ in instance.spans):
            continue
        if scope.start >= last or scope.stop <= first or any(start <= at < end for start, end in instance.spans):
            continue
        if any(start in scope for start, _ in instance.spans):
            return True
    return False


def denied_after(instance: Instance, tokens: list[Token]) -> bool:
    """`keys and values aren't kept`: the negated verb follows what it is about."""
    at = instance.end
    copula = at < len(tokens) and tokens[at].stem == "be"
    at += copula
    if at >= len(tokens) or _parted(tokens[instance.end - 1], tokens[at]):
        return False
    verb = tokens[at + 1].word if at + 1 < len(tokens) else ""
    if tokens[at].word == "not" and verb in VERBS and verb.endswith("s") and not copula:
        return True  # "the denominator in no way depends on it"
    return tokens[at].aux or (copula and tokens[at].word in ("never", "neither", "nowhere")) or _called_off(tokens, instance.end)


def _parted(one: Token, other: Token) -> bool:
    """Whether more than a closing bracket stands between them: `exp(-inf) can't be zero`."""
    bracket = one.sentence == other.sentence and one.segment == other.segment and not one.word.isalpha()
    return one.clause != other.clause and not bracket


def _called_off(tokens: list[Token], at: int) -> bool:
    """`loss spikes [from growing logits] aren't prevented`: the predicate comes at the end of the clause."""
    end = min(clause_end(tokens, at), at + _FORWARD)
    for n in range(at, end - 2):
        if tokens[n].stem != "be" and tokens[n].word in VERBS:
            return False
        if tokens[n].stem == "be":
            return tokens[n + 1].word in ("not", "never") and tokens[n + 2].word in _CALLED_OFF
    return False


def governed_spans(instance: Instance, governed: Iterable[Scope], spared: Instance) -> list[Span]:
    """The concepts of an instance that a negator governs which is no part of it, nor of `spared`."""
    own = instance.spans + spared.spans
    outside = [scope for at, scope, _ in governed if not any(start <= at < end for start, end in own)]
    return [span for span in instance.spans if any(span[0] in scope for scope in outside)]


def _scope_end(tokens: list[Token], at: int) -> int:
    word = tokens[at].word
    if word == "without":
        end = min(clause_end(tokens, at), at + 4)
        return next((n for n in range(at + 2, end) if tokens[n].stem in _PREDICATES), end)  # "without the exponential weights stay flat"
    if word == "no" and at + 1 < len(tokens) and tokens[at + 1].word == "such":
        return min(sentence_end(tokens, at), at + 10)  # "there is no such limit as one distribution per query"
    if word in ("neither", "nor"):
        return min(sentence_end(tokens, at), at + 12)
    end = min(_list_end(tokens, at), at + 1 + _FORWARD)
    end = _run_on(tokens, at, end)
    return next((n for n in range(at + 2, end - 1) if tokens[n].word == "and" and tokens[n + 1].word in VERBS), end)  # "get no gradient and keep looking"


def _run_on(tokens: list[Token], at: int, end: int) -> int:
    """`it's not a thing you can use with two heads you'd get ...`, dictated without a stop: where the next sentence begins."""
    own = sum(token.segment == tokens[at].segment for token in tokens)
    subjects = [n for n in range(at + 1, end) if tokens[n].word in _SUBJECTS and n + 1 < len(tokens)]
    follows = next((n for n in subjects[1:] if tokens[n + 1].word in VERBS or tokens[n + 1].stem == "be"), end)
    if own < _BREATH or follows == end:
        return end
    return next((n for n in range(follows - 1, max(at, follows - 4), -1) if tokens[n].word in _FRONTED), follows)


def _list_end(tokens: list[Token], at: int) -> int:
    """The end of the clause, or of the enumeration that begins in it: `not overflow, NaN or rounding`."""
    end = clause_end(tokens, at)
    if end < len(tokens) and tokens[end].word == "as" and tokens[end].segment == tokens[at].segment:
        end = clause_end(tokens, end)  # "doesn't stay as it was at the start"
    beyond = end
    while beyond < len(tokens) and tokens[beyond].clause - tokens[beyond - 1].clause < 2 and beyond - end < 6:
        if tokens[beyond].sentence != tokens[at].sentence:
            return end
        if tokens[beyond].word in ("or", "nor"):
            listed = clause_end(tokens, beyond)
            another = beyond == end and listed - beyond > 4 and tokens[beyond].word == "or"  # "they can't grow, or clip the scores at fifty"
            return end if another else listed
        if tokens[beyond].word in VERBS or tokens[beyond].word in ("but", "so"):
            return end
        beyond += 1
    return end


def _two_word_negators(tokens: list[Token]) -> list[int]:
    return [at + 1 for at in range(len(tokens) - 1) if (stem(tokens[at].word), tokens[at + 1].word) in _TWO_WORDS]
