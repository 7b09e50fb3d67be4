"""The bank: every question proves itself, and labelled answers ratchet the marker."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest
from attngrade.quiz.evaluate import BAD
from attngrade.quiz.mark import mark
from attngrade.quiz.marking.records import Marking
from attngrade.quiz.question import BankError, Labelled, UnknownQuestion, load_bank

BANK = load_bank()
RATCHET = Path(__file__).with_name("known_errors.json")
RAPID_FIRE = {
    "score-variance": ["assumption", "term-moments", "variances-add", "std"],
    "softmax-jacobian": ["formula", "substitution", "vanishes"],
    "unlearnable": ["saturation", "dead-gradient", "frozen-pattern", "not-numerics"],
    "forward-scale": ["same-at-init", "adam-step", "relative-update"],
    "mup-scale": ["independence-breaks", "linear-growth", "width-transfer"],
    "qk-norm": ["what", "bounded", "failure"],
    "single-head-average": ["convex", "one-distribution", "blend-loses"],
    "causal-mask-place": ["before-softmax", "exact-zero", "normaliser"],
}


@cache
def marked(labelled: Labelled) -> Marking:
    """By the rubric alone: what the second reader has learned from these very answers would hide its mistakes."""
    return mark(replace(BANK.get(labelled.question), learned=None), labelled.answer)


def errors(labelled: Labelled) -> list[str]:
    """A key for each point that the marker gives wrongly."""
    wrong = set(marked(labelled).earned) ^ set(labelled.earned)
    short = sha256(labelled.answer.encode()).hexdigest()[:10]
    return sorted(f"{labelled.question} {short} {point}" for point in wrong)


def test_the_linter_finds_nothing() -> None:
    assert BANK.problems() == []


def test_the_eight_rapid_fire_questions_come_first_with_their_fixed_points() -> None:
    assert list(BANK.ids[:8]) == list(RAPID_FIRE)
    assert {name: [point.id for point in BANK.get(name).points] for name in RAPID_FIRE} == RAPID_FIRE


def test_there_are_forty_more_questions_and_a_third_of_them_is_exact() -> None:
    exact = [question for question in BANK.questions if question.kind != "open"]

    assert len(BANK.ids) >= 48
    assert len(exact) >= len(BANK.ids) / 3


@pytest.mark.parametrize("name", BANK.ids)
def test_a_model_answer_earns_everything(name: str) -> None:
    question = BANK.get(name)
    answer = question.answer if question.kind == "open" else _key(name)

    assert mark(question, answer).score == 1


def _key(name: str) -> str:
    question = BANK.get(name)
    if question.slots:
        return "\n".join(f"{slot.id} = {slot.answer.split(' | ')[0]}" for slot in question.slots)
    return " ".join(option.id for option in question.options if option.correct or question.kind == "order")


@pytest.mark.parametrize("name", BANK.ids)
def test_no_labelled_answer_is_marked_worse_than_before(name: str) -> None:
    known = set(json.loads(RATCHET.read_text()))
    found = {error for labelled in BANK.labelled(name) for error in errors(labelled)}

    assert not found - known, "new wrong marks; mend the pattern, or see tests/quiz/ratchet.py"
    assert not {each for each in known if each.startswith(f"{name} ")} - found, "some are right now: run python tests/quiz/ratchet.py"


@pytest.mark.parametrize("name", BANK.ids)
def test_no_bad_answer_gets_more_than_a_third(name: str) -> None:
    known = set(json.loads(RATCHET.read_text()))
    for labelled in BANK.labelled(name):
        if labelled.kind in BAD and not known & set(errors(labelled)):  # with the second reader none does at all: test_second.py
            assert marked(labelled).score <= 1 / 3 + 1e-9, labelled.answer


def test_an_unknown_question_offers_the_nearest() -> None:
    with pytest.raises(UnknownQuestion, match="qk-norm"):
        BANK.get("qknorm")


def test_a_broken_file_names_all_its_problems_with_their_lines(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("id: other\nkind: essay\ntopic: t\nprompt: p\nanswer: a\ncolour: red\n")
    with pytest.raises(BankError) as caught:
        load_bank(tmp_path).get("broken")

    assert [problem.split(":")[1] for problem in caught.value.problems] == ["6", "1", "2", "1"]


def test_words_that_yaml_would_turn_into_values_stay_words(tmp_path: Path) -> None:
    (tmp_path / "q.yaml").write_text("id: q\nkind: open\ntopic: no\nprompt: 1\nanswer: nan\nwhy: y\n")
    question = load_bank(tmp_path).get("q")

    assert (question.topic, question.prompt, question.answer) == ("no", "1", "nan")
