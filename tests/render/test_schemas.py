"""What is written for other programs fits those programs' own schemas, whatever the verdicts are."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest
import xmlschema
from attngrade.render import ctrf, junit
from attngrade.verdict import CheckResult, Outcome, Reason, Verdict, Word

SCHEMAS = Path(__file__).parent / "schemas"
HOSTILE = "]]></failure><x> & \x00\x1b[31m\n::set-output\u202e\ud800\ufffe" + "long " * 3000
CHECKS = (
    CheckResult("right", "Right.", Outcome.PASSED, 2.0, 2.0),
    CheckResult("wrong", "Wrong.", Outcome.FAILED, 0.0, 1.5, message=HOSTILE, reason=Reason.WRONG_RESULT),
    CheckResult("late", "Late.", Outcome.FAILED, 0.0, 1.0, message="", reason=Reason.TIMEOUT),
    CheckResult("unseen", "Unseen.", Outcome.SKIPPED, 0.0, 1.0, stretch=True, message="Not verified here."),
)
BATCHES = {
    "nothing": [],
    "every outcome": [Verdict("exercise01", "Title", Word.FAILED, Reason.TIMEOUT, checks=CHECKS, duration_s=1.2345, output=HOSTILE)],
    "a passed and a provisional one": [Verdict("exercise01", "T", Word.PASSED, checks=CHECKS[:1]), Verdict("exercise06", "T", Word.PROVISIONAL, Reason.NO_GPU, checks=CHECKS[::3])],
    "a file that doesn't load": [Verdict("exercise02", "Title", Word.FAILED, Reason.LOAD_ERROR, message=HOSTILE)],
    "a fault of the grader": [Verdict("exercise03", "Title", Word.ERROR, Reason.GRADER, message="The grader failed.")],
    "a fault after checks that ran": [Verdict("exercise03", "Title", Word.ERROR, Reason.GRADER, message="A check has no outcome.", checks=CHECKS)],
}


@pytest.fixture(params=BATCHES.values(), ids=list(BATCHES))
def verdicts(request):
    return request.param


def test_ctrf_fits_its_schema(verdicts):
    schema = json.loads((SCHEMAS / "ctrf-schema-0.0.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft7Validator(schema, format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER)

    assert [error.message for error in validator.iter_errors(json.loads(ctrf.render(verdicts)))] == []


def test_ctrf_s_summary_counts_its_tests(verdicts):
    results = json.loads(ctrf.render(verdicts))["results"]

    statuses = [test["status"] for test in results["tests"]]
    assert {name: results["summary"][name] for name in ("passed", "failed", "skipped", "pending", "other")} == {
        name: statuses.count(name) for name in ("passed", "failed", "skipped", "pending", "other")}
    assert results["summary"]["tests"] == len(statuses)


def test_the_schema_would_notice_a_field_of_our_own():
    schema = json.loads((SCHEMAS / "ctrf-schema-0.0.json").read_text(encoding="utf-8"))
    told = json.loads(ctrf.render(BATCHES["every outcome"]))
    told["results"]["tests"][0]["points"] = 2.0

    assert list(jsonschema.Draft7Validator(schema).iter_errors(told))


def test_junit_fits_its_schema_but_for_the_points_that_each_case_carries(verdicts):
    root = ET.fromstring(junit.render(verdicts))
    for case in root.iter("testcase"):
        for properties in case.findall("properties"):  # outside the schema, as pytest's own record_property is
            case.remove(properties)

    assert [error.reason for error in xmlschema.XMLSchema(SCHEMAS / "junit-10.xsd").iter_errors(ET.tostring(root, encoding="unicode"))] == []


def test_junit_s_suites_count_their_cases(verdicts):
    for suite in ET.fromstring(junit.render(verdicts)).iter("testsuite"):
        counted = {"tests": len(suite.findall("testcase")), **{name: len(suite.findall(f"testcase/{child}")) for name, child in
                                                              (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))}}
        assert {name: int(suite.attrib[name]) for name in counted} == counted
