"""``grade(exercise, data, ...) -> Verdict``: start a worker, run the hidden checks against it, turn the record into a verdict."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..catalog import Exercise
from ..errors import AttngradeError
from ..sandbox import jail
from ..verdict import Broken, CheckResult, Outcome, Reason, Verdict, Word

if TYPE_CHECKING:
    from ..sandbox.host import Worker
    from ..sandbox.proxy import Submission
    from .plugin import Grading
    from .variants import Tongue, Variant

ON_A_DEVICE = 5  # times the wall clock: kernels are compiled there for every dtype, width and layout, half a second each
DEVICE_MIB = 4096  # and more memory: the driver and its libraries
SEVERITY = (Reason.RULE_BROKEN, Reason.LOAD_ERROR, Reason.TIMEOUT, Reason.MEMORY, Reason.CRASH, Reason.WRONG_RESULT, Reason.NOT_IMPLEMENTED)


@dataclass(frozen=True)
class Limits:
    """Limits of one grading: seconds of wall clock per exercise, MiB of memory."""

    timeout_s: float = 60.0
    memory_mib: int = 4096


class Grader(AttngradeError):
    """The grader could not do its work."""


def plan_for(exercise: Exercise, limits: Limits, device: str) -> jail.Plan:
    """What a worker of this exercise needs."""
    hidden = tuple(rule.name for rule in exercise.off_limits if rule.kind == "module" and "." not in rule.name and not rule.functions)
    return jail.Plan(exercise.imports, exercise.framework, device, limits.memory_mib + (DEVICE_MIB if device != "cpu" else 0), hidden)


def grade(
    exercise: Exercise, data: bytes, *, name: str = "", limits: Limits | None = None, seed: int = 0, device: str = "cpu", isolation: str = "auto",
    warm: Callable[[], Worker] | None = None, on_result: Callable[[CheckResult], None] | None = None, flips: frozenset[str] = frozenset(),
) -> Verdict:
    """The verdict on one submission's source. ``warm`` gives a started worker (used once); otherwise one is started here.

    ``flips`` are the conventions that this submission was asked the other way round (variants.py).
    Raises JailError where the isolation asked for can't be had, and NoDevice where the host sees no such device. A fault of the grader's own is a verdict ``error``.
    """
    from .source import Unreadable, read_source
    from .variants import Variant

    limits = limits or Limits()
    started = time.monotonic()
    variant = Variant(exercise, flips)
    exercise = variant.exercise
    if device != "cpu":
        from .devices import require

        require(device)
    for chance in (warm, None):  # a jail that was ended from outside is nobody's fault: once more, in a fresh one
        opening = Opening(exercise, limits, device, isolation, chance, variant.tongue())
        try:
            source = read_source(data, name or exercise.stub.name)
        except Unreadable as error:
            source, opening.unreadable = "", error
        try:
            grading, problem = run_checks(exercise, partial(opening.load, source), seed, device, on_result, variant=variant)
        finally:
            opening.close()
        if grading.lost is None:
            break
    if grading.doubts:
        from .blame import settle

        problem = "; ".join([*grading.problems, *settle(variant, grading, plan_for(exercise, limits, device), seed)])
    if device != "cpu":
        from .devices import beside_the_interpreter

        beside_the_interpreter(variant, grading, lambda: Opening(exercise, limits, "cpu", isolation, None, variant.tongue()), source, seed)
    verdict = conclude(exercise, grading, problem, source, device, seed)
    return replace(
        verdict, isolation=opening.isolation, isolation_note=opening.note, duration_s=time.monotonic() - started, output=opening.output, line=opening.line,
        line_shown=shown_line(data, opening.line) if verdict.reason is Reason.LOAD_ERROR else "", calls=tuple(grading.calls),
    )


def shown_line(data: bytes, line: int | None) -> str:
    """The line of the source that a load error points at."""
    lines = data.decode("utf-8", "replace").splitlines()
    return lines[line - 1].rstrip()[:200] if line and 0 < line <= len(lines) else ""


class Opening:
    """The workers of one grading: the first, and its replacements after a death. Only the source travels to them."""

    def __init__(self, exercise: Exercise, limits: Limits, device: str, isolation: str, warm: Callable[[], Worker] | None, tongue: Tongue | None = None):
        self.exercise, self.limits, self.device = exercise, limits, device
        self.tongue = tongue
        self.isolation = isolation
        self.note = ""
        self.unreadable: Any = None
        self.output = ""
        self.line: int | None = None
        self.defines: dict[str, str] = {}
        self.deadline: float | None = None
        self._warm = warm
        self._current: Worker | None = None
        self._reference: Worker | None = None
        self._early = None if warm is not None else jail.start_for(plan_for(exercise, limits, device), isolation)

    def worker(self) -> Worker:
        """A worker that has not loaded anything yet."""
        from ..sandbox.host import Worker

        plan = plan_for(self.exercise, self.limits, self.device)
        early, self._early = self._early, None
        warm, self._warm = self._warm, None
        self._retire()
        self._current = warm() if warm is not None else Worker(plan, self.isolation, early)
        self._current.wait_ready()
        self.isolation, self.note = self._current.isolation, self._current.note
        return self._current

    def load(self, source: str) -> Any:
        """A proxy on a fresh worker that has loaded the source. Raises WorkerError."""
        from ..sandbox import gauge
        from ..sandbox.errors import Raised
        from ..sandbox.host import raise_if_raised
        from ..sandbox.proxy import Submission

        if self.unreadable is not None:
            self.line = self.unreadable.line
            raise Raised({"type": "SyntaxError", "message": str(self.unreadable), "line": self.unreadable.line})
        worker = self.worker()
        if self.deadline is None:
            self.deadline = time.monotonic() + self.limits.timeout_s * (ON_A_DEVICE if self.device != "cpu" else 1)
        worker.deadline = self.deadline
        reply = worker.ask({
            "op": "load", "module": self.exercise.module, "source": source,
            **{part: [rule.name for rule in self.exercise.off_limits if rule.kind == kind and not rule.functions and "*" not in rule.name]
               for part, kind in (("modules", "module"), ("names", "name"), ("paths", "path"))},
        })
        try:
            raise_if_raised(reply, "")
        except Raised as raised:
            self.line = raised.line
            raise
        defines = reply.get("defines")
        self.defines = {str(key): str(value) for key, value in defines.items()} if isinstance(defines, dict) else {}
        proxy = Submission(worker, self.defines, self.tongue)
        if self.device != "cpu":
            proxy.gauge, proxy.rival = gauge.find(), self.reference
        return proxy

    def reference(self) -> Worker:
        """A trusted worker on the same device that has the reference: what a submission is raced against. Raises NoRival."""
        from ..sandbox.errors import WorkerError
        from ..sandbox.host import Worker, raise_if_raised
        from ..sandbox.race import NoRival

        if self._reference is None or not self._reference.alive():
            self._reference = Worker(plan_for(self.exercise, self.limits, self.device), "trusted")
            try:
                for message in ({"op": "open", "solution": str(self.exercise.solution), "misconceptions": ""}, {"op": "cast", "ids": []}):
                    raise_if_raised(self._reference.ask(message), "the pack")
            except (WorkerError, AttngradeError) as error:
                raise NoRival(str(error)) from None
        return self._reference

    def _retire(self) -> None:
        from ..sandbox.scrub import clean_text

        if self._current is not None:
            self._current.close()
            self.output = (self.output + clean_text(self._current.printed.decode("utf-8", "replace")))[: 64 << 10]
            if self._current.printed_in_all > len(self._current.printed):
                self.output += f"\n[cut: the submission printed {self._current.printed_in_all} bytes in all]"
            self._current = None

    def close(self) -> None:
        """Leave nothing running."""
        if self._early is not None:
            from ..sandbox.host import Worker

            self._current = Worker(plan_for(self.exercise, self.limits, self.device), self.isolation, self._early)
            self.isolation = self._current.isolation
            self._early = None
        self._retire()
        if self._reference is not None:
            self._reference.close()
        if self.isolation == "auto":
            self.isolation = jail.likely()


def run_checks(
    exercise: Exercise, fresh: Callable[[], Submission], seed: int, device: str, on_result: Callable[[CheckResult], None] | None = None,
    only: frozenset[str] | None = None, variant: Variant | None = None,
) -> tuple[Grading, str]:
    """Run the check file under pytest in this process, on the proxies that ``fresh`` gives; the second value is a fault of the grader, or empty."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.pop("PYTEST_ADDOPTS", None)
    os.environ.pop("PYTEST_PLUGINS", None)
    import pytest

    from .plugin import Grading

    grading = Grading(fresh, seed, device, on_result=on_result, only=only, flips=variant.flips if variant else frozenset(), titles=variant.titles if variant else {})
    arguments = [str(exercise.checks), "--assert=plain", "--import-mode=importlib", "--rootdir=/", "--noconftest", "--capture=no", "-c", os.devnull,
                 *(part for off in ("cacheprovider", "terminal", "junitxml", "pastebin", "doctest", "unittest", "logging", "faulthandler", "warnings", "unraisableexception", "threadexception")
                   for part in ("-p", f"no:{off}"))]
    code = pytest.main(arguments, plugins=[grading])
    grading.finish()
    if code == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    problems = list(grading.faults)
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) and not problems:
        problems.append(f"pytest ended with {code!r}")
    missing = sorted(set(grading.expected) - set(grading.results))
    if missing and not problems:
        problems.append("no record of " + ", ".join(missing))
    required = sum(check.points for check in grading.expected.values() if not check.stretch)
    if not problems and only is None and abs(required - exercise.points) > 1e-9:
        problems.append(f"the checks are worth {required:g} points, the catalog says {exercise.points:g}")
    grading.problems = problems
    return grading, "; ".join([*problems, *(f"{name}: {doubt.technical}" for name, doubt in grading.doubts.items())])


def conclude(exercise: Exercise, grading: Grading, problem: str, source: str, device: str, seed: int) -> Verdict:
    """The verdict from the record of a run; points only for what was positively recorded."""
    from .plugin import follow, withhold
    from .rules import broken_rules

    base = Verdict(exercise.id, exercise.title, Word.ERROR, Reason.GRADER, device=device, seed=seed)
    if problem:
        return replace(base, message=f"The grader failed, not the submission: {problem}. No attempt is charged; please report it.")
    broken = broken_rules(source, exercise.off_limits, exercise.functions) if source else ()
    checks = tuple(_lose(check, broken) for check in withhold(follow(grading.results, grading.expected), grading))
    base = replace(base, checks=checks, broken=broken)
    if grading.load_error is not None:
        reason = Reason.LOAD_ERROR if grading.load_error.reason == "wrong-result" else Reason(grading.load_error.reason)
        return replace(base, word=Word.FAILED, reason=Reason.RULE_BROKEN if broken else reason, message=_load_message(grading))
    required = [check for check in checks if not check.stretch]
    forgiven = {Reason.WRONG_RESULT}  # in a stretch check; and how else one ends, where every required one has passed
    if all(check.outcome is Outcome.PASSED for check in required):
        forgiven |= {Reason.TIMEOUT, Reason.MEMORY, Reason.CRASH}
    reasons = {check.reason for check in checks if check.outcome is Outcome.FAILED and check.reason and not (check.stretch and check.reason in forgiven)}
    if broken:
        reasons.add(Reason.RULE_BROKEN)
    if reasons:
        return replace(base, word=Word.FAILED, reason=next(reason for reason in SEVERITY if reason in reasons))
    unseen = [check for check in required if check.outcome is Outcome.SKIPPED]
    if unseen or (exercise.gpu and device != "cuda"):
        return replace(base, word=Word.PROVISIONAL, reason=Reason.NO_GPU)
    if all(check.outcome is Outcome.PASSED for check in required):
        return replace(base, word=Word.PASSED, reason=None)
    return replace(base, message="The grader failed: a check has no outcome.")


def _lose(check: CheckResult, broken: tuple[Broken, ...]) -> CheckResult:
    for rule in broken:
        if set(rule.functions) & set(check.functions) or not check.functions:
            return replace(check, outcome=Outcome.FAILED, points=0.0, reason=Reason.RULE_BROKEN, evidence=None,
                           message=f"`{rule.shown}` on line {rule.line} is off limits in this exercise: the point is to write it yourself.")
    return check


def _load_message(grading: Grading) -> str:
    error = grading.load_error
    text = str(error).removeprefix("the file ")
    if error is not None and error.reason == "wrong-result":
        return f"The file does not load: {text}" if not text.startswith("raised SyntaxError") else getattr(error, "said", text)
    return f"While the file was being loaded: {error}"
