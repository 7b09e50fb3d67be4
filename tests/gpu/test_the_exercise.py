"""The exercise that needs a GPU, from end to end on an imitated one: its checks for a device run, and its reference passes them."""

from __future__ import annotations

from attngrade.catalog import builtin
from attngrade.grading import Opening, grade
from attngrade.sandbox.race import NoRival
from attngrade.verdict import Outcome, Word


def test_the_reference_passes_every_required_check_of_a_device(started, monkeypatch):
    def refuse(self):
        raise NoRival("an imitation is too slow to race")

    monkeypatch.setattr(Opening, "reference", refuse)
    exercise = next(e for e in builtin().exercises if e.gpu)
    told = grade(exercise, exercise.solution.read_bytes(), device="cuda", isolation="process", seed=1)

    assert told.word is Word.PASSED, [(check.id, check.message) for check in told.checks if check.outcome is not Outcome.PASSED]
    assert [check.id for check in told.checks if check.outcome is Outcome.SKIPPED] == ["kernel-is-fast"]
