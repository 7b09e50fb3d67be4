"""The outcome of ``pack verify``: for a person, and as the table in the docs."""

from __future__ import annotations

from collections.abc import Sequence

from ..verify import Report


def as_text(reports: Sequence[Report], strays: Sequence[str]) -> str:
    """A block per exercise: counts, the table misconception x check, problems."""
    lines: list[str] = []
    for report in reports:
        mark = "✗" if report.problems else "✓"
        lines.append(f"{mark} {report.exercise}: {report.right} right versions pass, {len(report.table)} misconceptions, {len(report.checks)} checks, "
                     f"{report.warm_s:.2f} s warm, {report.total_s:.0f} s in all")
        lines += _grid(report)
        lines += [f"  problem: {problem}" for problem in report.problems] + [f"  remark: {remark}" for remark in report.remarks] + [""]
    lines += [f"problem: {stray}" for stray in strays]
    bad = sum(bool(report.problems) for report in reports) + bool(strays)
    lines.append("The set verifies." if not bad else "The set does not verify: see the lines that start with `problem`.")
    return "\n".join(lines)


def _grid(report: Report) -> list[str]:
    if not report.table:
        return []
    names = {check: f"{n:>2}" for n, check in enumerate(report.checks, 1)}
    wide = max(map(len, report.table))
    head = [f"  {'':{wide}} " + " ".join(names.values())]
    rows = [f"  {name:{wide}} " + " ".join(" ×" if check in failed else " ·" for check in report.checks) for name, failed in report.table.items()]
    return head + rows + [f"  {number} {check}" for check, number in names.items()]


def as_markdown(reports: Sequence[Report], strays: Sequence[str]) -> str:
    """The same as a page of tables."""
    lines = ["# Which check catches which misconception", "", "Written by `attngrade pack verify --format markdown`; don't edit by hand.", ""]
    for report in reports:
        lines += [f"## {report.exercise}", "", f"{report.right} right versions pass; {len(report.table)} misconceptions, {len(report.checks)} checks.", ""]
        lines += ["| misconception | of | checks that fail |", "| --- | --- | --- |"]
        lines += [f"| `{name}` | `{report.functions[name]}` | {', '.join(c for c in report.checks if c in failed)} |" for name, failed in report.table.items()]
        lines += ["", *(f"- problem: {problem}" for problem in report.problems), ""]
    return "\n".join(lines + [f"- problem: {stray}" for stray in strays])
