"""Questions with one exact answer: slots, numbers, choices, orders. Unreadable isn't wrong: the person is asked again."""

from __future__ import annotations

import re

from ..layout import laid_out
from ..question import Option, Question
from .expression import Unreadable
from .records import CONTRADICTED, MET, Marking, PointMark
from .slots import judge_slot, split_slots

LONGEST = 2_000
_GIVEN_UP = re.compile(r"(?:sorry,? )?(?:(?:i )?(?:don['’]?t|do not|cannot|can['’]?t) (?:know|remember|say)|(?:i have )?no (?:idea|clue)|dunno|idk|pass|\?+)[.!]?", re.IGNORECASE)


def mark_exact(question: Question, answer: str) -> Marking:
    """Mark an answer to a question of any kind but `open`."""
    if not answer.strip() or _GIVEN_UP.fullmatch(answer.strip()):
        return _unmarked(question, answer, ("empty",), "Nothing was answered.")
    if len(answer) > LONGEST:
        return _unmarked(question, answer, ("too-long",), f"An answer here has at most {LONGEST} characters.")
    try:
        marks = _slots(question, answer) if question.slots else _options(question, answer)
    except (Unreadable, RecursionError) as error:
        return _unmarked(question, answer, (), str(error), unreadable=True)
    earned = sum(point.weight for point, mark in zip(question.points, marks, strict=True) if mark.earned)
    flags = ("contradiction",) if any(mark.note for mark in marks if not mark.earned) else ()
    notes = tuple(mark.note for mark in marks if mark.note and not mark.earned)
    return Marking(question.id, answer, marks, round(earned / question.total, 6), flags, notes)


def _slots(question: Question, answer: str) -> tuple[PointMark, ...]:
    texts = split_slots(question.slots, answer)
    return tuple(_slot_mark(slot.id, answer, texts[slot.id], *judge_slot(slot, texts[slot.id])) for slot in question.slots)


def _slot_mark(slot_id: str, answer: str, text: str, right: bool, note: str) -> PointMark:
    start = answer.find(text.strip())
    span = (start, start + len(text.strip())) if start >= 0 else None
    return PointMark(slot_id, MET if right else CONTRADICTED, span, note)


def _options(question: Question, answer: str) -> tuple[PointMark, ...]:
    chosen = read_options(question, answer)
    if question.kind == "order":
        right = chosen == [option.id for option in question.options]
        return (PointMark("choice", MET if right else CONTRADICTED, (0, len(answer)), "" if right else _misplaced(question, chosen)),)
    wanted = [option.id for option in question.options if option.correct]
    right = sorted(chosen) == sorted(wanted)
    return (PointMark("choice", MET if right else CONTRADICTED, (0, len(answer)), "" if right else _why(question, chosen, wanted)),)


def read_options(question: Question, answer: str) -> list[str]:
    """The ids that the answer names; raises Unreadable."""
    by_text = {_plain(option.text): option.id for option in question.options}
    if question.kind != "order" and _plain(answer) in by_text:
        return [by_text[_plain(answer)]]
    ids = {option.id.lower(): option.id for option in question.options}
    words = [word for word in re.findall(r"[a-z0-9]+", answer.lower()) if word not in ("option", "options", "answer", "and", "then", "is", "the", "it", "s")]
    if len(words) == 1 and words[0] not in ids and all(letter in ids for letter in words[0]):
        words = list(words[0])
    unknown = [word for word in words if word not in ids]
    letters = ", ".join(option.id for option in laid_out(question))  # as they are shown: the bank's own order may be the answer
    if unknown or not words:
        raise Unreadable(f"Answer with {_which(question)} ({letters}); {unknown[0] if unknown else 'nothing'!r} is none of them.")
    if len(set(words)) != len(words):
        raise Unreadable("Name each option once.")
    if question.kind == "choice" and len(words) != 1:
        raise Unreadable("Exactly one option is right; name one.")
    if question.kind == "order" and len(words) != len(ids):
        raise Unreadable(f"Put all of {letters} in order.")
    return [ids[word] for word in words]


def _which(question: Question) -> str:
    return {"choice": "the letter of one option", "multi_choice": "the letters of all right options"}.get(question.kind, "the letters in order")


def _why(question: Question, chosen: list[str], wanted: list[str]) -> str:
    wrong = [option for option in question.options if option.id in chosen and option.id not in wanted]
    missed = [option for option in question.options if option.id in wanted and option.id not in chosen]
    said = [f"{option.id}: {option.why}" for option in wrong if option.why]
    return " ".join(said) or "Also right: " + "; ".join(option.text for option in missed)


def _misplaced(question: Question, chosen: list[str]) -> str:
    order: list[Option] = list(question.options)
    first = next(n for n, (name, option) in enumerate(zip(chosen, order, strict=True)) if name != option.id)
    return f"Place {first + 1} is {order[first].id}: {order[first].text}. {order[first].why}".strip()


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()


def _unmarked(question: Question, answer: str, flags: tuple[str, ...], note: str, unreadable: bool = False) -> Marking:
    marks = tuple(PointMark(point.id, note=point.feedback) for point in question.points)
    return Marking(question.id, answer, marks, 0.0, flags, (note,), unreadable=note if unreadable else None)
