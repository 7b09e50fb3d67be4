"""What becomes of a submission that is not simply right or wrong: each ending has its reason and its sentence."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest
from attngrade.catalog import builtin
from attngrade.grading import Limits
from attngrade.verdict import Outcome, Reason, Word

EXERCISE = "exercise03"
SOLUTION = builtin().find(EXERCISE).solution.read_text(encoding="utf-8")


def test_the_stub_is_not_implemented_and_earns_nothing(graded):
    verdict = graded(EXERCISE, builtin().find(EXERCISE).stub.read_bytes())

    assert (verdict.word, verdict.reason, verdict.score) == (Word.FAILED, Reason.NOT_IMPLEMENTED, 0)


def test_a_syntax_error_shows_its_line(graded):
    verdict = graded(EXERCISE, "import torch\n\ndef causal_mask(:\n    pass\n")

    assert (verdict.reason, verdict.line, verdict.line_shown) == (Reason.LOAD_ERROR, 3, "def causal_mask(:")
    assert "line 3" in verdict.message


def test_a_missing_function_is_named_with_what_there_is(graded):
    verdict = graded(EXERCISE, SOLUTION.replace("def padding_mask", "def pading_mask"))

    told = next(check.message for check in verdict.failed if "does not define" in check.message)
    assert "`padding_mask`" in told and "pading_mask" in told


def test_what_torch_has_not_implemented_is_not_called_unwritten(graded):
    verdict = graded(EXERCISE, SOLUTION.replace("logits.softmax(-1)", "(logits > 0).softmax(-1)"))

    told = next(check.message for check in verdict.failed if check.functions == ("masked_softmax",))
    assert verdict.reason is Reason.WRONG_RESULT and "raised NotImplementedError" in told and "not implemented for 'Bool'" in told


def test_refusals_count_for_a_function_that_refuses_too_much_and_not_for_one_that_refuses_nearly_all(graded):
    start = "    t_k = t_q if t_k is None else t_k\n"
    some, nearly_all = (SOLUTION.replace(start, f"{start}    if {where}:\n        raise ValueError('t_q and t_k')\n") for where in ("t_q > t_k", "t_q != t_k or t_q > 2"))

    one, other = (next(check for check in graded(EXERCISE, source).checks if check.id == "negative-sizes-refused") for source in (some, nearly_all))

    assert one.outcome is Outcome.PASSED
    assert (other.outcome, other.points) == (Outcome.SKIPPED, 0) and "takes more than it refuses" in other.message


def test_a_module_without_forward_is_unwritten(graded):
    source = "from torch import nn\n\n\nclass QKNorm(nn.Module):\n    def __init__(self, head_dim, eps=1e-6):\n        super().__init__()\n"

    verdict = graded("exercise05", source)

    assert "QKNorm is not written yet." in [check.message for check in verdict.failed]


def test_an_exception_while_loading_is_a_load_error_with_its_line(graded):
    verdict = graded(EXERCISE, "import torch\n\nraise RuntimeError('boom')\n")

    assert (verdict.word, verdict.reason, verdict.line, verdict.score) == (Word.FAILED, Reason.LOAD_ERROR, 3, 0)
    assert "boom" in verdict.message


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"a = 1\0", b"# -*- coding: utf-7 -*-\n", b"(" * 5000], ids=["latin", "nul", "utf-7", "deep"])
def test_what_is_no_utf8_python_is_a_load_error_in_a_sentence(graded, data):
    verdict = graded(EXERCISE, data)

    assert (verdict.word, verdict.reason) == (Word.FAILED, Reason.LOAD_ERROR)
    assert verdict.message.endswith((".", "parse."))


def test_an_endless_loop_meets_the_time_limit(graded):
    verdict = graded(EXERCISE, SOLUTION.replace('    t_k = t_q if t_k is None else t_k', "    while True: pass", 1), limits=Limits(timeout_s=1.5))

    assert (verdict.word, verdict.reason) == (Word.FAILED, Reason.TIMEOUT)


def test_what_never_comes_back_is_told_of_the_function_that_was_asked_and_of_no_other(graded):
    verdict = graded(EXERCISE, SOLUTION.replace("    if lengths.ndim != 1", "    while True: pass\n    if lengths.ndim != 1", 1), limits=Limits(timeout_s=2.5))

    told = next(check for check in verdict.failed if check.reason is Reason.TIMEOUT)
    assert "This check asks for padding_mask." in told.message
    assert told.evidence is None


def test_too_much_memory_meets_the_memory_limit(graded):
    verdict = graded(EXERCISE, SOLUTION.replace('    t_k = t_q if t_k is None else t_k', "    torch.ones(1 << 30).sum()\n    t_k = t_k or t_q", 1), limits=Limits(memory_mib=1024))

    assert (verdict.word, verdict.reason) == (Word.FAILED, Reason.MEMORY)


def test_leaving_early_is_a_crash_and_costs_only_the_checks_that_saw_it(graded):
    verdict = graded(EXERCISE, SOLUTION.replace("    t_k = t_q if t_k is None else t_k", "    import os\n    if device is not None: os._exit(0)\n    t_k = t_q if t_k is None else t_k", 1))

    assert (verdict.word, verdict.reason) == (Word.FAILED, Reason.CRASH)
    assert any(check.outcome is Outcome.PASSED for check in verdict.checks)


def test_a_broken_rule_costs_the_function_its_points_and_is_named_by_line(graded):
    verdict = graded(EXERCISE, SOLUTION + "\n\ndef spare(q):\n    return torch.nn.functional.scaled_dot_product_attention(q, q, q)\n")

    assert (verdict.word, verdict.reason) == (Word.FAILED, Reason.RULE_BROKEN)
    assert verdict.broken[0].line == SOLUTION.count("\n") + 4


def test_what_a_submission_prints_is_kept_and_changes_nothing(graded):
    verdict = graded(EXERCISE, SOLUTION + "\nprint('hello ' * 30000)\n")

    assert verdict.word is Word.PASSED
    assert verdict.output.startswith("hello hello") and len(verdict.output) < 70_000


def test_a_prompt_for_input_meets_an_empty_stdin(graded):
    verdict = graded(EXERCISE, SOLUTION + "\nimport sys\nassert sys.stdin.read() == ''\n")

    assert verdict.word is Word.PASSED


def test_points_are_those_of_the_catalog(graded):
    verdict = graded(EXERCISE, SOLUTION)
    exercise = builtin().find(EXERCISE)

    assert sum(check.max_points for check in verdict.checks if not check.stretch) == exercise.points
    assert sum(check.max_points for check in verdict.checks if check.stretch) == exercise.stretch_points


def test_a_failed_check_costs_no_second_parse_of_the_check_file(graded, monkeypatch):
    exercise = builtin().find("exercise03")
    parsed, parse = [], ast.parse

    def noted(source, *args, **kwargs):
        parsed.append(source if isinstance(source, str) else source.decode())
        return parse(source, *args, **kwargs)

    monkeypatch.setattr(ast, "parse", noted)

    verdict = graded("exercise03", exercise.stub.read_bytes(), name_mistakes=False)

    checks = exercise.checks.read_text(encoding="utf-8")
    assert len(verdict.failed) > 10
    assert sum(text in checks and len(text) > 1000 for text in parsed) == 0, "pytest's own traceback was made, which nobody reads"


def test_collecting_the_checks_looks_into_no_folder_above_theirs(graded, monkeypatch):
    exercise = builtin().find("exercise03")
    looked_into, scandir = set(), os.scandir

    def noted(path="."):
        looked_into.add(Path(os.fsdecode(path)))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", noted)

    graded("exercise03", exercise.stub.read_bytes(), name_mistakes=False)

    assert not looked_into & set(exercise.checks.parent.parents), "every entry of every folder on the way would be looked at"
