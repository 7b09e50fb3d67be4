"""What is declared is what is imported; an extra that is missing is named with the line that installs it; each works without the others."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import attngrade
import pytest

from scripts.licences import declared

ROOT = Path(__file__).resolve().parents[2]
MODULES = {"anki": "genanki", "cluster": "distributed", "notebook": "IPython", "plots": "matplotlib"}  # extra -> what it brings
NAMES = {"yaml": "pyyaml", "IPython": "ipython"}  # where a module is called otherwise than its package
BESIDE = {path.stem for room in ("grader/sandbox", "exercises") for path in (ROOT / room).glob("*.py")}  # files that lie side by side, in a jail and in a kit
GUARD = "import sys\nfor name in {blocked!r}: sys.modules[name] = None\nfrom attngrade.__main__ import main\nsys.argv = ['attngrade', *{arguments!r}]\nmain()"


def run(folder: Path, blocked: list[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "ATTNGRADE_HOME": str(folder / "home"), "OMP_NUM_THREADS": "1"}
    code = GUARD.format(blocked=blocked, arguments=list(arguments))
    return subprocess.run([sys.executable, "-c", code], cwd=folder, env=environ, capture_output=True, text=True, check=False)


def third_party(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add((node.module or "").split(".")[0])
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "import_module" and isinstance(node.args[0], ast.Constant):
            names.add(str(node.args[0].value).split(".")[0])
    return names - set(sys.stdlib_module_names) - BESIDE - {"attngrade", ""}


def test_every_import_is_declared_and_every_declaration_is_imported():
    homes = [ROOT / room for room in ("grader", "exercises", "solutions", "questions")]
    used = {NAMES.get(name, name) for home in homes for path in home.rglob("*.py") for name in third_party(path)}
    extras = {name for extra in MODULES for name in declared()[extra] if name != "ipython"}  # a notebook brings itself

    assert used <= {*declared()[""], *extras}
    assert set(declared()[""]) | extras <= used


def test_dev_brings_every_extra_that_a_command_needs():
    brought = set(declared()["dev"])

    assert {name for extra in ("anki", "cluster", "plots") for name in declared()[extra]} <= brought
    assert "ipykernel" in brought  # and IPython with it


@pytest.mark.parametrize(("extra", "arguments"), [
    ("anki", ["export", "anki", "--output", "cards.apkg"]),
    ("plots", ["plot", "1", "--reference", "--output", "picture.svg"]),
    ("cluster", ["takehome", "grade", "kit/candidate", "--kit", "kit", "--cluster", "tcp://127.0.0.1:1"]),
    ("notebook", ["doctor"]),
])
def test_a_command_without_its_extra_says_what_to_install(tmp_path, extra, arguments):
    if extra == "cluster":
        run(tmp_path, [], "takehome", "new", "kit", "--exercise", "1", "--question", "qk-norm")
    told = run(tmp_path, [MODULES[extra]], *arguments)

    assert f"pip install 'attngrade[{extra}]'" in told.stdout + told.stderr
    assert "Traceback" not in told.stderr
    assert told.returncode in ((0,) if extra == "notebook" else (2, 3))


@pytest.mark.parametrize(("extra", "arguments"), [
    ("anki", ["export", "anki", "--output", "cards.apkg"]),
    ("plots", ["plot", "1", "--reference", "--output", "picture.svg"]),
    (None, ["check", "1", "--file", str(ROOT / "solutions" / "exercise01_variance.py")]),
    (None, ["mark", "qk-norm", "--answer", "The logit is bounded."]),
], ids=["anki", "plots", "none-check", "none-mark"])
def test_an_extra_works_alone_and_nothing_else_needs_one(tmp_path, extra, arguments):
    told = run(tmp_path, [module for name, module in MODULES.items() if name != extra], *arguments)

    assert told.returncode == 0, told.stderr


@pytest.mark.parametrize(("extra", "code"), [
    ("cluster", "from distributed import Client"),
    ("notebook", "from IPython.core.interactiveshell import InteractiveShell as S; s = S.instance(); s.run_line_magic('load_ext', 'attngrade'); assert s.find_cell_magic('attngrade')"),
])
def test_cluster_and_notebook_work_alone(extra, code):
    blocked = [module for name, module in MODULES.items() if name != extra]

    told = subprocess.run([sys.executable, "-c", f"import sys\nfor name in {blocked!r}: sys.modules[name] = None\n{code}"], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr


def test_the_version_stands_in_one_place():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    stated = [path for home in ("grader", "scripts", "benchmarks", "exercises", "solutions", "questions") for path in (ROOT / home).rglob("*.py")
              if f'"{attngrade.__version__}"' in path.read_text(encoding="utf-8")]

    assert project["project"]["dynamic"] == ["version"] and project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "attngrade.__version__"}
    assert stated == [ROOT / "grader" / "__init__.py"]


def test_every_package_of_the_house_is_in_the_wheel():
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"])
    there = {".".join(("attngrade", *path.parent.relative_to(ROOT / "grader").parts)) for path in (ROOT / "grader").rglob("__init__.py") if "pack" not in path.parent.parts}

    assert there <= listed
    assert listed - there == {"attngrade.exercises", "attngrade.solutions", "attngrade.questions"}
