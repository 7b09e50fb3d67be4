"""A question and a marked answer for a screen: lines of text, no terminal, no clock."""

from __future__ import annotations

from ..quiz.layout import laid_out
from ..quiz.marking.records import CONTRADICTED, MET, PointMark
from ..quiz.question import Question
from ..quiz.schedule import RATINGS
from ..quiz.sitting import Sitting
from .ink import Ink
from .prose import filled, shown, wrapped

_OPEN = {1: "«", 2: "‹"}
_CLOSE = {1: "»", 2: "›"}
_STYLES = {1: ("green", "under"), 2: ("red", "under")}
_PLAIN = {"\t": " ", "«": '"', "»": '"', "‹": "'", "›": "'"}


def question_lines(question: Question, place: str, width: int, ink: Ink) -> list[str]:
    """The question as it is put to the person."""
    level = "●" * question.difficulty + "○" * (5 - question.difficulty)
    head = f"{place} · {shown(question.topic)} · {level} · {clock(question.time_s)}"
    lines = ["", ink(rule(head, width), "dim"), "", *[ink(line, "bold") for line in wrapped(question.prompt, width)], ""]
    for option in laid_out(question):
        lines += filled(shown(option.text), width, f"  {option.id}) ", "     ")
    return [*lines, ""] if question.options else lines


def answer_lines(sitting: Sitting, width: int, ink: Ink) -> list[str]:
    """The answer with the words that earned and the words that lost a point marked."""
    flags = _flags(sitting)
    text = "".join(_bordered(sitting.marking.answer, flags))
    lines: list[str] = []
    for paragraph in text.split("\n"):
        lines += filled(paragraph, width - 2) if paragraph.strip() else [""]
    return [f"  {line}" for line in _painted(lines, ink)]


def mark_lines(sitting: Sitting, width: int, ink: Ink) -> list[str]:
    """The points, one by one: met, contradicted or not found, and why."""
    earned = sum(sitting.earned(mark.id) for mark in sitting.marking.points)
    number = len(sitting.marking.points)
    head = f"{earned} of {number} point{'s' if number != 1 else ''} · {sitting.score:.0%} · {clock(sitting.seconds)} of {clock(sitting.question.time_s)}"
    lines = ["", ink(head, "bold"), ""]
    for number, mark in enumerate(sitting.marking.points, start=1):
        lines += point_lines(sitting, mark, number, width, ink)
    for note in dict.fromkeys(sitting.marking.notes):
        if note not in {mark.note for mark in sitting.marking.points}:
            lines += ["", *[ink(line, "bold") for line in filled(shown(note), width, "! ", "  ")]]
    return lines


def point_lines(sitting: Sitting, mark: PointMark, number: int, width: int, ink: Ink) -> list[str]:
    """One point: its number, its sign, its claim, and what decided it."""
    claim = sitting.question.point(mark.id).claim
    earned = sitting.earned(mark.id)
    sign, style = ("✓", "green") if earned else ("✗", "red") if mark.state == CONTRADICTED else ("·", "yellow")
    lines = filled(shown(claim), width, f"{number} {sign} ", "    ")
    lines[0] = lines[0].replace(sign, ink(sign, style), 1)
    for reason in _reasons(sitting, mark, earned):
        lines += [ink(line, "dim") for line in filled(shown(reason), width, "    ", "    ")]
    return lines


def model_lines(question: Question, width: int, ink: Ink) -> list[str]:
    """The thirty-second answer, and what they ask next."""
    lines = ["", ink("Thirty seconds", "bold"), *wrapped(question.answer, width, "  ")]
    if question.follow_ups:
        lines += ["", ink("And then they ask", "bold")]
        for each in question.follow_ups:
            lines += filled(shown(each), width, "  - ", "    ")
    return lines


def why_lines(question: Question, width: int, ink: Ink) -> list[str]:
    """The longer answer, why wrong options tempt, sources, the exercise."""
    lines = ["", ink("Why", "bold"), *wrapped(question.why, width, "  ")]
    for option in question.options:
        if option.why and not option.correct:
            lines += filled(shown(f"{option.id}) {option.text}: {option.why}"), width, "  - ", "    ")
    if question.sources:
        lines += ["", ink("Sources", "bold")]
        for source in question.sources:
            lines += filled(shown(source), width, "  - ", "    ")
    if question.exercise:
        lines += ["", f"Exercise: attngrade show {question.exercise}"]
    return lines


def rating_line(sitting: Sitting, days: dict[int, int], ink: Ink) -> str:
    """The rating and when the question comes back."""
    word = RATINGS[sitting.rating]
    return f"Rated {ink(word, 'bold')}, back {in_days(days[sitting.rating])}."


def clock(seconds: float) -> str:
    """Minutes and seconds."""
    whole = int(abs(seconds))
    return f"{'-' if seconds <= -1 else ''}{whole // 60}:{whole % 60:02d}"


def in_days(days: int) -> str:
    """When that is, in words."""
    return "today" if days <= 0 else "tomorrow" if days == 1 else f"in {days} days"


def rule(head: str, width: int) -> str:
    """A line across, with words at its beginning."""
    return f"── {head} ".ljust(max(width, 20), "─")[: max(width, 20)]


def _reasons(sitting: Sitting, mark: PointMark, earned: bool) -> list[str]:
    said = _said(sitting, mark)
    quoted = [f"you said “{said if len(said) < 160 else said[:157] + '…'}”"] if said else []
    if mark.id in sitting.flips and sitting.flips[mark.id] != (mark.state == MET):
        return ["counted on your word" if earned else "not counted, on your word"]
    if mark.state == MET:
        return quoted
    if mark.state == CONTRADICTED:
        return [*quoted, mark.note] if mark.note else quoted
    return [f"not found: {mark.note}" if mark.note else "not found"]


def _flags(sitting: Sitting) -> list[int]:
    flags = [0] * len(sitting.marking.answer)
    for mark in sitting.marking.points:
        if mark.span:
            kind = 2 if mark.state == CONTRADICTED else 1 if mark.state == MET else 0
            for at in range(*_whole_words(sitting.marking.answer, mark.span)):
                flags[at] = max(flags[at], kind)
    return flags


def _said(sitting: Sitting, mark: PointMark) -> str:
    if not mark.span:
        return ""
    start, end = _whole_words(sitting.marking.answer, mark.span)
    return " ".join(sitting.marking.answer[start:end].split()).rstrip(",;:")


def _whole_words(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """The stretch widened to whole words."""
    start, end = max(0, min(span[0], len(text))), max(0, min(span[1], len(text)))
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    while 0 < end < len(text) and not text[end].isspace():
        end += 1
    return start, end


def _bordered(text: str, flags: list[int]) -> list[str]:
    """The text with signs around every marked stretch; stretches stop at line ends."""
    out, now = [], 0
    for character, flag in zip(shown_one_by_one(text), flags, strict=True):
        wanted = 0 if character == "\n" else flag
        if wanted != now:
            out.append(_CLOSE.get(now, "") + _OPEN.get(wanted, ""))
            now = wanted
        out.append(character)
    return [*out, _CLOSE.get(now, "")]


def shown_one_by_one(text: str) -> list[str]:
    """Each character as it may be shown, none added and none lost."""
    return [_PLAIN.get(each) or shown(each) for each in text]


def _painted(lines: list[str], ink: Ink) -> list[str]:
    if not ink.colour:
        return lines
    out, now = [], 0
    for line in lines:
        pieces, stretch = [], ""
        for character in line:
            if character in "«‹»›":
                pieces.append(ink(stretch, *_STYLES[now]) if now else stretch)
                now, stretch = {"«": 1, "‹": 2}.get(character, 0), ""
            else:
                stretch += character
        out.append("".join(pieces) + (ink(stretch, *_STYLES[now]) if now else stretch))
    return out
