"""The verdict for a person at a terminal."""

from __future__ import annotations

from ..verdict import Verdict


def as_text(verdicts: list[Verdict], *, colour: bool, width: int) -> str:
    """Verdicts as lines (placeholder layout: see the commit that follows)."""
    lines = []
    for verdict in verdicts:
        lines.append(f"{verdict.exercise} {verdict.title}: {verdict.word} {verdict.reason or ''} {verdict.score:g}/{verdict.max_score:g} {verdict.message}")
        lines += [f"  {check.outcome:8} {check.id}: {check.message}" for check in verdict.checks]
    return "\n".join(lines)
