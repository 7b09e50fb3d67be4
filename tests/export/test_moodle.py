"""Moodle XML, held against the rules of Moodle's own reader (question/format/xml/format.php)."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from attngrade.export.moodle import as_moodle
from attngrade.quiz.question import Option, Question, load_bank

from .conftest import ONE, make

_SHARES = (100, 90, 83.33333, 80, 75, 70, 66.66667, 60, 50, 40, 33.33333, 30, 25, 20, 16.66667, 14.28571, 12.5, 11.11111, 10, 5, 0)
_TYPES = {"category", "essay", "multichoice", "matching", "numerical", "shortanswer", "cloze"}


def read(questions: list[Question]) -> list[ET.Element]:
    root = ET.fromstring(as_moodle(questions))
    assert root.tag == "quiz"
    return list(root)


def named(elements: list[ET.Element], name: str) -> ET.Element:
    return next(each for each in elements if each.findtext("name/text") == name)


def check_rules(element: ET.Element) -> None:
    kind = element.get("type")
    assert kind in _TYPES
    if kind == "category":
        assert re.fullmatch(r"\$course\$/top/attngrade/([^/]|//)+", element.findtext("category/text") or "")
        return
    assert element.findtext("name/text")
    assert element.find("questiontext").get("format") == "html"  # type: ignore[union-attr]
    assert element.findtext("questiontext/text")
    if kind == "multichoice":
        fractions = [float(answer.get("fraction", "x")) for answer in element.findall("answer")]
        assert all(any(abs(abs(share) - allowed) < 1e-5 for allowed in _SHARES) for share in fractions)
        assert abs(sum(share for share in fractions if share > 0) - 100) < 1e-3 or element.findtext("single") == "true"
        assert max(fractions) == 100 or element.findtext("single") == "false"
    if kind == "numerical":
        assert float(element.findtext("answer/text") or "x") == float(element.findtext("answer/text") or "y")
        assert float(element.findtext("answer/tolerance") or "x") >= 0
    if kind == "shortanswer":
        assert next(answer.get("fraction") for answer in element.findall("answer")) == "100"
    if kind == "matching":
        assert len(element.findall("subquestion")) >= 3
    if kind == "essay":
        assert element.findtext("responseformat") == "editor"
        assert element.findtext("graderinfo/text")


def test_every_kind_keeps_the_rules(questions: list[Question]) -> None:
    elements = read(questions)

    for element in elements:
        check_rules(element)
    kinds = [element.get("type") for element in elements if element.get("type") != "category"]
    assert kinds == ["essay", "multichoice", "multichoice", "matching", "numerical", "shortanswer", "cloze"]


def test_the_built_in_questions_keep_the_rules() -> None:
    bank = load_bank()
    elements = read(list(bank.questions))

    for element in elements:
        check_rules(element)
    assert sum(element.get("type") != "category" for element in elements) == len(bank.ids)


def test_an_essay_tells_the_grader_each_points_share(questions: list[Question]) -> None:
    info = named(read(questions), "open-one").findtext("graderinfo/text") or ""

    assert "67%: Claim a &lt; b" in info
    assert "33%: Another claim" in info


def test_text_survives_cdata(questions: list[Question]) -> None:
    text = named(read(questions), "open-one").findtext("questiontext/text") or ""

    assert '"d" ]]&gt; {1:x}' in text
    assert "\\(\\frac{1}{\\sqrt{d_k}}\\)" in text


@pytest.mark.parametrize("right", [1, 2, 3, 4, 5, 6])
def test_shares_of_several_right_options_are_ones_that_moodle_knows(right: int) -> None:
    options = tuple(Option(f"o{n}", f"option {n}", n < right) for n in range(right + 3))

    check_rules(read([make("m", "multi_choice", points=ONE, options=options)])[1])


def test_an_asterisk_in_a_short_answer_stands_for_itself(questions: list[Question]) -> None:
    answers = named(read(questions), "short-one").findall("answer")

    assert answers[0].findtext("text") == "d_k \\* 2 / 3"
    assert [answer.get("fraction") for answer in answers] == ["100", "100", "0"]


def test_signs_of_the_cloze_language_are_escaped(questions: list[Question]) -> None:
    text = named(read(questions), "cloze-one").findtext("questiontext/text") or ""

    assert "{1:NUMERICAL:=0.5:0.005}" in text
    assert "{1:SHORTANSWER:=d_k \\* 2 \\/ 3~=2\\/3 d_k~%0%sqrt(d_k)#That's the deviation \\~ {x\\}.}" in text
