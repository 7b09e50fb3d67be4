"""CSV and TSV, read back by ordinary readers."""

from __future__ import annotations

import csv
import io

from attngrade.export.tables import ANKI_COLUMNS, COLUMNS, as_csv, as_tsv
from attngrade.quiz.question import Question

from .conftest import make


def test_csv_comes_back_row_by_row(questions: list[Question]) -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(questions))))

    assert list(rows[0]) == list(COLUMNS)
    assert [row["id"] for row in rows] == [question.id for question in questions]
    assert "d_k grows like 10^6.\n\nThen a < b" in rows[0]["answer"]
    assert "tempting" in rows[1]["prompt"]


def test_a_cell_that_a_spreadsheet_would_run_is_text() -> None:
    row = list(csv.reader(io.StringIO(as_csv([make("x", prompt='=HYPERLINK("http://a.example")')]))))[1]

    assert row[4].startswith("'=")


def test_tsv_has_one_line_a_question_and_four_fields(questions: list[Question]) -> None:
    lines = [line for line in as_tsv(questions).splitlines() if not line.startswith("#")]

    assert len(lines) == len(questions)
    assert {line.count("\t") for line in lines} == {len(ANKI_COLUMNS) - 1}
