"""README.md: every command in it runs, in the order of the page; its numbers and tables are what the files say."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
from attngrade.catalog import builtin

from scripts import figures
from tests.docs.shell import faults, sections

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
INSTEAD = {  # what is not run as it stands -> (what is run in its place, why)
    "make check": (f"make --dry-run -C {ROOT} check", "it installs the environment that this test runs in"),
    "make test": (f"make --dry-run -C {ROOT} test", "it would run this test"),
    "pip install .": (f"{sys.executable} -m pip install --help", "scripts/release_check.sh installs the wheel for real"),
}
KEYS = {"attngrade watch": b"q", "attngrade quiz --topic masks": b":quit\r"}  # these wait for a person at a terminal
CODES = {  # exit codes other than 0 -> why
    "attngrade check 3": (1, "nothing is written yet"),
    "attngrade check 3 --workspace my_attention --format junit --output report.xml": (1, "nothing is written yet"),
}


def test_every_command_of_the_readme_runs(tmp_path):
    found = [fault for section in sections(README) for fault in faults(section, tmp_path, tmp_path / "home", instead=INSTEAD, keys=KEYS, codes=CODES)]

    assert not found, "\n\n".join(found)


def test_what_the_page_treats_differently_is_on_the_page():
    commands = {command for section in sections(README) for command in section}

    assert {*INSTEAD, *KEYS, *CODES} <= commands


def test_no_command_hides_outside_the_blocks_that_are_run():
    fences = re.findall(r"^```(\w*)", README, re.M)[::2]

    assert set(fences) == {"sh"}
    assert not re.search(r"^ {4}(\$|attngrade|make|pip) ", README, re.M)


def test_the_table_lists_every_exercise_and_what_it_needs():
    rows = re.findall(r"^\| (\d\d) [^|]+\|[^|]+\| ([^|]+) \|$", README, re.M)

    assert [number for number, _ in rows] == [f"{exercise.number:02d}" for exercise in builtin().exercises]
    assert ["GPU" in needs for _, needs in rows] == [exercise.gpu for exercise in builtin().exercises]
    assert ["NumPy" in needs for _, needs in rows] == [exercise.framework == "numpy" for exercise in builtin().exercises]


def test_the_number_of_questions_is_right():
    from attngrade.quiz.question import load_bank

    assert f"{len(load_bank().questions)} questions" in README


def test_the_figures_are_those_recorded():
    assert figures.filled(README, figures.block()) == README, "run `make figures`"
    assert figures.CHECKS.read_text(encoding="utf-8") == figures.table(figures.recorded(figures.VERIFIED)), "run `make figures`"


def test_figures_can_be_filled_in_again_and_again():
    once = figures.filled(f"before\n{figures.OPEN}\nold\n{figures.CLOSE}\nafter\n", "new | table")

    assert once == f"before\n{figures.OPEN}\nnew | table\n{figures.CLOSE}\nafter\n"
    assert figures.filled(once, "new | table") == once


@pytest.mark.parametrize("page", ["", figures.OPEN, f"{figures.CLOSE}"])
def test_a_page_without_its_marks_is_refused(page):
    with pytest.raises(SystemExit, match="one <!-- figures -->"):
        figures.filled(page, "new")


def test_a_record_makes_the_table_that_the_command_writes():
    one = {"exercise": "exercise09", "problems": [], "remarks": [], "table": {"upside-down": ["b", "a"]}, "functions": {"upside-down": "flip"}, "checks": ["a", "b"],
           "right": 3, "warm_s": 0.1, "total_s": 1.0}

    assert "| `upside-down` | `flip` | a, b |" in figures.table({"exercises": [one], "strays": []})
    assert "| exercise09 | 3 | 1 | 2 | 0 |" in "\n".join(figures.content({"date": "2026-11-30", "exercises": [one]}))


def test_a_kernel_in_the_interpreter_makes_no_row():
    assert "not measured yet" in figures.kernel({"card": None, "torch": "2", "rows": []})[0]


def test_a_kernels_record_makes_a_row():
    row = {"shape": [2, 16, 4096, 64], "causal": True, "ours_ms": 1.25, "ours_tflops": 440.4, "torch_flash_ms": 1.0, "ratio": 0.8}

    told = figures.kernel({"card": "H200", "torch": "2", "dtype": "torch.bfloat16", "rows": [row, {**row, "torch_cudnn_ms": 0.9}]})
    assert "| 2, 16, 4096, 64 | yes | 1.25 | 440 | 1 |  | 0.80 |" in told
    assert "| 2, 16, 4096, 64 | yes | 1.25 | 440 | 1 | 0.9 | 0.80 |" in told


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_knows_every_target_that_the_pages_name():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    named = {name for page in pages for name in re.findall(r"`make (\w+)", page.read_text(encoding="utf-8"))}

    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    assert named <= targets
