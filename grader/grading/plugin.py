"""The pytest side of a grading: fixtures for the checks, and a record of every one that was collected and ran."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from ..checks import claims
from ..checks.claims import Claim
from ..checks.claims import arguments as shown_call
from ..errors import AttngradeError
from ..sandbox.errors import JailLost, Raised, WorkerError, WorkerTimeout
from ..sandbox.proxy import Submission, received
from ..verdict import CheckResult, Evidence, Outcome, Reason
from .expected import Expected, check_id, describe


@dataclass(frozen=True)
class Doubt:
    """A check that broke on a result, with the sentence for a learner in case it was the result's fault."""

    technical: str
    told: str


class NotLoaded(Exception):
    """The submission doesn't load, so that no check can run."""


@dataclass
class Grading:
    """One run of an exercise's checks. ``fresh`` gives a proxy on a loaded worker, or raises WorkerError."""

    fresh: Callable[[], Submission]
    seed: int
    device: str = "cpu"
    restarts: int = 2  # six on a device, where one wrong address takes the process with it
    expected: dict[str, Expected] = field(default_factory=dict)
    results: dict[str, CheckResult] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    doubts: dict[str, Doubt] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)  # every fault of the grader's, once the run has ended
    calls: list[Any] = field(default_factory=list)
    load_error: WorkerError | None = None
    lost: JailLost | None = None
    on_result: Callable[[CheckResult], None] | None = None
    only: frozenset[str] | None = None  # run the checks of these functions alone
    flips: frozenset[str] = frozenset()  # conventions that are asked the other way round
    titles: dict[str, str] = field(default_factory=dict)  # of checks that say something else then
    heard: claims.Heard = field(init=False)
    _submission: Submission | None = None
    _over: WorkerError | None = None

    def __post_init__(self) -> None:
        if self.device != "cpu":
            self.restarts *= 3
        self.heard = claims.Heard(lambda: self._submission.last.function if self._submission is not None and self._submission.last is not None else "",
                                  recent=lambda: self._submission.last if self._submission is not None else None)

    # ------------------------------------------------------------ fixtures

    @pytest.fixture
    def submission(self, request: pytest.FixtureRequest) -> Iterator[Submission]:
        """The proxy of the submission under check."""
        proxy = self._current()
        proxy.check = check_id(request.node)
        proxy.replayable = not self.expected[proxy.check].gpu_only
        yield proxy

    @pytest.fixture
    def rng(self, request: pytest.FixtureRequest) -> np.random.Generator:
        """A generator seeded from the run's seed and the check's id."""
        return np.random.default_rng([self.seed, zlib.crc32(check_id(request.node).encode())])

    @pytest.fixture(name="device")
    def device_name(self) -> str:
        """cpu or cuda."""
        return self.device

    def _current(self) -> Submission:
        if self.load_error is not None:
            raise NotLoaded(str(self.load_error))
        if self._over is not None or self.lost is not None:
            raise NotLoaded(str(self._over or self.lost))
        if self._submission is None:
            try:
                self._submission = self.fresh()
            except WorkerError as error:
                self.load_error = error
                raise NotLoaded(str(error)) from None
        return self._submission

    def _after_death(self, error: WorkerError) -> None:
        """A dead worker takes its check with it; a few deaths are replaced, a timeout is not."""
        if self._submission is not None:
            self.calls += self._submission.calls
        self._submission = None
        self.restarts -= 1
        if isinstance(error, WorkerTimeout) or self.restarts < 0:
            self._over = error

    def finish(self) -> None:
        """Collect the recorded calls of the last worker."""
        if self._submission is not None:
            self.calls += self._submission.calls

    # ------------------------------------------------------------ hooks

    def pytest_configure(self, config: pytest.Config) -> None:
        """Nobody reads pytest's own traceback; in its usual style it parses the check file anew for every failure."""
        config.option.tbstyle = "native"

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Note every check that has to have a record at the end."""
        if self.only is not None:
            items[:] = [item for item in items if self.only & set(describe(item).functions)]
        for item in items:
            expected = describe(item)
            expected.title = self.titles.get(expected.id, expected.title)
            if expected.id in self.expected:
                self.faults.append(f"two checks have the id {expected.id}")
            self.expected[expected.id] = expected

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A check file that can't be collected is the grader's fault."""
        if report.failed:
            self.faults.append(f"the checks can't be collected: {str(report.longrepr).strip().splitlines()[-1]}")

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Any:
        """Run a check to its end though a claim has failed: the first failure counts, the calls after it feed the diagnosis."""
        if self.device != "cuda" and self.expected[check_id(pyfuncitem)].gpu_only:
            pytest.skip("Not verified here: it needs a CUDA device.")
        claims.collected, claims.heard, claims.flips = [], self.heard, self.flips
        error: BaseException | None = None
        try:
            done = yield
        except (Exception, pytest.skip.Exception) as raised:  # a claim that failed before a check gave up has failed
            error = raised
        kept, claims.collected, claims.heard, claims.flips = claims.collected, None, None, frozenset()
        fatal = isinstance(error, WorkerError) and not isinstance(error, Raised)
        if fatal and error is not None:
            raise error
        if kept:
            raise kept[0]
        if error is not None:
            raise error
        return done

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        """Record the outcome of a check; anything but one clean call is no pass."""
        report = yield
        if call.when == "setup" and call.excinfo is None:
            return report
        if call.when == "teardown" and call.excinfo is None:
            return report
        expected = self.expected[check_id(item)]
        if call.when == "teardown" or expected.id in self.results:
            self.faults.append(f"{expected.id}: {call.excinfo and call.excinfo.value!r} after the check had ended")
            return report
        error = call.excinfo.value if call.excinfo else None
        result = self._judge(expected, error)
        self.results[expected.id] = result
        if self.on_result is not None:
            self.on_result(result)
        if isinstance(error, WorkerError) and not isinstance(error, Raised):
            self._after_death(error)
        return report

    def _judge(self, expected: Expected, error: BaseException | None) -> CheckResult:
        base = CheckResult(expected.id, expected.title, Outcome.PASSED, expected.points, expected.points, expected.stretch, functions=expected.functions)
        if error is None:
            return base
        lost = replace(base, outcome=Outcome.FAILED, points=0.0)
        if isinstance(error, Claim):
            return replace(lost, message=str(error), evidence=self._with_call(error), reason=Reason.WRONG_RESULT)
        if isinstance(error, Raised):
            return self._raised(lost, error)
        if isinstance(error, WorkerError):
            asked = f" This check asks for {' and '.join(expected.functions)}." if expected.functions and not any(name in str(error) for name in expected.functions) else ""
            return replace(lost, message=f"{error}{asked}", reason=Reason(error.reason))  # the call that did not come back is none of those recorded
        if isinstance(error, NotLoaded):
            return replace(lost, outcome=Outcome.SKIPPED, message=f"Did not run: {error}")
        if isinstance(error, pytest.skip.Exception):
            return replace(lost, outcome=Outcome.SKIPPED, message=str(error) or "Not verified here.")
        if isinstance(error, AssertionError):
            return replace(lost, message=str(error).splitlines()[0] if str(error) else expected.title, evidence=Evidence(arguments=self._last_call()),
                           reason=Reason.WRONG_RESULT)
        if isinstance(error, (AttngradeError, OSError)):
            self.lost = error if isinstance(error, JailLost) else self.lost
            self.faults.append(f"{expected.id}: {error}")
        else:
            self.doubts[expected.id] = self._doubt(error)
        return replace(lost, outcome=Outcome.SKIPPED, message="The grader could not run this check.")

    def _doubt(self, error: BaseException) -> Doubt:
        last = self._submission.last if self._submission is not None else None
        what = f"`{last.function}` came back as {claims.name_of(received(last.value))}" if last is not None else "A result came back"
        return Doubt(f"{type(error).__name__}: {error}", f"{what}, which this check can't work with.")

    def _raised(self, lost: CheckResult, error: Raised) -> CheckResult:
        evidence = Evidence(function=error.function, arguments=self._last_call(), raised=str(error))
        if error.type == "Missing":
            return replace(lost, message=error.said, reason=Reason.NOT_IMPLEMENTED)
        if error.unwritten:
            return replace(lost, message=f"{error.function} is not written yet.", evidence=evidence, reason=Reason.NOT_IMPLEMENTED)
        if error.type == "Refused":
            return replace(lost, message=f"{error.function}: {error.said}.", evidence=evidence, reason=Reason.RULE_BROKEN)
        return replace(lost, message=f"{error}.", evidence=evidence, reason=Reason.WRONG_RESULT)

    def _last_call(self) -> str:
        last = self._submission.last if self._submission is not None else None
        return shown_call(last) if last is not None and "args" in last.message else ""

    def _with_call(self, error: Claim) -> Evidence | None:
        evidence = error.evidence
        last = error.recent
        if evidence is not None and not evidence.arguments and last is not None and "args" in last.message:
            return replace(evidence, arguments=shown_call(last), function=evidence.function or last.function)
        return evidence
