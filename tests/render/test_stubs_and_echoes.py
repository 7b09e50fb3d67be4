"""What isn't written yet, what is heard in several functions, what the code printed: told once, and of the right function."""

from __future__ import annotations

from dataclasses import replace

import pytest
from attngrade.render.cell import as_html
from attngrade.verdict import CheckResult, Evidence, Named, Reason, Verdict, Word

from .test_evidence import failure, screen, skipped


def test_one_mistake_in_what_several_functions_call_is_told_once():
    named = [Named("in-place", f"You write into the caller's array, in {function}.", function) for function in ("softmax", "vjp")] + [Named("sign", "Your sign is turned.", "vjp")]
    text, page = screen(failure(note="is off"), misconceptions=tuple(named)), as_html(Verdict("exercise02", "", Word.FAILED, misconceptions=tuple(named)))

    assert text.count("You write into") == page.count("You write into") == 1
    assert "  In softmax, vjp:\n" in text and "  In vjp:\n" in text
    assert "In <code>softmax</code>, <code>vjp</code>:" in page


def test_what_the_code_printed_is_broken_between_words():
    text = screen(failure(note="is off"), output="exercise01_variance.py:39: RuntimeWarning: invalid value encountered in scalar divide\n    indented", width=60)

    assert "  | exercise01_variance.py:39: RuntimeWarning: invalid value\n  | encountered in scalar divide\n  |     indented" in text


def test_a_stub_says_what_to_write_first_in_the_order_of_the_file():
    stubs = [failure(name, f"{name} is not written yet.", Reason.NOT_IMPLEMENTED, (name,)) for name in ("second_comes_first", "a_later_one")]
    text = screen(*stubs, skipped("x", "Follows from: Claim a."), reason=Reason.NOT_IMPLEMENTED)

    assert "Not written yet: second_comes_first, a_later_one." in text
    assert "0 of 3 checks passed so far." in text
    assert "Next: write second_comes_first. `attngrade hint exercise01` helps." in text


def unwritten(called: str, raised: str, *functions: str) -> CheckResult:
    check = failure(raised, f"{called} is not written yet.", Reason.NOT_IMPLEMENTED, functions)
    return replace(check, evidence=Evidence(function=called, raised=f"{called} raised NotImplementedError (line 5){raised}"))


@pytest.mark.parametrize(
    ("checks", "told"),
    [
        ([unwritten("mask", ": mask has to say", "mask"), unwritten("average", ": mask has to say", "average")], "mask"),  # written, and calls the one that isn't
        ([unwritten("average", ": average has to", "mask", "average")], "average"),  # a check of several
        ([unwritten("average", "", "mask", "average")], "average"),  # a stub without words of its own
        ([unwritten("average", ": later", "mask", "average")], "average"),
        ([failure("a", "The file does not define `average`; it defines `averge`.", Reason.NOT_IMPLEMENTED, ("mask", "average"))], "average"),
    ],
)
def test_a_function_that_is_written_is_not_called_a_stub(checks: list[CheckResult], told: str):
    assert f"Not written yet: {told}." in screen(*checks, reason=Reason.NOT_IMPLEMENTED)
