"""What becomes of arguments in the worker: the same objects with new values, and results that are the caller's own memory."""

from __future__ import annotations

import numpy as np
import pytest
from attngrade.catalog import builtin
from attngrade.grading import Limits, plan_for
from attngrade.sandbox.host import Worker
from attngrade.sandbox.nursery import Crew
from attngrade.sandbox.proxy import Submission, tensor
from attngrade.sandbox.wire import Opaque

SOURCE = """
import functools

seen = {}

def honest(x, factor):
    return x * factor

def by_identity(x, factor):
    if id(x) not in seen:
        seen[id(x)] = x, x * factor
    return seen[id(x)][1]

@functools.lru_cache
def counted(identity, version, x, factor):
    return x * factor

def by_version(x, factor):
    return counted(id(x), x._version, x, factor)

def many_axes(x):
    return x.reshape((1,) * 17)

def long_and_empty(x):
    return x[:0].reshape(0, 1)[:, :0].reshape(2**40, 0) if hasattr(x, "numel") else __import__("numpy").zeros((2**40, 0))

def turned(x):
    x.unsqueeze_(0) if hasattr(x, "numel") else setattr(x, "shape", (1, *x.shape))

def locked(x):
    x.requires_grad_() if hasattr(x, "numel") else x.setflags(write=False)

def given_back(x, factor):
    return x[:] if factor == 1 else x * factor
"""


@pytest.fixture
def submission(request: pytest.FixtureRequest, crew: Crew) -> Submission:
    worker: Worker = crew.worker(plan_for(builtin().find(request.param), Limits(), "cpu"))
    request.addfinalizer(worker.close)
    worker.ask({"op": "load", "module": "given", "source": SOURCE, "modules": [], "names": [], "paths": []})
    return Submission(worker)


@pytest.mark.parametrize("submission", ["exercise02", "exercise03"], indirect=True)
@pytest.mark.parametrize("layout", [{}, {"gap": 2, "guard": 3}, {"order": (1, 0)}])
def test_a_cache_by_identity_shows_where_the_same_object_gets_new_values(submission: Submission, layout: dict[str, object]) -> None:
    x, before = np.arange(6.0).reshape(2, 3), np.full((2, 3), 9.0)

    for name, want in (("honest", 2 * x), ("by_identity", 2 * before)):
        got = getattr(submission, name)(tensor(x, **layout), 2, _before=(before,) if not layout else (tensor(before, **layout),))

        assert np.array_equal(got.array, want), name
        assert submission.mutated() == ()


@pytest.mark.parametrize("submission", ["exercise03"], indirect=True)
def test_a_cache_that_looks_at_a_tensors_version_is_no_mistake(submission: Submission) -> None:
    for dtype in ("float32", "bfloat16"):
        got = submission.by_version(tensor(np.arange(3.0), dtype), 2, _before=(tensor(np.ones(3), dtype),))

        assert np.array_equal(got.array, [0, 2, 4])


@pytest.mark.parametrize("submission", ["exercise02", "exercise03"], indirect=True)
def test_a_result_in_its_arguments_memory_shows_when_it_is_overwritten(submission: Submission) -> None:
    assert submission.scribble(submission.given_back(np.arange(3.0), 1, _keep=True)) == ("0",)
    assert submission.scribble(submission.given_back(np.arange(3.0), 2, _keep=True)) == ()


@pytest.mark.parametrize("submission", ["exercise02", "exercise03"], indirect=True)
def test_an_array_of_a_shape_that_no_frame_carries_is_a_wrong_result_and_no_garbage(submission: Submission) -> None:
    for name in ("many_axes", "long_and_empty"):
        got = getattr(submission, name)(np.ones(1))

        assert isinstance(got, Opaque) and "shape (1" in got.type, name


@pytest.mark.parametrize("submission", ["exercise02", "exercise03"], indirect=True)
def test_an_argument_whose_shape_or_flags_changed_has_changed(submission: Submission) -> None:
    for name in ("turned", "locked"):
        getattr(submission, name)(np.arange(3.0))

        assert submission.mutated() == ("0",), name
