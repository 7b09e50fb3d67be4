"""The tutorials: every command in them runs, in the order of the page, and links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.shell import faults, sections

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = ["learner", "hiring", "authors", "marking"]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "grader" / "README.md"])
INSTEAD = {"attngrade questions --evaluate": ("attngrade questions --evaluate qk-norm", "the whole bank is measured by `make figures`")}
KEYS = {"attngrade quiz --topic masks": b":quit\r"}
CODES = {"attngrade check 3": (1, "no exercise has been solved on these pages")}


@pytest.mark.parametrize("name", TUTORIALS)
def test_every_command_of_a_tutorial_runs(tmp_path, name):
    commands = [command for section in sections((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")) for command in section]

    found = faults(commands, tmp_path, tmp_path / "home", instead=INSTEAD, keys=KEYS, codes=CODES)
    assert commands and not found, "\n\n".join(found)


def test_pages_with_commands_are_those_that_are_run():
    assert {page.stem for page in (ROOT / "docs").rglob("*.md") if "```sh" in page.read_text(encoding="utf-8")} == set(TUTORIALS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_inside_the_house_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))

    assert not [target for target in targets if "://" not in target and not (page.parent / target).exists()]


def test_the_site_lists_every_page():
    listed = set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))

    assert listed == {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}


def test_the_mistake_of_the_learners_tutorial_is_named_as_the_page_says(graded):
    page = (ROOT / "docs" / "learner.md").read_text(encoding="utf-8")
    source = re.search(r"<<'PY'\n(.*?)^PY", page, re.M | re.S).group(1)

    quoted = re.search(r'\*"(.*?)"\*', page).group(1)
    assert any(" ".join(named.message.split()).startswith(quoted) for named in graded("exercise03", source).misconceptions)
