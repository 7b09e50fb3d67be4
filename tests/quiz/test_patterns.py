"""Patterns: gaps, and what must be absent."""

from __future__ import annotations

import pytest
from attngrade.quiz.marking.lexicon import Lexicon
from attngrade.quiz.marking.patterns import instances, parse_pattern
from attngrade.quiz.marking.tokens import read


def found(source: str, text: str) -> int:
    literals: dict[str, str] = {}
    pattern = parse_pattern(source, literals)
    content = read(text).content
    return len(list(instances(pattern, Lexicon(literals, sorted(literals)).find(content), content)))


def test_a_gap_of_zero_means_the_next_token() -> None:
    assert found("softmax >0 output", "softmax output") == 1
    assert found("softmax >0 output", "softmax of output") == 0
    assert found("softmax >0 output", "output softmax") == 0


def test_a_quoted_phrase_can_be_what_must_be_absent() -> None:
    assert found("softmax output -'weighted sum'", "softmax and output") == 1
    assert found("softmax output -'weighted sum'", "softmax, weighted sum, output") == 0


def test_a_gap_bridges_no_word_that_turns_the_sense() -> None:
    assert found("'softmax .. peaked'", "softmax is very much peaked") == 1
    assert found("'softmax .. peaked'", "softmax is far from peaked") == 0


def test_a_pattern_can_ask_for_one_clause() -> None:
    assert found("not > sharp /c", "it can not be sharp") == 1
    assert found("not > sharp /c", "it is not linear, and sharp weights come back") == 0
    assert found("not > sharp", "it is not linear, and sharp weights come back") == 1


@pytest.mark.parametrize(("typed", "meant"), [
    ("independant", "independent"), ("independance", "independence"), ("trainng", "training"), ("indepedently", "independently"),  # a prefix takes these as they are
    ("mashed", "mashed"), ("indeps", "indeps"), ("saturates", "saturates"),
])
def test_one_wrong_letter_is_mended_in_a_word_that_a_prefix_takes_too(typed: str, meant: str) -> None:
    lexicon = Lexicon({"a": "indep*\ntrain*\nmash*\nsaturat*", "spelling": "independent independence independently training masked saturated"}, ["a"])

    assert lexicon.mend(typed) == meant
