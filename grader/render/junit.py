"""JUnit XML as pytest writes it: a suite per exercise, points as properties of each case."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from ..verdict import CheckResult, Outcome, Reason, Verdict, Word
from .text import tame


def render(verdicts: list[Verdict]) -> str:
    """One document; a fault of the grader is an error, a submission that does not load or ends early a failure with its reason as type."""
    root = ET.Element("testsuites", name="attngrade")
    for verdict in verdicts:
        _suite(root, verdict)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode")


def _suite(root: ET.Element, verdict: Verdict) -> None:
    cases, fault = verdict.checks, verdict.word is Word.ERROR
    whole = fault or not cases  # told of the grading itself: there is no check to tell it of
    counts = {
        "errors": int(fault), "failures": sum(c.outcome is Outcome.FAILED for c in cases) + (whole and not fault),
        "skipped": sum(c.outcome is Outcome.SKIPPED for c in cases), "tests": len(cases) + whole,
    }
    suite = ET.SubElement(root, "testsuite", {"name": verdict.exercise, "time": f"{verdict.duration_s:.3f}", **{key: str(n) for key, n in counts.items()}})
    for check in cases:
        _case(suite, verdict, check)
    if whole:
        case = ET.SubElement(suite, "testcase", classname=f"attngrade.{verdict.exercise}", name="grading", time="0")
        ET.SubElement(case, "error" if fault else "failure", message=tame(verdict.message), type=str(verdict.reason))
    if verdict.output:
        ET.SubElement(suite, "system-out").text = tame(verdict.output)


def _case(suite: ET.Element, verdict: Verdict, check: CheckResult) -> None:
    case = ET.SubElement(suite, "testcase", classname=f"attngrade.{verdict.exercise}", name=check.id, time="0")
    if check.outcome is Outcome.FAILED:
        failure = ET.SubElement(case, "failure", message=tame(check.message), type=str(check.reason or Reason.WRONG_RESULT))
        failure.text = tame(f"{check.title}\n{check.message}")
    elif check.outcome is Outcome.SKIPPED:
        ET.SubElement(case, "skipped", type="pytest.skip", message=tame(check.message or verdict.message))
    properties = ET.SubElement(case, "properties")
    for name, value in (("points", check.points), ("max_points", check.max_points)):
        ET.SubElement(properties, "property", name=name, value=f"{value:g}")
