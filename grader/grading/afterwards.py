"""What the record of a run is worth once all of it is known: passes that don't count yet, failures that follow from others."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..verdict import CheckResult, Outcome

if TYPE_CHECKING:
    from .expected import Expected
    from .plugin import Grading


def withhold(checks: list[CheckResult], grading: Grading) -> list[CheckResult]:
    """A passed check counts only where each of its functions has come back with a value, with a right one of its own if values were compared, and doesn't refuse at large."""
    made = [call for call in grading.calls if call.message.get("op") in ("call", "new", "invoke")]
    silent = {call.function for call in made} - {call.function for call in made if call.raised is None}
    unproven = silent | (grading.heard.tried - grading.heard.proven)
    refusers = dict.fromkeys(grading.heard.refusals, refusers_among(made, grading.heard.refusals))
    told = []
    for check in checks:
        lacks = [f"`{function}` gives a right result somewhere" for function in check.functions if function in unproven]
        lacks += [f"`{function}` {grading.heard.disowned[function]}" for function in check.functions if function in grading.heard.disowned]
        lacks += [f"`{function}` takes more than it refuses of what is possible" for function in check.functions if function in refusers.get(check.id, ())]
        if check.outcome is Outcome.PASSED and lacks:
            check = replace(check, outcome=Outcome.SKIPPED, points=0.0, message=f"Counts once {lacks[0]}.")
        told.append(check)
    return told


def refusers_among(calls: list[Any], refusals: set[str]) -> set[str]:
    """Functions that refuse most of what no check wants refused: whoever refuses everything refuses the impossible as well."""
    balance: Counter[str] = Counter()
    for call in (call for call in calls if call.check not in refusals):
        balance[call.function] += 1 if call.raised is None else -1 if "ValueError" in call.raised.bases else 0
    return {function for function, left in balance.items() if left < 0}


def follow(results: dict[str, CheckResult], expected: dict[str, Expected]) -> list[CheckResult]:
    """The results in order; a failure that follows from another failure is skipped and says of which."""
    told = []
    for name, result in results.items():
        causes = [cause for cause in expected[name].after if cause in results and results[cause].outcome is Outcome.FAILED]
        if result.outcome is Outcome.FAILED and causes:
            result = replace(result, outcome=Outcome.SKIPPED, message=f"Follows from: {results[causes[0]].title}")
        told.append(result)
    return told
