"""What `progress` counts from the log: streaks, time to pass, misconceptions met and overcome. No clock: days and moments are arguments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any

PAUSE = timedelta(minutes=30)  # a longer gap between two looks counts as this much: nobody works on a mask overnight
PASSING = ("passed", "provisional")


def streak(days: Iterable[date], today: date) -> tuple[int, int]:
    """Days in a row up to today (or yesterday, while today may still come), and the longest run ever."""
    runs: list[list[date]] = []
    for day in sorted(set(days)):
        if runs and day - runs[-1][-1] == timedelta(days=1):
            runs[-1].append(day)
        else:
            runs.append([day])
    longest = max(map(len, runs), default=0)
    current = len(runs[-1]) if runs and today - runs[-1][-1] <= timedelta(days=1) else 0
    return current, longest


def time_to_pass(attempts: Sequence[Any], looks: Iterable[datetime]) -> float | None:
    """Seconds at work from the first attempt or hint to the first pass, long pauses cut; None before a pass."""
    passed = next((entry.at for entry in attempts if entry.record.verdict in PASSING), None)
    if passed is None:
        return None
    moments = sorted({at for at in (*looks, *(entry.at for entry in attempts)) if at <= passed})
    return sum((min(later - earlier, PAUSE) for earlier, later in pairwise(moments)), timedelta()).total_seconds()


def mistakes(attempts: Sequence[Any]) -> list[dict[str, Any]]:
    """Each misconception that was named: in which exercise, how often, and whether the exercise has passed since. The most frequent first."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for entry in attempts:
        record = entry.record
        if record.verdict in PASSING:
            for (exercise, _), row in rows.items():
                row["overcome"] = row["overcome"] or exercise == record.exercise
        for name in record.misconceptions:
            row = rows.setdefault((record.exercise, name), {"id": name, "exercise": record.exercise, "times": 0, "overcome": False})
            row["times"] += 1
            row["overcome"] = False
    return sorted(rows.values(), key=lambda row: -row["times"])


def spoken(seconds: float) -> str:
    """A duration as one says it."""
    minutes = round(seconds / 60)
    return "under a minute" if minutes < 1 else f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"
