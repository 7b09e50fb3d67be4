"""The autograder zip works in a folder laid out as Gradescope's, and GitHub Classroom's reporter gets what it needs."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import zipfile

import pytest
import yaml
from attngrade.course import main

from tests.takehome.world import FILE, RIGHT, attngrade


@pytest.fixture
def autograder(tmp_path):
    """/autograder as the platform lays it out, with the zip unpacked in source/."""
    for name in ("source", "submission", "results"):
        (tmp_path / name).mkdir()
    attngrade("export", "gradescope", "--exercise", "2", "--output", tmp_path / "autograder.zip")
    zipfile.ZipFile(tmp_path / "autograder.zip").extractall(tmp_path / "source")
    return tmp_path


def run(autograder):
    environment = {**os.environ, "AUTOGRADER": str(autograder), "ATTNGRADE_PYTHON": sys.executable}
    code = subprocess.run(["bash", str(autograder / "source" / "run_autograder")], env=environment, capture_output=True, cwd=autograder).returncode
    return code, json.loads((autograder / "results" / "results.json").read_text())


def test_a_right_submission_gets_all_the_points(autograder):
    (autograder / "submission" / FILE).write_text(RIGHT)

    code, told = run(autograder)
    assert code == 0 and told["score"] == sum(test["max_score"] for test in told["tests"])


def test_a_missing_file_is_a_zero_with_a_sentence(autograder):
    code, told = run(autograder)

    assert (code, told["score"]) == (0, 0) and "not in what was handed in" in told["tests"][0]["output"]


def test_scripts_are_executable_and_stand_at_the_root_of_the_zip(autograder):
    listed = {item.filename: item.external_attr >> 16 for item in zipfile.ZipFile(autograder / "autograder.zip").infolist()}

    assert listed["setup.sh"] & 0o111 and listed["run_autograder"] & 0o111


def test_the_reporter_gets_at_least_one_test_with_a_numeric_score(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("GITHUB_OUTPUT", raising=False)

    assert main(["github-classroom", "--submission", str(tmp_path), "--exercise", "2"]) == 0
    told = json.loads(base64.b64decode(capsys.readouterr().out.strip().removeprefix("result=")))
    assert told["status"] == "fail" and told["tests"] and all(isinstance(test["score"], (int, float)) for test in told["tests"])


def test_the_workflow_has_a_step_and_a_result_for_each_exercise(tmp_path):
    attngrade("export", "github-classroom", "--exercise", "2", "--exercise", "3", "--output", tmp_path / "w.yml")
    steps = yaml.safe_load((tmp_path / "w.yml").read_text())["jobs"]["grade"]["steps"]

    assert steps[-1]["with"]["runners"] == "exercise02,exercise03"
    assert set(steps[-1]["env"]) == {"EXERCISE02_RESULTS", "EXERCISE03_RESULTS"}
