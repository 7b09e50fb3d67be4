"""What tests of kernels that run apart share."""

from __future__ import annotations

import pytest
from attngrade.sandbox.host import raise_if_raised
from attngrade.sandbox.jail import Plan
from attngrade.sandbox.nursery import Crew
from attngrade.sandbox.proxy import Submission
from attngrade.sandbox.sibling import Sibling

WITH_TRITON = Plan(imports=("numpy", "torch", "triton"), framework="torch")


@pytest.fixture(scope="module")
def crew():
    """Warm workers."""
    with Crew() as crew:
        yield crew


@pytest.fixture
def load(crew):
    """Loads a text as a submission whose kernels are run apart."""
    open_now = []

    def load(text: str) -> Submission:
        worker, sibling = crew.worker(WITH_TRITON), Sibling(lambda: crew.worker(WITH_TRITON))
        open_now.extend([worker, sibling])
        raise_if_raised(worker.ask({"op": "load", "module": "file", "source": text, "relay": True, "modules": [], "names": [], "paths": []}), "")
        submission = Submission(worker)
        submission.sibling = sibling
        return submission

    yield load
    for one in open_now:
        one.close()


@pytest.fixture
def plan():
    """A worker that has Triton."""
    return WITH_TRITON
