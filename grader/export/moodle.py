"""Moodle XML: essays with the points for whoever grades them, choices, numbers, short answers."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from ..quiz.question import Option, Question, Slot
from .markup import clean, html, inline, mathjax
from .sheet import Sheet, accepted, sheet, tags


def as_moodle(questions: Iterable[Question]) -> str:
    """One category per topic, one question each; slots of several parts become a cloze."""
    by_topic: dict[str, list[Question]] = {}
    for question in questions:
        by_topic.setdefault(question.topic, []).append(question)
    body = [part for topic, group in by_topic.items() for part in (_category(topic), *map(_question, group))]
    return '<?xml version="1.0" encoding="UTF-8"?>\n<quiz>\n' + "\n".join(body) + "\n</quiz>\n"


def _category(topic: str) -> str:
    place = "$course$/top/attngrade/" + topic.replace("/", "//")
    return f'<question type="category"><category><text>{escape(clean(place))}</text></category><info format="html"><text></text></info></question>'


def _question(question: Question) -> str:
    kind, asked, parts = _KINDS[_shape(question)](question, sheet(question, mathjax))
    pieces = sheet(question, mathjax)
    feedback = pieces.answer + pieces.points + pieces.why + pieces.sources
    hints = [f'<hint format="html">{_text(html(hint, mathjax))}</hint>' for hint in question.hints]
    listed = "".join(f"<tag>{_text(tag)}</tag>" for tag in tags(question))
    return "\n".join([
        f'<question type="{kind}">',
        f"<name>{_text(question.id)}</name>",
        f'<questiontext format="html">{_text(asked)}</questiontext>',
        f'<generalfeedback format="html">{_text(feedback)}</generalfeedback>',
        *([] if kind == "cloze" else [f"<defaultgrade>{question.total or 1:g}</defaultgrade>"]),
        "<penalty>0.3333333</penalty>", "<hidden>0</hidden>", f"<idnumber>{escape(question.id)}</idnumber>",
        *parts, *hints, f"<tags>{listed}</tags>", "</question>",
    ])  # fmt: skip


def _shape(question: Question) -> str:
    if not question.slots:
        return question.kind
    if len(question.slots) > 1:
        return "cloze"
    return "numeric" if _number(question.slots[0].answer) is not None else "short"


Shaped = tuple[str, str, list[str]]


def _essay(question: Question, pieces: Sheet) -> Shaped:
    total = question.total or 1
    rows = "".join(f"<li>{point.weight / total:.0%}: {inline(point.claim, mathjax)}</li>" for point in question.points)
    return "essay", pieces.asked, [
        "<responseformat>editor</responseformat>", "<responserequired>1</responserequired>", "<responsefieldlines>10</responsefieldlines>",
        "<attachments>0</attachments>", "<attachmentsrequired>0</attachmentsrequired>",
        f'<graderinfo format="html">{_text(f"<ul>{rows}</ul>" + pieces.answer)}</graderinfo>',
    ]  # fmt: skip


def _choice(question: Question, _: Sheet) -> Shaped:
    right = [option for option in question.options if option.correct]
    wrong = len(question.options) - len(right)
    single = question.kind == "choice"
    shares = {True: 100 / max(1, len(right)), False: 0 if single else -100 / max(1, wrong)}
    rows = [_option(option, shares[option.correct]) for option in question.options]
    return "multichoice", html(question.prompt, mathjax), [
        f"<single>{'true' if single else 'false'}</single>", "<shuffleanswers>true</shuffleanswers>", "<answernumbering>abc</answernumbering>", *rows
    ]  # fmt: skip


def _option(option: Option, share: float) -> str:
    feedback = f'<feedback format="html">{_text(html(option.why, mathjax))}</feedback>'
    return f'<answer fraction="{_fraction(share)}" format="html">{_text(inline(option.text, mathjax))}{feedback}</answer>'


def _order(question: Question, _: Sheet) -> Shaped:
    pairs = [
        f'<subquestion format="html">{_text(inline(option.text, mathjax))}<answer>{_text(str(place))}</answer></subquestion>'
        for place, option in enumerate(question.options, start=1)
    ]
    asked = html(question.prompt, mathjax) + "<p>Give every step its number, the first one 1.</p>"
    return "matching", asked, ["<shuffleanswers>true</shuffleanswers>", *pairs]


def _numerical(question: Question, _: Sheet) -> Shaped:
    slot = question.slots[0]
    value = _number(slot.answer) or 0.0
    tolerance = slot.tolerance * abs(value)
    rows = [f'<answer fraction="100" format="plain_text">{_text(f"{value:.12g}")}<tolerance>{tolerance:.6g}</tolerance></answer>']
    return "numerical", html(question.prompt, mathjax), rows


def _short(question: Question, _: Sheet) -> Shaped:
    slot = question.slots[0]
    rows = [_accepted(form, 100, "") for form in accepted(slot)] + [_accepted(wrong.pattern, 0, wrong.note) for wrong in slot.wrong]
    asked = html(question.prompt, mathjax) + f"<p>{inline(slot.label, mathjax)} = ?</p>"
    return "shortanswer", asked, ["<usecase>0</usecase>", *rows]


def _accepted(answer: str, share: float, note: str) -> str:
    literal = answer.replace("\\", "\\\\").replace("*", "\\*")  # an asterisk would stand for anything
    feedback = f'<feedback format="html">{_text(html(note, mathjax) if note else "")}</feedback>'
    return f'<answer fraction="{_fraction(share)}" format="plain_text">{_text(literal)}{feedback}</answer>'


def _cloze(question: Question, _: Sheet) -> Shaped:
    rows = "".join(f"<li>{inline(slot.label, mathjax)} = {_blank(slot)}</li>" for slot in question.slots)
    return "cloze", html(question.prompt, mathjax) + f"<ul>{rows}</ul>", []


def _blank(slot: Slot) -> str:
    value = _number(slot.answer)
    if value is not None:
        return f"{{1:NUMERICAL:={value:.12g}:{slot.tolerance * abs(value):.6g}}}"
    wrong = "".join(f"~%0%{_in_blank(each.pattern)}#{_in_blank(each.note)}" for each in slot.wrong)
    right = "~".join(f"={_in_blank(form)}" for form in accepted(slot))
    return f"{{1:SHORTANSWER:{right}{wrong}}}"


def _in_blank(text: str) -> str:
    for character in "\\}#~/\"*":
        text = text.replace(character, "\\" + character)
    return escape(text, quote=False)


_KINDS = {
    "open": _essay, "choice": _choice, "multi_choice": _choice, "order": _order, "numeric": _numerical, "short": _short, "cloze": _cloze,
}  # fmt: skip


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _fraction(share: float) -> str:
    return f"{share:.5f}".rstrip("0").rstrip(".")


def _text(content: str) -> str:
    return "<text><![CDATA[" + clean(content).replace("]]>", "]]]]><![CDATA[>") + "]]></text>" if content else "<text></text>"
