"""Jails that are ended from outside: another is made, the run is repeated, and where that can't be had it is the grader's fault and nobody's zero."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator

import pytest
from attngrade.catalog import builtin
from attngrade.errors import AttngradeError
from attngrade.grading import Limits, grade, plan_for
from attngrade.sandbox import jail
from attngrade.sandbox.errors import JailLost, WorkerDied
from attngrade.sandbox.host import Worker
from attngrade.sandbox.nursery import Crew
from attngrade.verdict import Reason, Verdict, Word

pytestmark = pytest.mark.skipif(jail.bubblewrap() is None, reason="bubblewrap is not installed here")
EXERCISE = builtin().find("exercise02")
PLAN = plan_for(EXERCISE, Limits(20, 1024), "cpu")
RIGHT = EXERCISE.solution.read_bytes()
SLEEPER = {"op": "load", "module": "m", "source": "import time\ntime.sleep(60)\n", "modules": [], "names": [], "paths": []}


@pytest.fixture
def own_crew() -> Iterator[Crew]:
    with Crew() as crew:
        yield crew


class Assassin:
    """Gives workers, and ends the jails of the first few of them once they have been asked something."""

    def __init__(self, make: Callable[[], Worker], end: Callable[[Worker], None], victims: int = 1):
        self.make, self.end, self.left = make, end, victims

    def __call__(self) -> Worker:
        worker = self.make()
        worker.wait_ready()
        real, asked = worker.ask, 0

        def ask(message: dict[str, object], *aside: object) -> dict[str, object]:
            nonlocal asked
            asked += 1
            if asked == 5 and self.left:
                self.left -= 1
                self.end(worker)
            return real(message, *aside)

        worker.ask = ask  # type: ignore[method-assign]
        return worker


def checked(warm: Callable[[], Worker]) -> Verdict:
    return grade(EXERCISE, RIGHT, limits=Limits(20, 1024), seed=3, warm=warm)


def kill_jail(worker: Worker) -> None:
    os.kill(worker._start.process.pid, signal.SIGKILL)


def kill_nests(crew: Crew) -> Callable[[Worker], None]:
    def end(_: Worker) -> None:
        for nest in crew._nests.values():
            assert nest is not None
            nest._process.kill()

    return end


def test_a_check_whose_jail_is_killed_is_run_again_and_passes() -> None:
    assert checked(Assassin(lambda: Worker(PLAN, "bubblewrap"), kill_jail)).word is Word.PASSED


def test_a_check_whose_nest_is_killed_is_run_again_and_passes(own_crew: Crew) -> None:
    assert checked(Assassin(lambda: own_crew.worker(PLAN), kill_nests(own_crew))).word is Word.PASSED


def test_a_killed_nest_has_a_successor(own_crew: Crew) -> None:
    own_crew.worker(PLAN).close()
    first = own_crew._nests[PLAN]
    assert first is not None
    first._process.kill()
    first._process.wait()

    with own_crew.worker(PLAN) as worker:
        worker.wait_ready()

    assert own_crew._nests[PLAN] not in (None, first)


def test_a_jail_that_is_killed_every_time_is_the_graders_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    assassin = Assassin(lambda: Worker(PLAN, "bubblewrap"), kill_jail, victims=2)
    monkeypatch.setattr("attngrade.grading.Opening.worker", lambda self: assassin())

    verdict = checked(assassin)

    assert verdict.word is Word.ERROR and verdict.reason is Reason.GRADER
    assert "ended from outside" in verdict.message and "No attempt is charged" in verdict.message


@pytest.mark.parametrize("error", [AttngradeError("No worker can be started here: no space left."), OSError(24, "Too many open files")])
def test_a_worker_that_cannot_be_replaced_is_the_graders_fault(error: Exception) -> None:
    def refuse() -> Worker:
        raise error

    verdict = checked(refuse)

    assert verdict.word is Word.ERROR and str(error) in verdict.message


def test_a_worker_that_ends_itself_is_no_lost_jail(own_crew: Crew) -> None:
    for make in (lambda: own_crew.worker(PLAN), lambda: Worker(PLAN, "bubblewrap")):
        with make() as worker, pytest.raises(WorkerDied):
            worker.ask({**SLEEPER, "source": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"})


def test_a_worker_in_a_jail_that_falls_says_so(own_crew: Crew) -> None:
    with own_crew.worker(PLAN) as worker:
        worker.wait_ready()
        kill_nests(own_crew)(worker)
        with pytest.raises(JailLost):
            worker.ask(SLEEPER)
