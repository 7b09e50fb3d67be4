"""The built-in set is admitted by its own verification; `make table` runs it whole, here it tries some wrong ideas of each function."""

from __future__ import annotations

import os

import pytest
from attngrade.catalog import builtin
from attngrade.proofread import strays
from attngrade.verify import verify

WHOLE = "ATTNGRADE_WHOLE_CORPUS" in os.environ
TRIED = {"exercise06": 1}  # wrong ideas of each function; a kernel's run in an interpreter
USUAL = 3


@pytest.mark.parametrize("exercise", builtin().exercises, ids=lambda exercise: exercise.id)
def test_stub_fails_right_versions_pass_and_wrong_ideas_are_named(exercise):
    report = verify(exercise, sample=None if WHOLE else TRIED.get(exercise.id, USUAL))

    assert report.problems == []
    assert report.right >= 5
    assert report.table


def test_every_file_belongs_to_an_exercise():
    assert strays(builtin()) == []
