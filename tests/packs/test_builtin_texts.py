"""What the built-in misconceptions say, those included that no reading of the file can see."""

from __future__ import annotations

import importlib.util
import sys

import pytest
from attngrade.catalog import Exercise, builtin
from attngrade.misconceptions import Misconception, listed
from attngrade.misconceptions.reading import marked
from attngrade.proofread import ADVICE, ID
from attngrade.quiz.question import Bank


def all_of(exercise: Exercise) -> list[Misconception]:
    spec = importlib.util.spec_from_file_location(f"texts_of_{exercise.slug}", exercise.misconceptions)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return listed(module)


@pytest.mark.parametrize("exercise", builtin().exercises, ids=lambda exercise: exercise.id)
def test_every_misconception_says_what_why_and_where_and_asks_a_question_that_there_is(exercise):
    known = Bank(builtin().questions_dir).ids
    wrong = [item.id for item in all_of(exercise) if not ID.fullmatch(item.id) or not item.message or "{" in item.message or any(part not in item.advice for part in ADVICE)
             or item.of not in exercise.functions or (item.question and item.question not in known) or (item.extends and item.extends not in {other.id for other in all_of(exercise)})]

    assert not wrong
    assert len(all_of(exercise)) >= 15


@pytest.mark.parametrize("exercise", builtin().exercises, ids=lambda exercise: exercise.id)
def test_no_misconception_is_hidden_by_a_function_of_the_same_name_in_a_file_beside(exercise):
    written = {item.id for path in exercise.misconceptions.parent.glob(f"{exercise.slug}*.py") for _, item in marked(path)}

    assert written and written <= {item.id for item in all_of(exercise)}
