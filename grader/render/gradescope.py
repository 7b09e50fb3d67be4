"""Gradescope's results.json. A fault of the grader gives no score, only a message at the top."""

from __future__ import annotations

import json
from typing import Any

from ..verdict import CheckResult, Outcome, Verdict, Word
from .text import tame


def render(verdicts: list[Verdict]) -> str:
    """One object; the score is the sum of the tests' scores."""
    faults = [verdict for verdict in verdicts if verdict.word is Word.ERROR]
    told: dict[str, Any] = {
        "execution_time": round(sum(verdict.duration_s for verdict in verdicts), 2), "output_format": "text", "test_output_format": "text",
        "output": "\n".join(_headline(verdict) for verdict in verdicts), "visibility": "visible", "stdout_visibility": "hidden",
        "tests": [_test(verdict, check, number) for verdict in verdicts for number, check in enumerate(verdict.checks, 1)],
    }
    if not faults:
        told["score"] = sum(verdict.score for verdict in verdicts)
    return json.dumps(told, indent=1)


def _headline(verdict: Verdict) -> str:
    named = "".join(f"\n{tame(named.message)}" for named in verdict.misconceptions)
    return f"{verdict.exercise} {verdict.title}: {verdict.word} {tame(verdict.message)}{named}".rstrip()


def _test(verdict: Verdict, check: CheckResult, number: int) -> dict[str, Any]:
    test: dict[str, Any] = {"name": f"{verdict.exercise}: {check.title}", "number": f"{int(verdict.exercise[-2:]) if verdict.exercise[-2:].isdigit() else 0}.{number}",
                            "output": tame(check.message), "tags": ["stretch"] if check.stretch else []}
    if check.outcome is not Outcome.SKIPPED or "ot verified here" not in check.message:
        test |= {"score": check.points, "max_score": check.max_points, "status": "passed" if check.outcome is Outcome.PASSED else "failed"}
    return test
