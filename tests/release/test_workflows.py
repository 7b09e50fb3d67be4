"""The workflow files: readable, pinned, with no more rights than they need, on the Pythons that the package says it works with."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = {path.stem: yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader) for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))}


def steps(workflow: str) -> list[dict[str, str]]:
    return [step for job in WORKFLOWS[workflow]["jobs"].values() for step in job["steps"]]


def test_there_is_one_for_tests_and_one_for_publishing():
    assert set(WORKFLOWS) == {"tests", "publish"}


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_action_is_pinned_to_a_major_and_every_job_has_an_end(name):
    assert all(re.search(r"@(v\d+|release/v\d+)$", step["uses"]) for step in steps(name) if "uses" in step)
    assert all("timeout-minutes" in job or job["needs"] for job in WORKFLOWS[name]["jobs"].values())


@pytest.mark.parametrize("name", WORKFLOWS)
def test_nothing_may_write_but_the_publishing_job_its_identity(name):
    assert WORKFLOWS[name]["permissions"] == {"contents": "read"}
    granted = [job["permissions"] for job in WORKFLOWS[name]["jobs"].values() if "permissions" in job]
    assert granted == ([{"id-token": "write"}] if name == "publish" else [])


def test_publishing_is_trusted_and_holds_no_token():
    job = WORKFLOWS["publish"]["jobs"]["publish"]

    assert job["environment"]["name"] == "pypi" and job["needs"] == "build"
    assert job["steps"][-1]["uses"].startswith("pypa/gh-action-pypi-publish@") and "with" not in job["steps"][-1]
    assert "secrets." not in (ROOT / ".github" / "workflows" / "publish.yml").read_text(encoding="utf-8")


def test_the_pythons_tested_are_those_that_the_package_names():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))

    assert WORKFLOWS["tests"]["jobs"]["tests"]["strategy"]["matrix"]["python"] == named
    assert project["requires-python"] == f">={named[0]}"


def test_what_the_workflows_run_is_in_the_repository():
    run = " ".join(step.get("run", "") for name in WORKFLOWS for step in steps(name))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")

    assert all((ROOT / path).exists() for path in re.findall(r"scripts/[\w.]+", run))
    assert all(f"\n{target}:" in makefile for target in re.findall(r"\bmake (\w+)", run))
    assert "make test" in run and "release" in re.search(r"^test: (.*?)##", makefile, re.M).group(1)


def test_the_tag_check_of_publishing_finds_the_version():
    from attngrade import __version__

    line = next(line for line in (ROOT / "grader" / "__init__.py").read_text(encoding="utf-8").splitlines() if re.match(r'^__version__ = "(.*)"$', line))
    assert line == f'__version__ = "{__version__}"'
