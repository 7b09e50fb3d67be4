"""Files and functions that fit into a head. The list of exceptions only shrinks."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINES, FUNCTION = 250, 40
CONTENT = ("grader/misconceptions/", "grader/checks/check_", "tests/corpus/", "tests/redteam/attacks/", "solutions/", "exercises/")  # lists of small pieces: as long as the list
LONG = {  # file -> (lines that it may not pass, why it isn't parted)
    "grader/sandbox/worker.py": (610, "stands alone in the jail, and is read as one page by whoever audits it"),
    "grader/sandbox/proxy.py": (455, "one class: what a check can ask a submission"),
    "grader/sandbox/jail.py": (325, "the walls in the order in which they are put up"),
    "grader/sandbox/host.py": (300, "one class: a worker as its host sees it"),
    "grader/quiz/marking/expression.py": (375, "tokenizer, parser and sampling of one small language"),
    "grader/checks/claims.py": (345, "what check authors import, in one place"),
    "grader/cli/takehome.py": (340, "a family of commands"),
    "grader/quiz/mark.py": (275, "the course of a marking"),
    "grader/quiz/marking/words.py": (300, "tables of English words, and the stemmer that goes with them"),
    "grader/quiz/judge.py": (275, "a protocol with its refusals"),
    "tests/sandbox/test_jail.py": (425, "the jail from inside and from outside"),
    "tests/quiz_cli/test_judge.py": (350, "a fake server and every way in which it fails"),
    "tests/quiz_cli/test_terminal.py": (325, "keys and screens of one command"),
    "tests/watching/test_watching.py": (350, "an editor's saves, one after the other"),
    "tests/takehome/test_variants.py": (350, "kits, examples, grading and report of variants"),
}
FILES = [path for room in ("grader", "scripts", "benchmarks", "tests") for path in sorted((ROOT / room).rglob("*.py"))]
CODE = [path for path in FILES if not str(path.relative_to(ROOT)).startswith(CONTENT)]


def lines(path: Path) -> int:
    return path.read_text(encoding="utf-8").count("\n")


def test_code_files_are_short_but_for_those_listed_with_a_reason():
    long = {str(path.relative_to(ROOT)): lines(path) for path in CODE if lines(path) > LINES}

    assert not {name: count for name, count in long.items() if count > LONG.get(name, (LINES, ""))[0]}, "part the file by what it does"


@pytest.mark.parametrize("name", LONG)
def test_an_exception_that_is_no_longer_needed_leaves_the_list(name):
    ceiling, why = LONG[name]

    assert why and (ROOT / name).exists()
    assert lines(ROOT / name) > LINES - 25, f"{name} is short now: take it off the list"
    assert ceiling - lines(ROOT / name) <= 75, f"{name} has shrunk: lower its number"


def test_no_function_is_longer_than_a_screen():
    long = [f"{path.relative_to(ROOT)}:{node.lineno} {node.name}" for path in FILES if "corpus" not in path.parts and "attacks" not in path.parts
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (node.end_lineno or 0) - node.lineno + 1 > FUNCTION]

    assert not long, "part the function by what it does"
