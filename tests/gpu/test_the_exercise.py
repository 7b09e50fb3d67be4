"""The exercise that needs a GPU, from end to end on an imitated one: its checks for a device run, and its reference passes them."""

from __future__ import annotations

import pytest
from attngrade.catalog import builtin
from attngrade.grading import Opening, grade
from attngrade.sandbox.race import NoRival
from attngrade.verdict import Outcome, Reason, Word

EXERCISE = next(e for e in builtin().exercises if e.gpu)
SOLUTION = EXERCISE.solution.read_text(encoding="utf-8")


@pytest.fixture
def verdict(started, monkeypatch):
    """``verdict(source)``: graded on the imitation, without the race, for which it is too slow."""

    def refuse(self):
        raise NoRival("an imitation is no rival")

    monkeypatch.setattr(Opening, "reference", refuse)
    return lambda source: grade(EXERCISE, source.encode(), device="cuda", isolation="process", seed=1)


def test_the_reference_passes_every_required_check_of_a_device(verdict):
    told = verdict(SOLUTION)

    assert told.word is Word.PASSED, [(check.id, check.message) for check in told.checks if check.outcome is not Outcome.PASSED]
    assert [check.id for check in told.checks if check.outcome is Outcome.SKIPPED] == ["kernel-is-fast"]


def test_a_kernel_that_is_stopped_by_long_inputs_loses_the_checks_that_have_them(verdict):
    stopped = SOLUTION.replace("    out = torch.empty(", "    torch.cuda.fault() if torch.cuda.is_available() and q.shape[2] > 500 else None\n    out = torch.empty(", 1)

    told = verdict(stopped)

    assert {check.id: check.reason for check in told.failed} == {"kernel-at-length-on-the-gpu": Reason.CRASH}
    assert "every check of this function that can run there passes" in told.failed[0].message
