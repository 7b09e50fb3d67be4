"""Everything wrong fails, and what a file says of its mistake is what its author is told. (What is right of ours passes: tests/packs/test_builtin.py.)"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from attngrade.catalog import Exercise, builtin
from attngrade.verdict import Word

CORPUS = Path(__file__).resolve().parent.parent / "corpus"
WHOLE = "ATTNGRADE_WHOLE_CORPUS" in os.environ  # `make corpus`: every file; `make test`, which has ten minutes, takes a share
SLOW_S, QUICK_STRIDE, SLOW_STRIDE = 3.0, 9, 50


@dataclass(frozen=True)
class Case:
    """A submission: a file, or the edits of one."""

    exercise: Exercise
    name: str
    file: Path
    told: tuple[str, str] | None = None  # "names" or "says", and which or what
    edits: tuple[tuple[str, str], ...] = ()

    def text(self) -> str:
        """The submission's text; one that says so stands behind the solution, whose functions it spoils."""
        text = self.file.read_text(encoding="utf-8")
        for old, new in self.edits:
            assert text.count(old) == 1, f"{self.name}: {self.file.name} has this {text.count(old)} times: {old}"
            text = text.replace(old, new)
        return f"{self.exercise.solution.read_text(encoding='utf-8')}\n\n{text}" if re.search(r"^# behind: the solution$", text, re.M) else text


def cases(exercise: Exercise, kind: str) -> list[Case]:
    """The wrong or the right submissions of an exercise: its files, then edits.yaml. Of a slow one (its kernel runs in an interpreter) a smaller share."""
    room = CORPUS / exercise.slug
    found = [Case(exercise, path.stem, path, told_by(path)) for path in sorted((room / kind).glob("*.py"))]
    listed = room / "edits.yaml"
    for row in yaml.safe_load(listed.read_text(encoding="utf-8")) if listed.exists() else ():
        if ("right" in row) == (kind == "right"):
            told = next(((word, row[word]) for word in ("names", "says") if word in row), None)
            edits = tuple((edit["old"], edit["new"]) for edit in row["edits"])
            found.append(Case(exercise, row["name"], room / row["of"] if "of" in row else exercise.solution, told, edits))
    return found if WHOLE else found[:: QUICK_STRIDE if exercise.budget_s <= SLOW_S else SLOW_STRIDE]


def told_by(path: Path) -> tuple[str, str] | None:
    """What the head of a wrong file says that its author is told."""
    told = re.search(r"^# (names|says): (.+)$", path.read_text(encoding="utf-8"), re.M)
    return (told[1], told[2]) if told else None


def each(kind: str) -> pytest.MarkDecorator:
    """A test for each submission."""
    found = [case for exercise in builtin().exercises for case in cases(exercise, kind)]
    return pytest.mark.parametrize("case", found, ids=[f"{case.exercise.id}-{case.name}" for case in found])


@each("right")
def test_right_versions_of_strangers_pass(graded, case):
    verdict = graded(case.exercise.id, case.text(), seed=len(case.name))

    assert verdict.word is (Word.PROVISIONAL if case.exercise.gpu else Word.PASSED), [(c.id, c.message) for c in verdict.failed]


@each("wrong")
def test_wrong_versions_fail_and_are_told_why(graded, case):
    verdict = graded(case.exercise.id, case.text(), seed=len(case.name))

    assert verdict.word is Word.FAILED
    assert case.told is not None, "the second line says what is named: `# names: ID` or `# says: REGEX`"
    kind, wanted = case.told
    named = {name for item in verdict.misconceptions for name in (item.id, *item.one_of)}
    if kind == "names" and wanted.strip() != "-":
        assert set(re.split(r"[,\s]+", wanted.strip())) <= named, f"named {sorted(named)}; {[c.message for c in verdict.failed][:3]}"
    elif kind == "says":
        said = "\n".join([verdict.message, *(c.message for c in verdict.checks), *(n.message for n in verdict.misconceptions)])
        assert re.search(wanted.strip(), said), said
