"""Which wrong answer behaves like this submission: names by replay, sentences by symptom. Nothing here starts a process or reads a clock."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..catalog import Exercise
from ..sandbox.proxy import Call
from ..verdict import CheckResult, Outcome, Reason, Verdict
from .explain import explain
from .leaning import Leaning, leaning
from .stage import Stage, Troupe
from .symptoms import symptom

__all__ = ["Stage", "Troupe", "diagnosed", "leaning", "wants_diagnosis"]

NAMEABLE = (Reason.WRONG_RESULT, Reason.MEMORY, Reason.TIMEOUT, Reason.CRASH)


def wants_diagnosis(verdict: Verdict) -> bool:
    """Whether there is a wrong result to name."""
    return any(check.reason in NAMEABLE for check in verdict.checks if check.outcome is not Outcome.PASSED) and bool(verdict.calls)


@np.errstate(all="ignore")  # what a submission leaves unwritten is any number, and comparing such is no news for a person's screen
def diagnosed(exercise: Exercise, verdict: Verdict, troupe: Troupe, silent: frozenset[str] = frozenset(), leans: Leaning = frozenset()) -> Verdict:
    """The verdict with the misconceptions that explain it, and with a symptom in the message of each check that failed on values.

    Nothing is named in ``silent`` functions: their misconceptions are told in a convention that wasn't asked. ``leans``: which functions call which
    otherwise than in the reference (`leaning`); beside a wrong one that they call, what comes of them has no name of its own.
    """
    verdict = replace(verdict, checks=tuple(_with_symptom(check) for check in verdict.checks))
    failed = frozenset(name for check in verdict.checks if check.reason in NAMEABLE for name in check.functions)
    passed = frozenset(check.id for check in verdict.checks if check.outcome is Outcome.PASSED)
    stage = Stage(troupe, str(exercise.solution), str(exercise.misconceptions))
    named, downstream = explain(stage, telling(verdict, passed), tuple(name for name in exercise.functions if name not in silent), failed, passed, leans)
    cause = named[0].function if named else ""
    checks = tuple(_following(check, downstream, cause) for check in verdict.checks)
    return replace(verdict, checks=checks, misconceptions=tuple(named))


def telling(verdict: Verdict, passed: frozenset[str]) -> tuple[Call, ...]:
    """The calls to explain: those of stretch checks only where a function has nothing else wrong, since right answers may differ there.

    What a call took of memory is to be explained only where a check found it too much.
    """
    stretch = frozenset(check.id for check in verdict.checks if check.stretch)
    missed = {name for check in verdict.checks if check.reason in NAMEABLE and not check.stretch for name in check.functions}
    return tuple(replace(call, weighed=call.weighed and call.check not in passed) for call in verdict.calls if call.check not in stretch or call.function not in missed)


def _following(check: CheckResult, downstream: frozenset[str], cause: str) -> CheckResult:
    """A failure in functions that are wrong only because an upstream one is becomes a skip that says so."""
    if check.outcome is Outcome.FAILED and check.reason in NAMEABLE and check.functions and set(check.functions) <= downstream:
        return replace(check, outcome=Outcome.SKIPPED, message=f"Follows from {cause}: {check.message}")
    return check


def _with_symptom(check: CheckResult) -> CheckResult:
    if check.evidence is None or check.outcome is not Outcome.FAILED:
        return check
    told = symptom(check.evidence)
    return replace(check, message=f"{check.message} {told}") if told and told not in check.message else check
