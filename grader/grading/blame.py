"""Whose fault is it when a check breaks on a result? The reference decides: where the check passes with it, the submission's result was at fault.

A hostile result can make any check raise what its author never thought of; that must neither become a grader's fault (nobody would give it zero) nor hide one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..sandbox import jail
from ..sandbox.errors import WorkerError
from ..sandbox.host import Worker, raise_if_raised
from ..sandbox.proxy import Submission
from ..verdict import Outcome, Reason

if TYPE_CHECKING:
    from .plugin import Grading
    from .variants import Variant


def settle(variant: Variant, grading: Grading, plan: jail.Plan, seed: int) -> list[str]:
    """Charge the submission for each check that broke on its results and holds with the reference; what remains is told as faults of the grader."""
    passed = _passed_by_the_reference(variant, grading, plan, seed)
    faults = []
    for name, doubt in grading.doubts.items():
        if name in passed:
            grading.results[name] = replace(grading.results[name], outcome=Outcome.FAILED, points=0.0, reason=Reason.WRONG_RESULT, message=doubt.told)
        else:
            faults.append(f"{name}: {doubt.technical}")
    return faults


def _passed_by_the_reference(variant: Variant, grading: Grading, plan: jail.Plan, seed: int) -> set[str]:
    from . import run_checks

    exercise = variant.exercise  # it speaks as the checks do: no exchange
    functions = frozenset(function for name in grading.doubts for function in grading.expected[name].functions)
    with Worker(plan, "trusted") as troupe:
        try:
            raise_if_raised(troupe.ask({"op": "open", "solution": str(exercise.solution), "misconceptions": str(exercise.misconceptions)}), "the pack")
            reply = troupe.ask({"op": "cast", "ids": []})
            raise_if_raised(reply, "the pack")
            proxy = Submission(troupe, reply["defines"])
            reference, _ = run_checks(exercise, lambda: proxy, seed, plan.device, only=functions or None, variant=variant)
        except WorkerError:
            return set()
    return {name for name, result in reference.results.items() if result.outcome is Outcome.PASSED}
