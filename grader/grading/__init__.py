"""``grade(exercise, data, ...) -> Verdict``: start a worker, run the hidden checks against it, turn the record into a verdict."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ..catalog import Exercise
from ..verdict import Broken, CheckResult, Outcome, Reason, Verdict, Word
from .opening import Limits, Opening, plan_for

if TYPE_CHECKING:
    from ..sandbox.host import Worker
    from ..sandbox.proxy import Submission
    from .plugin import Grading
    from .variants import Variant

UNUSED = ("cacheprovider", "capture", "debugging", "doctest", "faulthandler", "junitxml", "legacypath", "logging", "pastebin", "recwarn", "reports", "setuponly", "setupplan",
          "stepwise", "subtests", "terminal", "threadexception", "unittest", "unraisableexception", "warnings")  # parts of pytest that no check needs
SEVERITY = (Reason.RULE_BROKEN, Reason.LOAD_ERROR, Reason.TIMEOUT, Reason.MEMORY, Reason.CRASH, Reason.WRONG_RESULT, Reason.NOT_IMPLEMENTED)


def grade(
    exercise: Exercise, data: bytes, *, name: str = "", limits: Limits | None = None, seed: int = 0, device: str = "cpu", isolation: str = "auto",
    warm: Callable[[], Worker] | None = None, on_result: Callable[[CheckResult], None] | None = None, flips: frozenset[str] = frozenset(),
) -> Verdict:
    """The verdict on one submission's source. ``warm`` gives a started worker each time (the first, and one for kernels that run apart); otherwise they are started here.

    ``flips`` are the conventions that this submission was asked the other way round (variants.py).
    Raises JailError where the isolation asked for can't be had, and NoDevice where the host sees no such device. A fault of the grader's own is a verdict ``error``.
    """
    from .variants import Variant

    limits = limits or Limits()
    started = time.monotonic()
    variant = Variant(exercise, flips)
    exercise = variant.exercise
    if device != "cpu":
        from .devices import require

        require(device)
    openings = (Opening(exercise, limits, device, isolation, chance, variant.tongue()) for chance in (warm, None))
    opening, source, grading, problem = _run(openings, lambda: _read(exercise, data, name or exercise.stub.name),
                                             lambda load: run_checks(exercise, load, seed, device, on_result, variant=variant))
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


def _run(
    openings: Iterable[Opening], read: Callable[[], str], checks: Callable[[Callable[[], Submission]], tuple[Grading, str]],
) -> tuple[Opening, str, Grading, str]:
    """Source read, worker loaded, checks run. A jail that was ended from outside is nobody's fault: once more, in the next opening."""
    from .source import Unreadable

    for opening in openings:
        try:
            source = read()
        except Unreadable as error:
            source, opening.unreadable = "", error
        try:
            grading, problem = checks(partial(opening.load, source))
        finally:
            opening.close()
        if grading.lost is None:
            break
    return opening, source, grading, problem


def _read(exercise: Exercise, data: bytes, name: str) -> str:
    """The text, once it is known that it can be read to its end. Raises Unreadable."""
    from .rules import broken_rules
    from .source import read_source

    source = read_source(data, name)
    broken_rules(source, exercise.off_limits, exercise.functions)
    return source


def shown_line(data: bytes, line: int | None) -> str:
    """The line of the source that a load error points at."""
    lines = data.decode("utf-8", "replace").splitlines()
    return lines[line - 1].rstrip()[:200] if line and 0 < line <= len(lines) else ""


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
    arguments = [*map(str, exercise.check_files), "--assert=plain", "--import-mode=importlib", "--rootdir=/", f"--confcutdir={exercise.checks.parent}", "--noconftest", "-c", os.devnull,
                 *(part for off in UNUSED for part in ("-p", f"no:{off}"))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a result that NumPy warns of is not to write on the grader's screen
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
    from .afterwards import follow, withhold
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
