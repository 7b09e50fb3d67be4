"""The page to print: whole, offline, linked both ways."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from attngrade.export.page import as_page
from attngrade.quiz.question import Question, load_bank

_VOID = {"meta", "br", "hr", "mspace"}


class Reader(HTMLParser):
    """Balanced tags, ids, links."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        given = dict(attrs)
        self.ids += [given["id"]] if given.get("id") else []  # type: ignore[list-item]
        self.links += [given[name] for name in ("href", "src") if given.get(name)]  # type: ignore[misc]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            assert self.open.pop() == tag


def read(questions: list[Question]) -> Reader:
    reader = Reader()
    reader.feed(as_page(questions))
    assert reader.open == []
    return reader


def test_the_page_is_balanced_and_every_question_has_its_answer(questions: list[Question]) -> None:
    for listed in (questions, list(load_bank().questions)):
        reader = read(listed)
        for question in listed:
            assert {f"q-{question.id}", f"a-{question.id}"} <= set(reader.ids)
        assert len(reader.ids) == len(set(reader.ids))
        assert {link.removeprefix("#") for link in reader.links} <= set(reader.ids)


def test_the_page_needs_no_network_and_runs_no_script(questions: list[Question]) -> None:
    reader = read(questions)

    assert all(link.startswith("#") for link in reader.links)
    assert not {"script", "link", "img", "iframe"} & reader.tags
    assert "url(" not in as_page(questions)


def test_formulas_are_drawn_without_mathjax(questions: list[Question]) -> None:
    page = as_page(questions)

    assert "<mfrac>" in page
    assert "d<sub>k</sub>" in page
    assert not re.search(r"\\\(|\\\[", page)


def test_answers_stand_apart_from_questions(questions: list[Question]) -> None:
    asked, answered = as_page(questions).split('<section id="answers">')

    assert "Another claim" not in asked
    assert "Another claim" in answered
