"""The JSON object of ``check --format json``; scripts depend on its fields."""

from __future__ import annotations

import json
from typing import Any

from .. import __version__
from ..verdict import Verdict


def render(verdicts: list[Verdict]) -> str:
    """One object with a list of results."""
    return json.dumps({"schema_version": 1, "attngrade_version": __version__, "results": [record(v) for v in verdicts]}, indent=1, ensure_ascii=True)


def record(verdict: Verdict) -> dict[str, Any]:
    """One verdict as plain data."""
    return {
        "exercise": verdict.exercise, "title": verdict.title, "verdict": verdict.word.value, "reason": verdict.reason.value if verdict.reason else None,
        "message": verdict.message, "score": verdict.score, "max_score": verdict.max_score,
        "checks": [
            {"id": check.id, "title": check.title, "outcome": check.outcome.value, "points": check.points, "max_points": check.max_points,
             "stretch": check.stretch, "message": check.message}
            for check in verdict.checks
        ],
        "misconceptions": [{"id": named.id, "message": named.message, "function": named.function, "kind": named.kind, "one_of": list(named.one_of)}
                           for named in verdict.misconceptions],
        "isolation": verdict.isolation, "device": verdict.device, "seed": verdict.seed, "duration_s": round(verdict.duration_s, 3), "output": verdict.output,
    }
