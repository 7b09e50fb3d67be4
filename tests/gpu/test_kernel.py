"""On a CUDA device: the reference passes there, and what is wrong only there is caught there. Run by scripts/gpu_check.sh."""

from __future__ import annotations

import os

import pytest
from attngrade.catalog import builtin
from attngrade.grading import Opening, grade
from attngrade.sandbox.race import NoRival
from attngrade.verdict import Outcome, Reason, Word

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not os.path.exists("/dev/nvidiactl"), reason="no CUDA device here")]
EXERCISE = next(e for e in builtin().exercises if e.gpu)
SOLUTION = EXERCISE.solution.read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def unraced(monkeypatch):
    """Several of these run at once on one device: the script times the reference by itself."""
    def refuse(self):
        raise NoRival("not here")

    monkeypatch.setattr(Opening, "reference", refuse)


def verdict(source):
    return grade(EXERCISE, source.encode(), device="cuda", seed=1)


def test_the_reference_passes_on_the_device():
    told = verdict(SOLUTION)

    assert told.word is Word.PASSED, [(check.id, check.message) for check in told.failed]


@pytest.mark.parametrize("path", sorted(EXERCISE.alternatives.glob("*.py")), ids=lambda path: path.stem)
def test_right_kernels_pass_on_the_device(path):
    told = verdict(path.read_text(encoding="utf-8"))

    assert told.word is Word.PASSED, [(check.id, check.message) for check in told.failed]


@pytest.mark.parametrize(("right", "wrong"), [("mask=in_q)", "mask=None)"), ('input_precision="ieee"', 'input_precision="tf32"')], ids=["store past the end", "TF32"])
def test_a_kernel_that_is_wrong_only_on_the_device_fails_there(right, wrong):
    assert right in SOLUTION

    assert verdict(SOLUTION.replace(right, wrong)).word is Word.FAILED


def test_an_illegal_access_costs_the_kernel_its_checks_and_not_the_run():
    astray = SOLUTION.replace("tl.store(lse_ptr + to,", "tl.store(lse_ptr + to + (1 << 40),")
    assert astray != SOLUTION

    told = verdict(astray)

    assert told.word is Word.FAILED and Reason.CRASH in {check.reason for check in told.failed}
    assert any("fresh process" in check.message for check in told.failed)
    assert all(check.outcome is Outcome.PASSED for check in told.checks if check.functions in (("merge_states",), ("blockwise_attention",)))
