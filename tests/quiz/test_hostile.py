"""Hostile answers cost nothing and earn nothing."""

from __future__ import annotations

import random
import string
import time

import pytest
from attngrade.quiz.mark import LONGEST, mark
from attngrade.quiz.question import load_bank

BANK = load_bank()
FIRST = BANK.ids[:8]
CHANCE = random.Random(1)
NEAR = ["varianze", "softmxa", "gradeint", "independnt", "normalzie", "jacobain"]


def _fill(piece: str) -> str:
    return (piece * LONGEST)[:LONGEST]


TEXTS = {
    "a megabyte": "a " * 500_000,
    "blanks": _fill(" "),
    "lines": _fill("\n"),
    "brackets": _fill("("),
    "commas": _fill(","),
    "nots": _fill("not "),
    "roots": _fill("sqrt("),
    "braces": _fill("{"),
    "fractions": _fill("\\frac{"),
    "dollars": _fill("$"),
    "backslashes": _fill("\\"),
    "dots": _fill("."),
    "hyphens": _fill("- "),
    "carets": _fill("^"),
    "underscores": _fill("_"),
    "zero width": _fill("variance\u200b"),
    "accents": _fill("a\u0301"),
    "right to left": "\u202e" + _fill("variance add ")[:-1],
    "emoji": _fill("😀"),
    "nul": _fill("\x00"),
    "surrogates": "\ud800" * 100,
    "one word": "a" * LONGEST,
    "noise": " ".join("".join(CHANCE.choices(string.ascii_lowercase, k=7)) for _ in range(LONGEST // 8)),
    "near misses": " ".join(CHANCE.choice(NEAR) + CHANCE.choice("abc") for _ in range(LONGEST // 11)),
    "concepts": _fill("softmax one key token all mass gradient zero "),
    "denials": _fill("the variance and the loss do not add up. it is not so. "),
    "suppositions": _fill("if the claim that we were told would be not "),
    "all concepts": _fill("q k norm score grow softmax zero before after mask future weight "),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_hostile_answer_is_quick_and_worthless(name: str) -> None:
    for question in FIRST:
        start = time.process_time()
        marking = mark(BANK.get(question), TEXTS[name])

        assert marking.score == 0, (question, marking.earned)
        assert time.process_time() - start < 1.0


def test_depth_of_brackets_in_a_slot_is_capped() -> None:
    for text in ("(" * 300 + "d_k" + ")" * 300, "d_k^" * 60 + "2", "-" * 390 + "d_k", "9^9^9^9^9", "sqrt(" * 60 + "d_k" + ")" * 60, "1/0", "d_k" * 120):
        marking = mark(BANK.get("scale-as-temperature"), text)

        assert marking.score == 0


def test_the_same_answer_gets_the_same_marks() -> None:
    answer = "big logits, softmax one-hot, so the gradient is zero and W_Q and W_K never learn"

    assert len({str(mark(BANK.get("unlearnable"), answer).record()) for _ in range(5)}) == 1
