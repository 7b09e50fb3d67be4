"""The invariants of grader/README.md that can be read off the source."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import attngrade
import pytest
from attngrade.catalog import builtin

ENGINE = Path(attngrade.__file__).parent
CONTENT = ("checks/", "misconceptions/")
PURE = ["verdict.py", "diagnosis", "render", "quiz/mark.py", "quiz/schedule.py", "quiz/marking"]


def engine_files() -> list[Path]:
    return [path for path in sorted(ENGINE.rglob("*.py")) if not str(path.relative_to(ENGINE)).startswith(CONTENT) or path.name in ("__init__.py", "claims.py", "reading.py")]


@pytest.mark.parametrize("path", engine_files(), ids=lambda p: str(p.relative_to(ENGINE)))
def test_no_engine_file_knows_an_exercise_by_its_functions(path):
    code = ast.parse(path.read_text(encoding="utf-8"))
    words = {node.value for node in ast.walk(code) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    words |= {node.id for node in ast.walk(code) if isinstance(node, ast.Name)}

    known = {e.id for e in builtin().exercises} | {e.module for e in builtin().exercises}
    assert not words & known


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add("." * node.level + (node.module or ""))
    return names


@pytest.mark.parametrize("room", PURE)
def test_pure_rooms_read_no_clock_and_start_nothing(room):
    files = [ENGINE / room] if room.endswith(".py") else sorted((ENGINE / room).rglob("*.py"))

    used = {name for file in files for name in imported(file)}
    clocks = {node.attr for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.Attribute)}
    assert not used & {"time", "subprocess", "socket", "os", "tempfile", "shutil"}
    assert not clocks & {"now", "utcnow", "today", "perf_counter", "monotonic"}


def test_nothing_in_the_engine_unpickles():
    used = {name for path in engine_files() for name in imported(path)}

    assert not used & {"pickle", "dill", "cloudpickle", "marshal", "shelve"}


def test_hidden_checks_import_neither_torch_nor_the_solutions():
    for path in sorted((ENGINE / "checks").glob("*.py")):
        assert not any(name.split(".")[0] == "torch" or "solutions" in name for name in imported(path)), path.name


@pytest.mark.parametrize("arguments", [["--help"], ["check", "--help"], ["--version"], ["list", "--help"]], ids=" ".join)
def test_help_imports_nothing_heavy(arguments):
    code = f"import sys; sys.argv = ['attngrade', *{arguments!r}]\nfrom attngrade.__main__ import main\ntry: main()\nexcept SystemExit: pass\n" \
           "print('HEAVY', sorted({'numpy', 'torch', 'pytest', 'yaml', 'triton'} & set(sys.modules)))"

    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.strip().splitlines()[-1] == "HEAVY []"


def test_checking_imports_no_torch_on_the_host():
    solution = builtin().find("1").solution
    code = f"import sys\nfrom attngrade.cli import cli\ncli.main(['check', '1', '--file', {str(solution)!r}, '--format', 'json'], standalone_mode=False)\nprint('torch' in sys.modules)"

    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.strip().endswith("False")
