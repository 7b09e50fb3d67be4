"""What every test may lean on: one warm crew of jailed workers per test process, and a way to grade a source with it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attngrade.catalog import Exercise, builtin
from attngrade.diagnosis import diagnosed, leaning, wants_diagnosis
from attngrade.grading import Limits, grade, plan_for
from attngrade.sandbox.nursery import Crew
from attngrade.verdict import Verdict

if hasattr(signal, "SIGHUP"):  # ignored under nohup and in the background, and so they would be in every terminal that a test opens
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
for name in ("COLUMNS", "LINES"):  # a terminal's own size counts
    os.environ.pop(name, None)
ROOT = Path(__file__).resolve().parent.parent
Grade = Callable[..., Verdict]
TOGETHER = ("tests/redteam/", "tests/learner/test_notebook.py")  # each shares what lives in one process


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """``--dist loadgroup`` by folder or file: the suffix by which pytest-xdist 3.8 groups is lost under pytest 9."""
    if config.getoption("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return next((group for group in TOGETHER if group in nodeid), nodeid)

    return ByGroup(config, log)


@pytest.fixture(scope="session")
def crew() -> Iterator[Crew]:
    """Warm workers for the whole test process."""
    with Crew() as crew:
        yield crew


@pytest.fixture
def graded(crew: Crew) -> Grade:
    """``graded("exercise03", source)``: the verdict, with its mistakes named."""

    def run(name: str, source: str | bytes, *, seed: int = 1, name_mistakes: bool = True, limits: Limits | None = None) -> Verdict:
        exercise: Exercise = builtin().find(name)
        limits = limits or Limits()
        data = source.encode() if isinstance(source, str) else source
        plan = plan_for(exercise, limits, "cpu")
        verdict = grade(exercise, data, seed=seed, limits=limits, warm=lambda: crew.worker(plan))
        if name_mistakes and wants_diagnosis(verdict):
            verdict = diagnosed(exercise, verdict, crew.troupe(plan_for(exercise, Limits(), "cpu")), leans=leaning(data, exercise.solution.read_bytes()))
        return verdict

    return run
