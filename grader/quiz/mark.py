"""`mark(question, answer)`: which points an answer earns, and which of its words earned them.

No I/O, no clock, no chance: the same answer always gets the same marks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from .marking.addressed import addressed_to_marker
from .marking.lexicon import Lexicon, Span
from .marking.negation import Scope, denied_after, governed_spans, negated, scopes
from .marking.patterns import Instance, Pattern, instances, parse_pattern
from .marking.records import CONTRADICTED, MET, NOT_DETECTED, Marking, PointMark
from .marking.second import CLEARLY, EVEN, HARDLY, Reader, reader_at
from .marking.shams import copied, has_sentences, is_framed, is_list, is_separated, mute_lists
from .marking.spelling import known_words
from .marking.tokens import Text, read
from .marking.undecided import only_supposed
from .marking.withdrawal import CHECKING, mute
from .question import Point, Question, Reject

A_SENTENCE = 15  # words: in fewer the second reader finds too little to doubt what a pattern met
LONGEST = 6_000  # characters; thirty seconds aloud are about 500

_OFF_TOPIC = "No part of this answer is about the question; read the prompt again and answer that."
_TO_MARKER = "This answer speaks to the marker. Leave that out and answer the question."
_COPIED = "This is the question read back; say what the answer is."
_LIST = "This is a list of terms. Say in sentences how they hang together."
_DENIED = "Most of what this answer says about the points is that they don't hold."
_TOO_LONG = f"An answer has at most {LONGEST} characters: thirty seconds aloud are about 500. Shorten it."


@dataclass(frozen=True)
class _Rubric:
    accept: dict[str, list[Pattern]]
    reject: dict[str, list[tuple[Pattern, Reject]]]
    misconceptions: list[tuple[Pattern, Reject]]
    lexicon: Lexicon
    prompts: list[Text]


@dataclass(frozen=True)
class _Reading:
    """An answer with its concepts found and its negations scoped."""

    text: Text
    found: dict[str, list[Span]]
    governed: list[Scope]


def mark(question: Question, answer: str) -> Marking:
    """Mark one answer to one question."""
    if question.kind != "open":
        from .marking.exact import mark_exact

        return mark_exact(question, answer)
    if len(answer) > LONGEST:
        return _nothing(question, answer, ("too-long",), _TOO_LONG)
    rubric = rubric_of(question)
    text = read(answer, rubric.lexicon.mend)
    if not text.tokens:
        return _nothing(question, answer, ("empty",), "Nothing was answered.")
    if addressed_to_marker(answer.lower(), tuple(point.id for point in question.points)):
        return _nothing(question, answer, ("off-topic",), _TO_MARKER)
    if copied(text, rubric.prompts):
        return _nothing(question, answer, ("copied-prompt",), _COPIED)
    if (is_list(text.tokens) and not has_sentences(text)) or is_separated(text) or is_framed(text):
        return _nothing(question, answer, ("keyword-list",), _LIST)
    return _mark_open(question, answer, text, rubric)


class _Key:
    """A question as a cache key: by identity, as its mappings don't hash."""

    def __init__(self, question: Question):
        self.question = question

    def __hash__(self) -> int:
        return id(self.question)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.question is self.question


def rubric_of(question: Question) -> _Rubric:
    """The question's patterns and concepts, ready to be searched; raises LexiconError or PatternError."""
    return _rubric(_Key(question))


@lru_cache(maxsize=256)
def _rubric(key: _Key) -> _Rubric:
    question = key.question
    literals: dict[str, str] = {}
    accept = {p.id: [parse_pattern(each, literals) for each in p.accept] for p in question.points}
    reject = {p.id: [(parse_pattern(each.pattern, literals), each) for each in p.reject] for p in question.points}
    wrong = [(parse_pattern(each.pattern, literals), each) for each in question.misconceptions]
    patterns = [p for ps in accept.values() for p in ps] + [p for ps in reject.values() for p, _ in ps] + [p for p, _ in wrong]
    phrasings = {**question.lexicon, **question.concepts, **literals}
    lexicon = Lexicon(phrasings, sorted({name for pattern in patterns for name in pattern.names}), known_words())
    prompts = [read(each) for each in (question.prompt, *question.asks)]
    return _Rubric(accept, reject, wrong, lexicon, prompts)


def _mark_open(question: Question, answer: str, text: Text, rubric: _Rubric) -> Marking:
    mute(text)
    mute_lists(text)
    reading = _Reading(text, rubric.lexicon.find(text.content), scopes(text.content))
    marks = [_mark_point(point, rubric, reading) for point in question.points]
    marks = _read_again(_with_weak(marks, rubric, reading), question, rubric, reading)
    notes = [wrong.note for pattern, wrong in rubric.misconceptions if _asserted(pattern, reading)]
    notes += [m.note for m in marks if m.state == CONTRADICTED and m.note]
    flags = ["contradiction"] if notes or any(m.state == CONTRADICTED for m in marks) else []
    if _denies(marks, rubric, reading):
        marks = [PointMark(m.id, CONTRADICTED if m.state != NOT_DETECTED else NOT_DETECTED, m.span, m.note) for m in marks]
        flags, notes = ["contradiction"], [*notes, _DENIED]
    if not flags and not any(m.earned for m in marks) and sum(map(bool, reading.found.values())) < 3:
        flags, notes = ["off-topic"], [_OFF_TOPIC]
    return Marking(question.id, answer, tuple(marks), _score(question, marks), tuple(flags), tuple(dict.fromkeys(notes)))


def _mark_point(point: Point, rubric: _Rubric, reading: _Reading) -> PointMark:
    earned = _earning(rubric.accept[point.id], reading)
    against = [(i, why) for p, why in rubric.reject[point.id] for i in _assertions(p, reading)]
    for instance, why in against:
        if not any(_comes_after(each, instance, reading) for each in earned):
            return PointMark(point.id, CONTRADICTED, _span(instance, reading), why.note)
    if earned:
        return PointMark(point.id, MET, _span(min(earned, key=lambda i: (i.end - i.start, i.start)), reading))
    return PointMark(point.id, note=point.feedback)


def _comes_after(asserted: Instance, instance: Instance, reading: _Reading) -> bool:
    """Words after a correction or a check, or a sentence after one that only supposes or asks, are the final position; any other later sentence leaves the false claim standing."""
    content = reading.text.content
    corrected = any(content[n].muted or content[n].stem in CHECKING for n in range(instance.start, asserted.start))
    later = content[asserted.start].sentence > content[instance.end - 1].sentence
    return asserted.start >= instance.end and (corrected or (later and only_supposed(reading.text, content[instance.end - 1].sentence)))


def _earning(patterns: list[Pattern], reading: _Reading) -> list[Instance]:
    """The assertions that stand; one that rests on words of a denied, closer-knit instance doesn't."""
    strong = [p for p in patterns if not p.weak]
    outright = [i for p in strong if not p.guarded for i in _assertions(p, reading)]
    earned = [i for p in strong if p.guarded for i in _assertions(p, reading)]
    denied = [i for p in strong if p.guarded for i in instances(p, reading.found, reading.text.content) if _denied(i, reading)]
    return outright + [each for each in earned if not any(_undercuts(no, each, reading) for no in denied)]


def _undercuts(denied: Instance, asserted: Instance, reading: _Reading) -> bool:
    apart = denied.end <= asserted.start or asserted.end <= denied.start
    if apart or denied.end - denied.start > asserted.end - asserted.start:
        return False
    content = reading.text.content
    in_one_clause = content[denied.start].clause == content[denied.end - 1].clause and content[denied.end - 1].word not in ("it", "they")
    after = in_one_clause and denied_after(denied, content)
    spans = list(denied.spans) if after else governed_spans(denied, reading.governed, asserted)
    return any(a[0] < b[1] and b[0] < a[1] for a in spans for b in asserted.spans)


def _with_weak(marks: list[PointMark], rubric: _Rubric, reading: _Reading) -> list[PointMark]:
    if not any(m.earned for m in marks) or any(m.state == CONTRADICTED for m in marks):
        return marks
    out = []
    for m in marks:
        weak = [p for p in rubric.accept[m.id] if p.weak] if m.state == NOT_DETECTED else []
        hit = next((i for p in weak for i in _assertions(p, reading)), None)
        out.append(PointMark(m.id, MET, _span(hit, reading)) if hit else m)
    return out


def _assertions(pattern: Pattern, reading: _Reading) -> list[Instance]:
    """The instances that stand: not muted, and not negated where the pattern minds."""
    content = reading.text.content
    return [
        each
        for each in instances(pattern, reading.found, content)
        if not any(content[n].muted for start, end in each.spans for n in range(start, end))
        and not (pattern.guarded and _denied(each, reading))
    ]


def _read_again(marks: list[PointMark], question: Question, rubric: _Rubric, reading: _Reading) -> list[PointMark]:
    """The second reader's word on what no pattern met, and on what one met: only where it is nearly sure, and never against what the answer denies."""
    reader = _reader(_Key(question))
    if reader is None:
        return marks
    content, likely = reading.text.content, reader.likelihoods(reading.text.content)
    enough = sum(not token.muted for token in content) >= A_SENTENCE
    out = []
    for m in marks:
        chance = likely.get(m.id, 0.5)
        if m.state == MET and enough and chance < _doubtful(m.id, rubric, reading) and reader.at_best(content, m.id) < EVEN:
            m = PointMark(m.id, note=question.point(m.id).feedback)
        elif m.state == NOT_DETECTED and chance > CLEARLY and not _speaks_against(m.id, rubric, reading):
            place = reader.evidence(content, m.id)
            m = PointMark(m.id, MET, _words(*place, reading)) if place is not None else m
        out.append(m)
    return out


def _doubtful(point: str, rubric: _Rubric, reading: _Reading) -> float:
    """Below which likelihood a point is doubted that so many patterns agree on."""
    agree = sum(_asserted(pattern, reading) for pattern in rubric.accept[point])
    return HARDLY[min(agree, len(HARDLY)) - 1]


def _speaks_against(point: str, rubric: _Rubric, reading: _Reading) -> bool:
    """Whether the answer denies a point in words that would have earned it."""
    return any(_denied(each, reading) for pattern in rubric.accept[point] if pattern.guarded for each in instances(pattern, reading.found, reading.text.content))


@lru_cache(maxsize=64)
def _reader(key: _Key) -> Reader | None:
    return reader_at(key.question.learned) if key.question.learned is not None else None


def _asserted(pattern: Pattern, reading: _Reading) -> bool:
    return bool(_assertions(pattern, reading))


def _denies(marks: list[PointMark], rubric: _Rubric, reading: _Reading) -> bool:
    """Whether the answer denies at least two points (one of two) in as many ways, and as many as it asserts."""
    denials: list[set[int]] = []
    for m in marks:
        found = [i for p in rubric.accept[m.id] if p.guarded and not p.weak for i in instances(p, reading.found, reading.text.content)]
        ways = set() if m.earned else {way for i in found for way in _denials(i, reading)} | ({-1} if m.state == CONTRADICTED else set())
        denials += [ways] if ways else []
    needed = 2 if len(marks) > 2 else 1
    several = len(set().union(*denials) - {-1}) >= needed
    return several and len(denials) >= max(needed, sum(m.earned for m in marks) + (len(marks) == 2))


def _denied(instance: Instance, reading: _Reading) -> bool:
    return negated(instance, reading.governed) or denied_after(instance, reading.text.content)


def _denials(instance: Instance, reading: _Reading) -> set[int]:
    """The negators, by their places, that take this instance back."""
    content = reading.text.content
    first, last = instance.start, instance.end
    ways = {each.at for each in reading.governed if each.governs.start < last and each.governs.stop > first and negated(instance, [each])}
    return ways | ({instance.end} if denied_after(instance, content) else set())


def _span(instance: Instance, reading: _Reading) -> tuple[int, int]:
    return _words(instance.start, instance.end, reading)


def _words(first: int, behind: int, reading: _Reading) -> tuple[int, int]:
    content, original = reading.text.content, reading.text.original
    start, end = content[first].start, content[behind - 1].end
    while start and not original[start - 1].isspace():
        start -= 1
    while end < len(original) and not original[end].isspace():
        end += 1
    while end > start and original[end - 1] in ".,;:!?":
        end -= 1
    return start, end  # whole words


def _score(question: Question, marks: list[PointMark]) -> float:
    earned = {m.id for m in marks if m.earned}
    total = question.total
    return round(sum(p.weight for p in question.points if p.id in earned) / total, 6) if total else 0.0


def _nothing(question: Question, answer: str, flags: tuple[str, ...], note: str) -> Marking:
    marks = tuple(PointMark(point.id, note=point.feedback) for point in question.points)
    return Marking(question.id, answer, marks, 0.0, flags, (note,))
