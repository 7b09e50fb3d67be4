"""The reference pages are what the code says, and what commands print is what the schemas say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from attngrade.doctor.findings import State
from attngrade.quiz.marking.records import CONTRADICTED, MET, NOT_DETECTED
from attngrade.quiz.question import KINDS
from attngrade.verdict import Outcome, Reason, Word

from scripts import licences, reference

SCHEMAS = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted((reference.DOCS / "schemas").glob("*.json"))}
WRONG = Path(__file__).resolve().parents[1] / "examples" / "top_left_mask.py"
BATCH = [{"question": "qk-norm", "answer": "Normalise q and k; the logit is bounded.", "who": "ada"}, {"question": "jacobian-max-norm", "answer": "0.5 +* 2"},
         {"question": "qk-norm", "answer": ""}]


def told(folder: Path, *arguments: str) -> str:
    environ = {**os.environ, "ATTNGRADE_HOME": str(folder / "home"), "OMP_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, "-m", "attngrade", *arguments], cwd=folder, env=environ, capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize(("name", "page"), reference.pages().items(), ids=lambda value: value if value.endswith(".md") else "")
def test_a_reference_page_is_what_is_generated(name, page):
    assert (reference.DOCS / name).read_text(encoding="utf-8") == page, "run `make docs`"


def test_every_command_is_on_the_page():
    from attngrade.cli import COMMANDS

    assert all(f"## attngrade {name}\n" in reference.commands() for name in COMMANDS)
    assert all("Example" in text for path, text in reference.walk(reference.cli, "attngrade") if path != "attngrade")


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_a_schema(name):
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])


@pytest.mark.parametrize(("name", "arguments"), [
    ("check", ["check", "exercise03", "--file", str(WRONG), "--format", "json"]), ("check", ["check", "1", "--file", os.devnull + "x", "--format", "json"]),
    ("list", ["list", "--format", "json"]), ("doctor", ["doctor", "--format", "json"]), ("questions", ["questions", "--format", "json"]),
    ("progress", ["progress", "--format", "json"]), ("mark", ["mark", "qk-norm", "--answer", "a norm", "--format", "json"]),
    ("plot", ["plot", "2", "--format", "json"]), ("plot", ["plot", "3", "--reference", "--format", "json"]),
    ("hint", ["hint", "3", "--format", "json"]), ("solution", ["solution", "3", "--give-up", "--format", "json"]),
], ids=lambda value: value if isinstance(value, str) else "")
def test_what_a_command_prints_fits_its_schema(tmp_path, name, arguments):
    printed = told(tmp_path, *arguments)

    if "devnull" in str(arguments) or os.devnull + "x" in arguments:
        assert printed == ""  # a usage error prints no half object
    else:
        jsonschema.validate(json.loads(printed), SCHEMAS[name])


def test_each_line_of_a_marked_batch_fits_its_schema(tmp_path):
    (tmp_path / "batch.json").write_text(json.dumps(BATCH))
    lines = told(tmp_path, "mark", "--batch", "batch.json", "--format", "json").splitlines()

    assert len(lines) == len(BATCH)
    for line in lines:
        jsonschema.validate(json.loads(line), SCHEMAS["mark"])


def test_a_verified_set_and_a_graded_take_home_fit_their_schemas(tmp_path):
    told(tmp_path, "pack", "new", "mine")
    jsonschema.validate(json.loads(told(tmp_path, "pack", "verify", "mine", "--format", "json")), SCHEMAS["verify"])

    told(tmp_path, "takehome", "new", "kit", "--exercise", "1", "--question", "qk-norm")
    told(tmp_path, "takehome", "grade", "kit/candidate", "--kit", "kit", "--jobs", "1")
    told(tmp_path, "takehome", "report", "kit")
    report = json.loads((tmp_path / "kit" / "report" / "report.json").read_text(encoding="utf-8"))
    assert report["results"]
    jsonschema.validate(report, SCHEMAS["report"])


def test_the_words_of_the_schemas_are_the_words_of_the_code():
    verdict = SCHEMAS["check"]["properties"]["results"]["items"]["properties"]
    point = SCHEMAS["mark"]["properties"]["points"]["items"]["properties"]

    assert verdict["verdict"]["enum"] == [word.value for word in Word] or set(verdict["verdict"]["enum"]) == set(Word)
    assert set(verdict["reason"]["enum"]) == {None, *Reason}
    assert set(verdict["checks"]["items"]["properties"]["outcome"]["enum"]) == set(Outcome)
    assert set(point["state"]["enum"]) == {MET, NOT_DETECTED, CONTRADICTED}
    assert set(SCHEMAS["doctor"]["properties"]["findings"]["items"]["properties"]["state"]["enum"]) == set(State)
    assert set(SCHEMAS["questions"]["items"]["properties"]["kind"]["enum"]) == set(KINDS)
    assert set(reference.REASONS) == set(Reason)


def test_every_declared_dependency_has_its_licence_on_the_page():
    page = (reference.DOCS / "licences.md").read_text(encoding="utf-8")

    for extra, names in licences.declared().items():
        assert not extra or f"## Extra `{extra}`" in page, "run `make docs`"
        assert all(f"| {name} | " in page for name in names), "run `make docs`"
    assert "not installed here" not in page and "not stated" not in page


@pytest.mark.parametrize("command", ["mark", "export anki"])
def test_the_page_says_what_help_says_at_80_columns(command):
    printed = subprocess.run([sys.executable, "-m", "attngrade", *command.split(), "--help"], env={**os.environ, "COLUMNS": "80"}, capture_output=True, text=True, check=True)

    assert dict(reference.walk(reference.cli, "attngrade"))[f"attngrade {command}"] == printed.stdout.rstrip("\n")
