"""Common Test Report Format: whatever it has no field for goes into ``extra`` under the key ``attngrade``."""

from __future__ import annotations

import json
from typing import Any

from .. import __version__
from ..verdict import CheckResult, Outcome, Verdict, Word
from .text import tame


def render(verdicts: list[Verdict]) -> str:
    """One report. Renderers read no clock: the report starts at 0 and lasts as long as the gradings did."""
    tests = [_test(verdict, check) for verdict in verdicts for check in verdict.checks] + [_fault(v) for v in verdicts if v.word is Word.ERROR or not v.checks]
    count = lambda status: sum(test["status"] == status for test in tests)  # noqa: E731
    summary = {"tests": len(tests), **{status: count(status) for status in ("passed", "failed", "skipped", "pending", "other")}, "start": 0,
               "stop": round(1000 * sum(verdict.duration_s for verdict in verdicts))}
    return json.dumps({
        "reportFormat": "CTRF", "specVersion": "1.0.0", "generatedBy": f"attngrade {__version__}",
        "results": {"tool": {"name": "attngrade", "version": __version__}, "summary": summary, "tests": tests},
    }, indent=1)


def _test(verdict: Verdict, check: CheckResult) -> dict[str, Any]:
    test: dict[str, Any] = {
        "name": f"{verdict.exercise}: {check.id}", "status": check.outcome.value, "duration": 0, "suite": [verdict.exercise],
        "extra": {"attngrade": {"points": check.points, "maxPoints": check.max_points, "stretch": check.stretch, "title": check.title}},
    }
    if check.message:
        test["message"] = tame(check.message)
    if check.outcome is Outcome.FAILED and check.reason:
        test["rawStatus"] = check.reason.value
    return test


def _fault(verdict: Verdict) -> dict[str, Any]:
    status = "other" if verdict.word is Word.ERROR else "failed"
    return {"name": f"{verdict.exercise}: grading", "status": status, "duration": 0, "suite": [verdict.exercise], "message": tame(verdict.message),
            "rawStatus": str(verdict.reason)}
