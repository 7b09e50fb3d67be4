"""The linter of a bank: what would make a question unfair, or a rubric toothless."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from .mark import mark, rubric_of
from .marking.expression import Unreadable, parse
from .marking.grammar import VERBS
from .marking.lexicon import LexiconError
from .marking.patterns import PatternError
from .marking.slots import check_names, judge_slot
from .question import Bank, BankError, Question


def bank_problems(bank: Bank) -> list[str]:
    """One line for each problem, beginning with the question's file."""
    problems: list[str] = []
    questions: list[Question] = []
    for name in bank.ids:
        try:
            questions.append(bank.get(name))
        except BankError as error:
            problems += error.problems
    for question in questions:
        problems += [f"{question.id}.yaml: {each}" for each in question_problems(question)]
        if len(bank.labelled(question.id)) < 12:
            problems.append(f"labelled/{question.id}.yaml: at least twelve labelled answers are needed, there are {len(bank.labelled(question.id))}.")
    return [*problems, *_unused(bank, questions)]


def question_problems(question: Question) -> Iterator[str]:
    """What is wrong with one question."""
    yield from _shape(question)
    if question.kind != "open":
        yield from _exact(question)
        return
    try:
        rubric_of(question)
    except (LexiconError, PatternError) as error:
        yield str(error)
        return
    yield from _patterns(question)
    yield from _claims(question)
    yield from _earns_nothing(question)


def _shape(question: Question) -> Iterator[str]:
    if not question.points:
        yield "a question has at least one point."
    ids = [point.id for point in question.points]
    yield from (f"point id {one!r} is used twice." for one, other in pairwise(sorted(ids)) if one == other)
    if not 1 <= question.difficulty <= 5:
        yield f"difficulty is 1 to 5, not {question.difficulty}."
    if not question.sources:
        yield "sources are missing; cite at least one."
    if len(question.answer.split()) > 130:
        yield f"the answer has {len(question.answer.split())} words; thirty seconds aloud are at most 130."


def _patterns(question: Question) -> Iterator[str]:
    """A pattern of one concept is refused unless every phrasing of the concept is itself a relation."""
    rubric = rubric_of(question)
    for point_id, patterns in rubric.accept.items():
        if not patterns:
            yield f"point {point_id!r} accepts nothing."
        for pattern in patterns:
            names = [name for group in pattern.groups for name, _ in group]
            short = [phrase for phrase in rubric.lexicon.concepts[names[0]].phrases if len([i for i in phrase if not i.gap]) < 2]
            if len(names) == 1 and short:
                yield f"point {point_id!r}: the pattern {pattern.source!r} is met by a single word; relate it to another concept."


def _claims(question: Question) -> Iterator[str]:
    every = {point.id for point in question.points}
    if missing := every - set(mark(question, question.answer).earned):
        yield f"the model answer doesn't earn {', '.join(sorted(missing))}."
    for point in question.points:
        for text in (point.claim, *point.says):
            earned = set(mark(question, text).earned)
            if point.id not in earned:
                yield f"point {point.id!r} isn't earned by {text!r}."
            elif text == point.claim and earned != {point.id}:
                yield f"the claim of point {point.id!r} also earns {', '.join(sorted(earned - {point.id}))}."


def _earns_nothing(question: Question) -> Iterator[str]:
    for text in (question.prompt, *question.asks):
        if earned := mark(question, text).earned:
            yield f"the prompt read back earns {', '.join(earned)}."
    for point in question.points:
        if mark(question, f"It is not true that {point.claim[0].lower()}{point.claim[1:]}").earned:
            yield f"the claim of point {point.id!r}, called untrue, still earns."
    words = sorted({item for concept in rubric_of(question).lexicon.concepts.values() for phrase in concept.phrases for each in phrase for item in each.stems})
    if mark(question, ", ".join(word for word in words if word.isalpha() and word not in VERBS)[:4000]).earned:
        yield "its lexicon's words in a row earn something."


def _exact(question: Question) -> Iterator[str]:
    for slot in question.slots:
        yield from check_names(slot.names)
        try:
            for each in slot.answer.split(" | "):
                parse(each, slot.names)
            for wrong in slot.wrong:
                if judge_slot(slot, wrong.pattern)[0]:
                    yield f"slot {slot.id!r}: the wrong answer {wrong.pattern!r} counts as right."
        except Unreadable as error:
            yield f"slot {slot.id!r}: {error}"
    if question.kind in ("choice", "multi_choice", "order"):
        yield from _choices(question)
    if mark(question, question.prompt[:1500]).earned:
        yield "the prompt read back earns something."


def _choices(question: Question) -> Iterator[str]:
    right = [option for option in question.options if option.correct]
    if len(question.options) < 3:
        yield "a choice needs at least three options."
    if question.kind == "choice" and len(right) != 1:
        yield f"exactly one option is correct, not {len(right)}."
    if question.kind == "multi_choice" and not right:
        yield "at least one option must be correct."
    wrong = [option for option in question.options if not option.correct] if question.kind != "order" else []
    yield from (f"option {option.id!r}: say in `why` why somebody believes it, and what is true." for option in wrong if not option.why)


def _unused(bank: Bank, questions: list[Question]) -> Iterator[str]:
    """Entries of a bank's own lexicon that no question needs are dead."""
    if not (bank.folder / "lexicon.yaml").exists():
        return
    used: set[str] = set()
    for question in questions:
        try:
            used |= set(rubric_of(question).lexicon.concepts) if question.kind == "open" else set()
        except (LexiconError, PatternError):
            return
    shared = next((question.lexicon for question in questions), {})
    yield from (f"lexicon.yaml: no question uses @{name}; remove it." for name in sorted(set(shared) - used - {"spelling"}))
