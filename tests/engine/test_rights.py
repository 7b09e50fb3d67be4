"""What right files do beside the formulas, and what once cost them points: each still gets its full score."""

from __future__ import annotations

import pytest
from attngrade.catalog import builtin
from attngrade.grading.rules import broken_rules
from attngrade.verdict import Word


def solution(number: str) -> str:
    return builtin().find(f"exercise{number}").solution.read_text(encoding="utf-8")


@pytest.mark.parametrize("number, line", [("02", "from numpy import *"), ("05", "from torch import *")])
def test_a_thousand_names_imported_by_a_star_hide_no_function(graded, number, line):  # type: ignore[no-untyped-def]
    assert graded(f"exercise{number}", f"{line}\n{solution(number)}").word is Word.PASSED


def test_what_a_file_without_the_function_defines_is_told_of_its_own_names_alone(graded):  # type: ignore[no-untyped-def]
    verdict = graded("exercise02", "from numpy import *\ndef soft(z):\n    return z\n", name_mistakes=False)

    assert {check.message for check in verdict.failed if "softmax`" in check.message} == {"The file does not define `softmax`; it defines soft."}
