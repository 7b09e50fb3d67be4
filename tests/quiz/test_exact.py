"""Slots, numbers, choices: graded exactly, and unreadable isn't wrong."""

from __future__ import annotations

import re

import pytest
from attngrade.quiz.mark import mark
from attngrade.quiz.marking.expression import Unreadable
from attngrade.quiz.marking.slots import judge_slot
from attngrade.quiz.question import Slot, load_bank

BANK = load_bank()
DK = {"d_k": "size"}
ENTRY = {"p_i": "probability", "p_j": "probability", "delta_ij": "bit"}
UNITS = {"GiB": "1073741824", "GB": "1000000000", "MiB": "1048576"}
FORMS = [
    ("1/sqrt(d_k)", DK, True, ["1/sqrt(d_k)", "1/sqrt(dk)", "1/√d_k", "1/√dₖ", "d_k^(-1/2)", "dk**-0.5",
                               "\\frac{1}{\\sqrt{d_k}}", "$d_k^{-1/2}$", "sqrt(1/d_k)",
                               "(d_k)^{-1/2}", "1/sqrt d_k", "sqrtd_k/d_k", "dₖ⁻¹ᐟ²", "= 1/sqrt(d_k)."]),
    ("1/sqrt(d_k)", DK, False, ["1/d_k", "sqrt(d_k)", "1", "d_k", "-1/sqrt(d_k)"]),
    ("diag(p) - p p^T", {"p": "simplex"}, True, ["diag(p) - p p^T", "diag(p)-pp^T", "diag(p) - outer(p,p)",
                                                 "\\text{diag}(p) - p p^\\top", "np.diag(p)-np.outer(p,p)",
                                                 "diag(p)-p p'", "-(p p^T - diag(p))", "diag(p) − ppᵀ"]),
    ("diag(p) - p p^T", {"p": "simplex"}, False, ["diag(p)+p p^T", "p p^T", "p^T p", "diag(p)"]),
    ("p_i (delta_ij - p_j)", ENTRY, True, ["p_i(delta_ij - p_j)", "p_i (δ_ij − p_j)", "p_i delta_ij - p_i p_j", "$p_i(\\delta_{ij}-p_j)$", "pᵢ(δᵢⱼ − pⱼ)"]),
    ("p_i (delta_ij - p_j)", ENTRY, False, ["p_i(1-p_j)", "p_i p_j", "delta_ij - p_j"]),
    ("4 GiB", UNITS, True, ["4 GiB", "4GiB", "4.29 GB", "4294967296", "4096 MiB", "about 4.3 GB", "8192^2*32*2"]),
    ("4 GiB", UNITS, False, ["4 GB", "2 GiB"]),
    ("4", {}, True, ["4", "4x", "4 x", "4×", "x4", "a factor of 4", "by a factor of 4", "by 4", "factor 4", "four", "Four.", "fourfold", "4-fold", "4 times", "4x smaller",
                     "it's about 4x", "32/8 = 4"]),
    ("4", {}, False, ["8x", "a factor of 32", "eight"]),
    ("1/2", {}, True, ["half", "a half", "one half", "0.5"]),
    ("sqrt(d_k)", DK, True, ["a factor of sqrt(d_k)", "by sqrt(d_k)"]),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "names", "right", "typed"), [(a, n, r, t) for a, n, r, typed in FORMS for t in typed])
def test_a_typed_form_is_judged_by_its_value(answer: str, names: dict[str, str], right: bool, typed: str) -> None:
    slot = Slot("x", "x", answer, names, 0.02 if "GiB" in names else 1e-6)

    assert judge_slot(slot, typed)[0] is right


@pytest.mark.parametrize("typed", ["", "__import__('os').system('true')", "d_k; d_k", "lambda: 1", "sqrt(", "what?", "x", "d_k ** ", "p p", "10^(10^10)"])
def test_what_can_t_be_read_is_asked_again(typed: str) -> None:
    with pytest.raises(Unreadable):
        judge_slot(Slot("x", "x", "sqrt(d_k)", DK), typed)


@pytest.mark.parametrize("typed", ["4", "about 4.3", "8192 * 2"])
def test_a_number_without_its_unit_is_asked_for_the_unit(typed: str) -> None:
    with pytest.raises(Unreadable, match=r"In which unit.*GiB, GB, MiB"):
        judge_slot(Slot("x", "x", "4 GiB", UNITS), typed)


def test_an_unreadable_answer_spends_no_attempt_and_says_why() -> None:
    marking = mark(BANK.get("scale-as-temperature"), "the usual one")

    assert marking.unreadable and "d_k" in marking.unreadable
    assert marking.earned == ()


def test_a_known_wrong_value_is_explained() -> None:
    marking = mark(BANK.get("scale-as-temperature"), "d_k")

    assert "muP" in marking.points[0].note


@pytest.mark.parametrize("typed", ["a", "A", "a)", "(a)", "option a", "the answer is a"])
def test_a_choice_is_read_in_many_spellings(typed: str) -> None:
    assert mark(BANK.get("jacobian-row-sums"), typed).score == 1


def test_a_wrong_choice_says_why_somebody_believes_it() -> None:
    question = BANK.get("jacobian-row-sums")
    wrong = next(option for option in question.options if not option.correct)

    assert wrong.why in mark(question, wrong.id).points[0].note


def test_two_letters_are_no_answer_to_a_single_choice() -> None:
    assert mark(BANK.get("jacobian-row-sums"), "a b").unreadable


def test_an_order_names_every_option_once() -> None:
    assert mark(BANK.get("temperature-limits"), "c e a d").unreadable
    assert mark(BANK.get("temperature-limits"), "c e a d d").unreadable
    assert mark(BANK.get("temperature-limits"), "c e a d b").score == 1


@pytest.mark.parametrize("typed", ["a b", "a b ?z", "nothing"])
@pytest.mark.parametrize("name", [question.id for question in BANK.questions if question.options])
def test_what_is_said_of_an_unreadable_answer_names_the_letters_in_their_own_order(name: str, typed: str) -> None:
    told = mark(BANK.get(name), typed).unreadable or ""
    letters = re.findall(r"\b[a-z]\b(?=[,)]| in order)", told.partition(";")[0])

    assert letters == sorted(letters)
    assert len(letters) in (0, len(BANK.get(name).options))


@pytest.mark.parametrize("name", ["gqa-cache-factor", "temperature-limits", "causal-alignment", "correlated-mean"])
@pytest.mark.parametrize("typed", ["I don't know", "no idea.", "dunno", "?", "I can't remember"])
def test_who_says_that_he_does_not_know_has_answered_nothing(name: str, typed: str) -> None:
    marking = mark(BANK.get(name), typed)

    assert (marking.score, marking.flags, marking.unreadable) == (0.0, ("empty",), None)
