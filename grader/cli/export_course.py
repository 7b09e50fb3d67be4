"""``attngrade export gradescope`` and ``github-classroom``: what a course platform needs to grade exercises by itself."""

from __future__ import annotations

import io
import zipfile
from importlib.resources import files
from pathlib import Path

import click

from ..errors import UsageProblem
from .plain import say

EXERCISES = click.option("--exercise", "exercises", multiple=True, required=True, metavar="EXERCISE", help="An exercise to grade (repeat it).")

SETUP = """#!/usr/bin/env bash
# Runs once, when Gradescope builds the image.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq bubblewrap python3.11 python3.11-venv
python3.11 -m venv /autograder/venv
/autograder/venv/bin/pip install --quiet {requirements}
"""

RUN = """#!/usr/bin/env bash
# Gradescope calls this for every submission; the results are written once, at the end. A fault of the grader writes no score.
set -uo pipefail
mkdir -p "${{AUTOGRADER:-/autograder}}/results"
export PYTHONPATH="${{AUTOGRADER:-/autograder}}/source/package" ATTNGRADE_HOME=/tmp/attngrade
exec "${{ATTNGRADE_PYTHON:-/autograder/venv/bin/python}}" -m attngrade.course gradescope \\
  --submission "${{AUTOGRADER:-/autograder}}/submission" --output "${{AUTOGRADER:-/autograder}}/results/results.json" {exercises}
"""

WORKFLOW = """# Grades on every push and reports the points to GitHub Classroom.
name: Autograding
on: [push, repository_dispatch]
permissions:
  checks: write
  actions: read
  contents: read
jobs:
  grade:
    runs-on: ubuntu-latest
    if: github.actor != 'github-classroom[bot]'
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.11"
      - run: sudo apt-get update -qq && sudo apt-get install -y -qq bubblewrap && pip install --quiet attngrade
{steps}
      - uses: classroom-resources/autograding-grading-reporter@v1
        env:
{environment}
        with:
          runners: {runners}
"""

STEP = """      - id: {id}
        run: python -m attngrade.course github-classroom --submission . --exercise {exercise}
"""


@click.command("gradescope", epilog="Example: attngrade export gradescope --exercise 3 --output autograder.zip")
@EXERCISES
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), default="autograder.zip", show_default=True)
def gradescope(exercises: tuple[str, ...], output: Path) -> None:
    """An autograder zip for Gradescope: setup.sh, run_autograder, and this package beside them."""
    from ..catalog import builtin
    from ..workspace import write_beside

    chosen = [builtin().find(name) for name in exercises]
    requirements = " ".join(["click", "numpy", "pytest", "pyyaml", "jinja2", "'fsrs>=6,<7'"] + (["torch"] if any(e.framework == "torch" for e in chosen) else [])
                            + (["triton"] if any(e.gpu for e in chosen) else []))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        _script(archive, "setup.sh", SETUP.format(requirements=requirements))
        _script(archive, "run_autograder", RUN.format(exercises=" ".join(f"--exercise {e.id}" for e in chosen)))
        for path, inside in package_files():
            archive.write(path, f"package/{inside}")
    try:
        write_beside(output, packed.getvalue())
    except OSError as error:
        raise UsageProblem(f"{output} can't be written ({error.strerror}). Choose another --output.") from None
    say(f"Wrote {output}: upload it as it is (Configure Autograder, Zip file upload).")


def _script(archive: zipfile.ZipFile, name: str, text: str) -> None:
    told = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
    told.external_attr = 0o755 << 16
    told.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(told, text)


def package_files() -> list[tuple[Path, str]]:
    """Every file of the installed package with its place in a plain folder that Python can import from."""
    found = []
    for package in ("attngrade", "attngrade.exercises", "attngrade.solutions", "attngrade.questions"):
        root = Path(str(files(package)))
        for path in sorted(root.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc":
                found.append((path, f"{package.replace('.', '/')}/{path.relative_to(root)}"))
    return list({inside: (path, inside) for path, inside in found}.values())


@click.command("github-classroom", epilog="Example: attngrade export github-classroom --exercise 3 --output .github/workflows/classroom.yml")
@EXERCISES
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), default="classroom.yml", show_default=True)
def github_classroom(exercises: tuple[str, ...], output: Path) -> None:
    """A workflow for GitHub Classroom that reports the points of each exercise."""
    from ..catalog import builtin
    from ..workspace import write_beside

    chosen = [builtin().find(name) for name in exercises]
    names = [e.id for e in chosen]
    text = WORKFLOW.format(
        steps="".join(STEP.format(id=name, exercise=name) for name in names).rstrip(), runners=",".join(names),
        environment="\n".join(f"          {name.upper()}_RESULTS: ${{{{ steps.{name}.outputs.result }}}}" for name in names),
    )
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        write_beside(output, text.encode())
    except OSError as error:
        raise UsageProblem(f"{output} can't be written ({error.strerror}). Choose another --output.") from None
    say(f"Wrote {output}: commit it as .github/workflows/classroom.yml in the assignment's template.")


EXPORTS = [gradescope, github_classroom]
