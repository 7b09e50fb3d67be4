"""The record of one graded return: plain data, the same bytes whenever and wherever it was made (no times, no hosts in it)."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ..render.json_ import record as verdict_record
from ..verdict import Reason, Verdict
from .plan import TakeHome
from .returns import Return

VERSION = 1
SOURCE_CAP = 100_000
CHANCE = "(What it printed isn't kept: how far it came before a limit ended it is chance.)"


def key(given: Return, plan: TakeHome, owner: str = "") -> str:
    """What a record depends on: the plan's digest, the return's bytes, and where kits differ whose kit it was. A record with another key is stale."""
    digest = hashlib.sha256(plan.digest().encode() + owner.encode("utf-8", "backslashreplace"))
    for name in sorted(given.files):
        digest.update(f"{name}\0{len(given.files[name])}\0".encode() + given.files[name])
    digest.update(given.problem.encode())
    return digest.hexdigest()[:24]


def exercise_record(verdict: Verdict, file: str, weight: float, data: bytes) -> dict[str, Any]:
    """One exercise's part: the verdict without what differs from run to run, and the source for the page."""
    told = verdict_record(verdict)
    told.pop("duration_s")
    if {Reason.TIMEOUT, Reason.MEMORY} & {verdict.reason, *(check.reason for check in verdict.checks)}:
        told["output"] = CHANCE if told["output"] else ""
    return {**told, "file": file, "weight": weight, "source": data.decode("utf-8", "replace")[:SOURCE_CAP], "broken": [{"name": b.shown, "line": b.line} for b in verdict.broken]}


def missing_record(exercise: str, title: str, max_score: float, weight: float, message: str) -> dict[str, Any]:
    """One exercise's part where no file came back for it."""
    return {"exercise": exercise, "title": title, "verdict": "failed", "reason": "not-implemented", "message": message, "score": 0.0, "max_score": max_score,
            "checks": [], "misconceptions": [], "file": "", "source": "", "weight": weight, "broken": [], "output": "", "isolation": "", "device": "cpu", "seed": 0}


def dumps(record: dict[str, Any]) -> str:
    """One line of JSON with its keys sorted."""
    return json.dumps(record, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def totals(record: dict[str, Any]) -> tuple[float, float]:
    """Weighted score and maximum of a record, each exercise and question worth its weight."""
    parts = [*record["exercises"], *record["answers"]]
    got = sum(part["weight"] * (part["score"] / part["max_score"] if part.get("max_score") else part["score"]) for part in parts)
    return round(got, 6), round(sum(part["weight"] for part in parts), 6)
