"""grader/README.md is true: its invariants name tests that exist, its code map lists every room once, and rooms know only what they may."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "grader"
PAGE = (ENGINE / "README.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
EXECUTES = {  # who runs source that is data to the engine, and whose
    "sandbox/worker.py": "the submission's, in the jail", "sandbox/relaunch.py": "the head and body of its kernels, in a jail of their own", "sandbox/frontend.py": "a kernel of its own, by which it sees that it can read", "sandbox/rehearse.py": "the pack's own, in the trusted worker",
    "plot/own.py": "the pack's own drawers", "grading/variants.py": "the pack's own conventions",
}
KNOWS = {  # room -> rooms that it may import beside errors, for types too; "." is the package's version
    "verdict": set(), "catalog": set(), "workspace": {"catalog"}, "store": set(),
    "sandbox": {"misconceptions"},  # the trusted worker casts them
    "grading": {"catalog", "checks", "sandbox", "verdict"}, "diagnosis": {"catalog", "sandbox", "verdict"},
    "render": {".", "quiz", "verdict", "verify"}, "quiz": {"store"}, "export": {"quiz", "render"}, "doctor": {"sandbox", "store"},
    "verify": {"catalog", "diagnosis", "grading", "proofread", "sandbox", "verdict"}, "plot": {"catalog", "grading", "render", "sandbox", "store", "workspace"},
    "watching": {"catalog", "diagnosis", "grading", "render", "sandbox", "verdict", "workspace"},
    "takehome": {"catalog", "diagnosis", "grading", "quiz", "render", "sandbox", "verdict", "workspace"},
}
ROOMS = {path.stem if path.is_file() else path.name for path in ENGINE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()} - {"__init__", "__main__"}


def sources(room: str) -> list[Path]:
    return [ENGINE / f"{room}.py"] if (ENGINE / f"{room}.py").exists() else sorted((ENGINE / room).rglob("*.py"))


def neighbours(path: Path) -> set[str]:
    """Rooms that a file imports, at run time or for types alone."""
    depth, found = len(path.relative_to(ENGINE).parts), set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == depth:
            found |= {(node.module or "").split(".")[0]} if node.module else {alias.name if alias.name in ROOMS else "." for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("attngrade."):
            found.add(str(node.module).split(".")[1])
    return found


@pytest.mark.parametrize(("file", "name"), NAMED, ids=lambda value: str(value).rpartition("/")[2])
def test_a_test_that_holds_an_invariant_exists(file, name):
    assert re.search(rf"^def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.M)


def test_each_of_the_eleven_invariants_is_held():
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \| ([^|]+) \|$", PAGE.partition("## Invariants")[2].partition("\n## ")[0], re.M)

    assert [int(number) for number, _, _ in rows] == list(range(1, 12))
    assert all("::test_" in held for _, _, held in rows)


def test_the_code_map_lists_every_room_once():
    listed = [name for row in re.findall(r"^\| (`[^|]+) \|", PAGE.partition("## Code map")[2].partition("\n## ")[0], re.M) for name in re.findall(r"`([\w./<>]+)`", row)]
    tops = [name.partition("/")[0].removesuffix(".py") for name in listed]

    assert set(tops) >= ROOMS
    assert len(listed) == len(set(listed))
    assert not [name for name in listed if "<" not in name and not (ENGINE / name).exists() and not list(ENGINE.glob(f"*/{name}"))]


def test_places_that_the_page_names_exist():
    named = set(re.findall(r"`((?:grader/|tests/|exercises/|questions/|cli/|render/|quiz/|takehome/|sandbox/|docs/)[\w/.]+\.\w+)`", PAGE))

    assert not [name for name in named if not (ROOT / name).exists() and not (ENGINE / name).exists()]


def test_source_is_executed_in_the_sandbox_alone():
    runs = re.compile(r"(?<![\w.])(?:exec|eval|__import__)\(|exec_module\(|runpy")
    running = {str(path.relative_to(ENGINE)) for path in ENGINE.rglob("*.py") if path.parent.name not in ("misconceptions", "checks") and runs.search(path.read_text(encoding="utf-8"))}

    assert running - {"sandbox/nest.py", "sandbox/offlimits.py", "sandbox/hollow.py"} == set(EXECUTES)  # those import packages ahead, and guard imports


def test_a_worker_knows_nothing_of_the_house():
    from attngrade.sandbox.jail import WORKER_FILES

    beside = {Path(name).stem for name in WORKER_FILES}
    for name in WORKER_FILES:
        tree = ast.parse((ENGINE / "sandbox" / name).read_text(encoding="utf-8"))
        relative = [name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level for name in ([node.module] if node.module else [a.name for a in node.names])]
        absolute = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level]
        absolute += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
        assert not [module for module in absolute if module.startswith("attngrade")], name
        assert set(relative) <= beside, name


@pytest.mark.parametrize("room", KNOWS)
def test_no_room_knows_of_those_that_use_it(room):
    known = {name for path in sources(room) for name in neighbours(path)} - {room, "errors", ""}

    assert known <= KNOWS[room]


def test_only_the_other_two_front_doors_know_the_command_line():
    assert {room for room in ROOMS - {"cli"} for path in sources(room) if "cli" in neighbours(path)} == {"course", "notebook"}
