"""What a learner reads of a failed check: each row says something, and nothing is said twice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from attngrade.render.cell import as_html
from attngrade.render.evidence import rows, tidy
from attngrade.render.terminal import as_text
from attngrade.verdict import CheckResult, Evidence, Outcome, Reason, Verdict, Word


def failure(name: str = "a", message: str = "The result is wrong.", reason: Reason = Reason.WRONG_RESULT, functions: tuple[str, ...] = ("f",), **seen) -> CheckResult:
    evidence = Evidence(function="f", **seen) if seen else None
    return CheckResult(name, f"Claim {name}.", Outcome.FAILED, 0, 1, message=message, functions=functions, evidence=evidence, reason=reason)


def skipped(name: str, message: str) -> CheckResult:
    return CheckResult(name, f"Claim {name}.", Outcome.SKIPPED, 0, 1, message=message, functions=("f",))


def screen(*checks: CheckResult, word: Word = Word.FAILED, reason: Reason | None = Reason.WRONG_RESULT, width: int = 80, **more) -> str:
    return as_text([Verdict("exercise01", "A title", word, reason, checks=checks, **more)], colour=False, width=width)


def shown(check: CheckResult) -> dict[str, str]:
    return dict(rows(check))


def test_two_numbers_that_differ_never_look_the_same():
    got, want = np.array([0.99999999, 0.5]), np.array([1.0, 0.5])
    told = shown(failure(note="is off by 1e-08 (allowed: 1e-09)", got=got, want=want, index=(0,), got_at="1", want_at="1"))

    assert told["came"] != told["right"]
    assert told["where"] == "[0]: 0.99999999, right is 1; is off by 1e-08 (allowed: 1e-09)"


def test_arrays_that_differ_visibly_have_four_digits():
    told = shown(failure(note="is off", got=np.array([1 / 3]), want=np.array([2 / 3]), index=(0,), got_at="0.333333", want_at="0.666667"))

    assert (told["came"], told["right"]) == ("[0.3333]", "[0.6667]")


@pytest.mark.parametrize("note", ["has dtype float32 where float64 was asked", "came back as None where an array was asked", "has shape (3,) where (2,) was asked"])
def test_a_wrong_type_shows_no_right_value(note):
    assert "right" not in shown(failure(note=note, got=np.array([4.5], np.float32), want=np.zeros(1)))


def test_none_says_that_a_return_is_missing():
    assert "without `return`" in shown(failure(note="came back as None where an array was asked", want=np.zeros(1)))[""]


@pytest.mark.parametrize(("note", "told"), [
    ("raised a ValueError whose message doesn't name `scores`: 'need at least two'", "its message doesn't name `scores`"),
    ("raised a ValueError whose message doesn't name `q` or `k`: 'no'", "its message doesn't name `q` or `k`"),
    ("raised TypeError where a ValueError was asked", "a ValueError was asked"),
    ("", ""),
])
def test_of_an_error_it_is_said_what_was_asked_instead(note, told):
    assert shown(failure(note=note, raised="f raised ValueError (line 30): need at least two")).get("where", "") == told


def test_a_claim_without_a_value_is_not_called_what_came():
    told = shown(failure(message="A tensor of shape (2, 3) was asked.", note="A tensor of shape (2, 3) was asked"))

    assert told == {"": "A tensor of shape (2, 3) was asked."}


def test_a_wrong_number_is_not_repeated_behind_the_rows():
    told = shown(failure(message="f: the result is 1.5 where 2 is right.", note="is 1.5 where 2 is right", got=1.5, want=2.0))

    assert told == {"came": "1.5", "right": "2"}


@dataclass
class Returned:
    array: np.ndarray
    dtype: str = "float64"


def test_a_tuple_of_results_is_shown_as_its_arrays():
    told = shown(failure(note="came back with a tuple where a ValueError was asked", got=(Returned(np.array([1.5, 2.0])), Returned(np.zeros((9, 9))))))

    assert told["came"] == "([1.5 2.], an array of shape (9, 9))"


def test_a_small_array_of_many_axes_stands_on_one_line():
    told = shown(failure(note="is off", got=np.arange(4.0).reshape(1, 2, 2, 1), want=np.ones((1, 2, 2, 1)), index=(0, 0, 0, 0), got_at="0", want_at="1"))

    assert told["came"] == "[[[[0.] [1.]] [[2.] [3.]]]]"


def test_of_an_array_that_fills_the_screen_the_wrong_row_is_shown():
    got, want = np.zeros((2, 3, 2, 3)), np.arange(36.0).reshape(2, 3, 2, 3)
    told = shown(failure(note="is off", got=got, want=want, index=(1, 2, 0, 1), got_at="0", want_at="31"))

    assert (told["came"], told["right"]) == ("[1, 2, 0]: [0. 0. 0.]", "[1, 2, 0]: [30. 31. 32.]")


def test_of_a_long_row_the_neighbours_of_the_wrong_number_are_shown():
    got, want = np.arange(100.0), np.arange(100.0) + (np.arange(100) == 98)
    told = shown(failure(note="is off", got=got, want=want, index=(98,), got_at="98", want_at="99"))

    assert (told["came"], told["right"]) == ("[94:100]: [94. 95. 96. 97. 98. 99.]", "[94:100]: [94. 95. 96. 97. 99. 99.]")


def test_a_small_matrix_is_shown_whole():
    told = shown(failure(note="differs", got=np.eye(3), want=np.ones((3, 3)), index=(0, 1), got_at="0", want_at="1"))

    assert told["came"] == "[[1. 0. 0.]\n [0. 1. 0.]\n [0. 0. 1.]]"


def test_numbers_of_very_different_size_stand_in_their_fewest_digits():
    told = shown(failure(note="differs", got=np.array([0.25, -1e9]), want=np.array([0.25, -np.inf]), index=(1,), got_at="-1e+09", want_at="-inf"))

    assert told["came"] == "[  0.25 -1e+09]"
    assert told["right"] == "[0.25 -inf]"


def test_a_wrong_dtype_takes_no_more_digits():
    assert shown(failure(note="has dtype float32 where float16 was asked", got=np.array([1 / 3]), want=np.array([2 / 3])))["came"] == "[0.3333]"


def test_each_line_that_code_printed_is_marked_as_such():
    text = screen(failure(note="is off", got=1.0), output="word " * 60)

    assert len([line for line in text.split("\n") if line.startswith("  | word")]) == 4


def test_the_input_is_written_without_columns_and_empty_exponents():
    assert tidy("f([[ 1.0010e+003,  0.0000e+000], [-1.    ,  0.    ]], 2e-05, eps=1e-08)") == "f([[1.001e3, 0.], [-1., 0.]], 2e-05, eps=1e-08)"


def test_one_error_at_one_line_is_told_once():
    error = "f raised NameError (line 4): name 'np' is not defined"
    text = screen(failure("a", raised=error), failure("b", raised=error), failure("c", raised="f raised TypeError (line 9): no"), failure("d", note="is off", got=1.0))

    assert text.count("NameError") == 1
    assert "The top of the file lacks `import numpy as np`." in text
    assert "TypeError" in text
    assert "1 more failed for these reasons." in text
    assert "✗ Claim d." in text


@pytest.mark.parametrize("note", ["came back as None where an array was asked", "has dtype float32 where float64 was asked"])
def test_one_wrong_type_is_told_once(note):
    text = screen(failure("a", note=note, got=1.0), failure("b", note=note, got=2.0))

    assert text.count(note) == 1
    assert "1 more failed for this reason." in text


def test_refusals_that_fail_alike_are_not_called_one_reason():
    refused = {"message": "f: the result raised TypeError where a ValueError was asked.", "raised": "f raised TypeError (line 4): no"}

    assert "reason" not in screen(failure("a", **refused), failure("b", **refused))


@pytest.mark.parametrize(("kind", "meaning"), [("EOFError", "input()"), ("BdbQuit", "breakpoint()"), ("RecursionError", "never stops")])
def test_errors_that_only_a_check_makes_are_explained(kind, meaning):
    assert meaning in shown(failure(raised=f"f raised {kind} (line 4): what Python says"))[""]


def test_a_broken_rule_is_said_first_and_once():
    rule = "`F.softmax` on line 9 is off limits in this exercise: the point is to write it yourself."
    text = screen(*(failure(name, rule, Reason.RULE_BROKEN) for name in "abc"), reason=Reason.RULE_BROKEN)

    assert text.split("\n")[1].startswith("  `F.softmax` on line 9 is off limits")
    assert text.count("off limits") == 1
    assert "That costs 3 checks." in text
    assert "Claim" not in text


def test_there_are_no_two_empty_lines_in_a_row():
    assert "\n\n\n" not in screen(failure("a", note="is 1 where 2 is right", got=1.0, want=2.0), failure("b", raised="f raised TypeError (line 4): no"))


def test_no_line_ends_in_spaces():
    long = ", ".join(["<float32 (2, 3, 4)>"] * 6)

    assert not [line for line in screen(failure(arguments=f"f({long})", note="is off", got=1.0, want=2.0)).split("\n") if line != line.rstrip()]


def test_a_file_that_does_not_load_ran_no_check_and_the_line_is_next():
    text = screen(skipped("a", "Did not run: x"), reason=Reason.LOAD_ERROR, message="x.py is not valid Python: expected ':' (line 34).", line=34, line_shown="def f()")

    assert "None of the 1 checks could run." in text
    assert "Next: mend line 34 and save the file." in text
    assert "hint" not in text


def test_what_did_not_run_is_not_said_to_follow():
    text = screen(failure("a", "The time limit ran out.", Reason.TIMEOUT), skipped("b", "Did not run: x"), skipped("c", "Follows from: Claim a."), reason=Reason.TIMEOUT)

    assert "0 of 3 checks passed, 1 depends on what failed, 1 did not run." in text


def test_checks_that_need_a_gpu_are_listed_where_nothing_else_is_missing():
    gpu = skipped("g", "Not verified here: it needs a CUDA device.")

    assert "– Claim g." in screen(gpu, word=Word.PROVISIONAL, reason=Reason.NO_GPU)
    assert "– Claim g." not in screen(failure(note="is off", got=1.0), gpu)
    assert "1 needs a CUDA device" in screen(failure(note="is off", got=1.0), gpu)


def test_a_cell_in_a_notebook_says_the_same():
    rule = "`F.softmax` on line 9 is off limits."
    html = as_html(Verdict("exercise01", "A title", Word.FAILED, Reason.RULE_BROKEN, checks=tuple(failure(name, rule, Reason.RULE_BROKEN) for name in "abc")))

    assert html.count("off limits") == 1
    assert "That costs 3 checks." in html


@pytest.mark.parametrize("word", list(Word))
def test_no_headline_is_in_a_colour_that_vanishes_on_a_light_ground(word):
    text = as_text([Verdict("exercise01", "A title", word)], colour=True, width=80)

    assert not [code for code in ("33", "37", "36", "93", "96", "97") if f"\x1b[{code}m" in text]
