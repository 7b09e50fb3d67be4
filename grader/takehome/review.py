"""What reviewers decide over the grader's head: ``overrides.yaml`` beside the results, which no regrading touches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from ..catalog import LOADER
from ..errors import PackProblem, UsageProblem
from .record import totals

NAME, RESULTS = "overrides.yaml", "results.jsonl"
EXAMPLE = """# A reviewer's own scores; regrading leaves this file alone. For example:
# Ada Lovelace:
#   exercise03: {score: 30, note: "right idea, wrong dtype; agreed with B."}
#   score-variance: {score: 1.0, note: "says it in a drawing"}
"""


def read_overrides(folder: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Overrides by candidate and part. Raises PackProblem with everything that is wrong in the file."""
    path = folder / NAME
    try:
        table = yaml.load(path.read_text(encoding="utf-8"), LOADER) or {}
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise PackProblem(str(path), [" ".join(str(error).split())]) from None
    if not isinstance(table, dict):
        raise PackProblem(str(path), ["expected a mapping from candidate to exercise or question"])
    problems = [f"{candidate}: expected a mapping from exercise or question to {{score: NUMBER, note: TEXT}}"
                for candidate, parts in table.items() if not isinstance(parts, dict)]
    problems += [f"{candidate}, {part}: expected {{score: NUMBER, note: TEXT}}, got {told!r}"
                 for candidate, parts in table.items() if isinstance(parts, dict) for part, told in parts.items()
                 if not isinstance(told, dict) or not isinstance(told.get("score"), (int, float))]
    if problems:
        raise PackProblem(str(path), problems)
    return {str(candidate): parts for candidate, parts in table.items()}


def reviewed_batch(kit: Path, results: Path | None = None) -> tuple[list[dict[str, Any]], list[str]]:
    """The graded batch of a kit with reviewers' overrides in it, and remarks on overrides that meet nobody. Raises UsageProblem where nothing is graded yet."""
    folder = results or kit / "results"
    try:
        lines = (folder / RESULTS).read_text(encoding="utf-8").splitlines()
    except OSError:
        raise UsageProblem(f"There are no results in {folder}. Grade first: attngrade takehome grade RETURNS --kit {kit}") from None
    return reviewed([json.loads(line) for line in lines], read_overrides(folder))


def reviewed(records: list[dict[str, Any]], overrides: dict[str, dict[str, dict[str, Any]]]) -> tuple[list[dict[str, Any]], list[str]]:
    """The records with overrides in them, and a remark for each override that meets nobody."""
    known = {told["candidate"] for told in records}
    remarks = [f"overrides.yaml names {candidate!r}, who is not among the results" for candidate in overrides if candidate not in known]
    changed = []
    for told in records:
        parts = overrides.get(told["candidate"], {})
        there = {part.get("exercise") or part.get("question") for part in (*told["exercises"], *told["answers"])}
        remarks += [f"overrides.yaml: {told['candidate']} has no {part!r}" for part in parts if part not in there]
        new = {**told, "exercises": [_over(part, parts.get(part["exercise"])) for part in told["exercises"]],
               "answers": [_over(part, parts.get(part["question"])) for part in told["answers"]]}
        new["score"], new["max_score"] = totals(new)
        changed.append(new)
    return changed, remarks


def _over(part: dict[str, Any], told: dict[str, Any] | None) -> dict[str, Any]:
    if told is None:
        return part
    return {**part, "graded_score": part["score"], "score": float(told["score"]), "review": str(told.get("note") or "changed by a reviewer")}
