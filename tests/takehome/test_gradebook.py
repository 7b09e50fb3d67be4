"""A graded batch goes into Moodle: one row per known user, grades on its scale, nothing that a spreadsheet would run or a browser would render."""

from __future__ import annotations

import csv
import html
import io
import json
import re

import pytest
from attngrade.errors import UsageProblem
from attngrade.takehome.batch import Task, fault
from attngrade.takehome.gradebook import gradebook, read_roster, worksheet

from tests.takehome.world import FILE, RIGHT, WRONG, attngrade

HEAD = ["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Grade can be changed", "Last modified (grade)", "Feedback comments"]
SHEET = [
    HEAD, ["Participant 71", "Ada Lovelace", "ada@example.org", "Submitted", "", "100.00", "Yes", "-", ""],
    ["Participant 72", "Bob  Stone", "bob@example.org", "Submitted", "", "100.00", "Yes", "Monday, 30 November 2026", ""],
    ["Participant 73", "Cy Two", "cy@example.org", "No submission", "", "100.00", "Yes", "-", ""],
    ["Participant 74", "Cy Two", "cy2@example.org", "No submission", "", "100.00", "Yes", "-", ""],
]


def record(candidate, score=1.0, **more):
    return {"candidate": candidate, "score": score, "max_score": 2.0, "problem": "", "remarks": ["exercise02 answers another variant"], **more,
            "exercises": [{"exercise": "exercise02", "title": "Softmax", "verdict": "failed", "score": 10.0, "max_score": 40.0,
                           "misconceptions": [{"id": "x", "message": "Your rows\nshare a sum.\n\nWhy: secret"}]}],
            "answers": [{"question": "qk-norm", "score": 0.75, "max_score": 1.0}]}


def table(text):
    return list(csv.reader(io.StringIO(text)))


def sheet_text(rows=SHEET):
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue()


def test_a_row_has_identifier_total_parts_and_feedback():
    text, remarks = gradebook([record("ada@example.org")], "Take-home", "email", 100.0)

    assert table(text) == [["Email address", "Take-home", "exercise02", "qk-norm", "Feedback"],
                           ["ada@example.org", "50.0", "25.0", "75.0", "Softmax: failed, 10 of 40. Your rows share a sum.<br>qk-norm: 75%."]]
    assert remarks == []


def test_what_is_said_to_the_team_is_not_said_to_the_candidate():
    assert "variant" not in gradebook([record("ada")], "Take-home", "username", 100.0)[0]


@pytest.mark.parametrize(("candidate", "why"), [("ada", "no email address"), ("=cmd()@x.org", "leaves alone"), ("a\u202eb@x.org", "leaves alone"), ("a b@x.org", "no email")])
def test_a_return_that_moodle_could_not_place_stays_out_since_it_would_end_the_import(candidate, why):
    text, remarks = gradebook([record(candidate), record("bob@example.org")], "Take-home", "email", 100.0)

    assert [row[0] for row in table(text)[1:]] == ["bob@example.org"]
    assert len(remarks) == 1 and why in remarks[0]


def test_two_returns_of_one_user_both_stay_out():
    text, remarks = gradebook([record("1"), record("2"), record("3")], "Take-home", "username", 10.0, {"1": "ada", "2": "Ada", "3": "bob"})

    assert [row[0] for row in table(text)[1:]] == ["bob"] and len(remarks) == 2


def test_feedback_is_inert_in_a_browser_and_in_a_spreadsheet():
    told = record("ada", problem='=HYPERLINK("http://x")<img src=x onerror=alert(1)>\x1b[31m')
    cell = table(gradebook([told], "+title", "username", 100.0)[0])

    assert "<img" not in cell[1][-1] and "\x1b" not in cell[1][-1] and not cell[1][-1].startswith("=") and cell[0][1] == "'+title"


def test_what_stands_behind_a_semicolon_in_feedback_reads_the_same_and_begins_no_formula():
    cell = table(gradebook([record("ada", problem="a < = -b;=1+1; = =2")], "T", "username", 100.0)[0])[1][-1]

    assert not re.search(r"; *[=+@-]", cell) and html.unescape(cell).startswith("a < = -b;=1+1; = =2<br>")


def test_a_name_with_a_formula_in_it_is_no_name_and_a_return_that_was_not_graded_gets_no_grade():
    spoilt, good, failed = record("x;=1+1;@y.org"), record("ada@example.org"), json.loads(fault(Task("bob@example.org", "b", None, None), TypeError("why")))

    text, remarks = gradebook([failed, spoilt, good], "T", "email", 100.0)
    sheet, left_out = worksheet([{**failed, "candidate": "Ada_71_assignsubmission_file_"}], sheet_text(), 100.0)

    assert [row[0] for row in table(text)] == ["Email address", "ada@example.org"] and table(text)[0][2:] == ["exercise02", "qk-norm", "Feedback"]
    assert len(remarks) == 2 and "grade the batch again" in remarks[0] and "that a spreadsheet leaves alone" in remarks[1]
    assert [row[4] for row in table(sheet)[1:]] == [""] * 4 and "grade the batch again" in left_out[0]


def test_a_grade_is_a_number_within_the_scale():
    rows = table(gradebook([record("a", 0.0), record("b", 2.0), record("c", 2.0 / 3)], "T", "username", 20.0)[0])

    assert [float(row[1]) for row in rows[1:]] == [0.0, 20.0, pytest.approx(20 / 3, abs=1e-4)]


def test_an_empty_batch_has_a_heading():
    assert table(gradebook([], "T", "idnumber", 100.0)[0]) == [["ID number", "T", "Feedback"]]


def test_a_worksheet_gets_grades_and_comments_and_keeps_everything_else():
    text, remarks = worksheet([record("Ada Lovelace_71_assignsubmission_file"), record("bob_stone")], "\ufeff" + sheet_text(), 100.0)

    rows = table(text)
    assert rows[0] == HEAD and [row[4] for row in rows[1:]] == ["50", "50", "", ""]
    assert [[cell for place, cell in enumerate(row) if place not in (4, 8)] for row in rows[1:3]] == [[*row[:4], *row[5:8]] for row in SHEET[1:3]]
    assert rows[1][8].startswith("Softmax") and rows[3] == SHEET[3] and remarks == []


@pytest.mark.parametrize("candidates", [["Cy Two"], ["nobody"], ["Ada Lovelace", "Ada_71_assignsubmission_file_"]])
def test_a_worksheet_takes_no_return_whose_row_is_not_certain(candidates):
    text, remarks = worksheet([record(name) for name in candidates], sheet_text(), 100.0)

    assert [row[4] for row in table(text)[1:]] == [""] * 4 and len(remarks) == 1


@pytest.mark.parametrize("text", ["", "Full name,Grade\nAda,\n"])
def test_a_worksheet_without_its_columns_is_told_with_where_to_get_one(text):
    with pytest.raises(UsageProblem, match="Download grading worksheet"):
        worksheet([], text, 100.0)


def test_a_roster_is_read_under_moodle_s_own_headings_too(tmp_path):
    (tmp_path / "r.csv").write_text("\ufeffcandidate,Email address\nada, ada@example.org\n", encoding="utf-8")
    (tmp_path / "bad.csv").write_text("who,mail\n")

    assert read_roster(tmp_path / "r.csv", "email") == {"ada": "ada@example.org"}
    with pytest.raises(UsageProblem, match="column `candidate`"):
        read_roster(tmp_path / "bad.csv", "email")


def test_the_command_takes_overrides_in(kit, tmp_path):
    (tmp_path / "in").mkdir()
    for name, source in (("ada@example.org", RIGHT), ("bob", WRONG)):
        (tmp_path / "in" / name).mkdir()
        (tmp_path / "in" / name / FILE).write_text(source)
    attngrade("takehome", "grade", tmp_path / "in", "--kit", kit, "--results", tmp_path / "out", "--jobs", "1")
    (tmp_path / "out" / "overrides.yaml").write_text('ada@example.org:\n  exercise02: {score: 20, note: "half"}\n')

    told = attngrade("export", "moodle-grades", kit, "--results", tmp_path / "out", "--output", tmp_path / "g.csv")
    rows = table((tmp_path / "g.csv").read_text(encoding="utf-8"))
    assert "bob is left out" in told and len(rows) == 2 and float(rows[1][2]) == 50.0 and "Reviewer: half" in rows[1][-1]
