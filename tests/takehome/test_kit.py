"""A kit holds what a candidate needs and nothing that would give the answers away."""

from __future__ import annotations

import subprocess
import sys
import zipfile

import pytest
import yaml
from attngrade.catalog import builtin
from attngrade.errors import PackProblem, UsageProblem

from tests.takehome.world import FILE, RIGHT, attngrade


def test_the_candidate_gets_stub_examples_questions_statement_script_and_manifest(kit):
    names = {path.name for path in (kit / "candidate").iterdir()}

    assert names == {FILE, "test_exercise02.py", "answers.yaml", "README.md", "pack.py", "manifest.json"}


def test_no_solution_check_misconception_or_secret_is_in_the_kit(kit):
    text = "\n".join(path.read_text(encoding="utf-8") for path in (kit / "candidate").iterdir())
    exercise = builtin().find("2")
    hidden = [(kit / "secret.key").read_text()]
    for path in (exercise.solution, exercise.checks, exercise.misconceptions):
        shown = set(exercise.stub.read_text(encoding="utf-8").splitlines()) | set((kit / "candidate" / "test_exercise02.py").read_text().splitlines())
        hidden += [line for line in path.read_text(encoding="utf-8").splitlines() if len(line.strip()) > 40 and line not in shown]

    assert not [line for line in hidden if line in text]


def test_the_kit_does_not_mention_the_tool(kit):
    assert not [path.name for path in (kit / "candidate").iterdir() if "attngrade" in path.read_text(encoding="utf-8")]


def test_the_examples_pass_for_a_right_file_and_fail_for_the_stub(kit, tmp_path):
    for name in ("test_exercise02.py", FILE):
        (tmp_path / name).write_text((kit / "candidate" / name).read_text(encoding="utf-8"), encoding="utf-8")
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]

    assert subprocess.run(run, capture_output=True, cwd=tmp_path).returncode == 1
    (tmp_path / FILE).write_text(RIGHT, encoding="utf-8")
    assert subprocess.run(run, capture_output=True, cwd=tmp_path).returncode == 0


def test_the_pack_script_makes_an_archive_with_the_work_in_it(kit, tmp_path):
    for path in (kit / "candidate").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())

    subprocess.run([sys.executable, "pack.py", "Ada Lovelace"], cwd=tmp_path, check=True, capture_output=True)
    assert sorted(zipfile.ZipFile(tmp_path / "Ada_Lovelace.zip").namelist()) == ["Ada_Lovelace/answers.yaml", f"Ada_Lovelace/{FILE}"]


def test_a_second_new_overwrites_nothing(kit):
    with pytest.raises(UsageProblem, match="is there already"):
        attngrade("takehome", "new", kit)


def test_a_broken_plan_is_told_with_all_its_problems(kit, tmp_path):
    table = yaml.safe_load((kit / "takehome.yaml").read_text())
    table |= {"exercises": [{"exercise": "exercise99"}], "deadline": "soon", "colour": "red", "limits": {"timeout_s": -1}}
    (tmp_path / "takehome.yaml").write_text(yaml.safe_dump(table))

    with pytest.raises(PackProblem) as told:
        attngrade("takehome", "build", tmp_path)
    assert len(told.value.problems) == 4
