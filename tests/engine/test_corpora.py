"""Everything wrong fails, and what a file says of its mistake is what its author is told. (What is right of ours passes: tests/packs/test_builtin.py.)"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from attngrade.catalog import Exercise, builtin
from attngrade.verdict import Word

CORPUS = Path(__file__).resolve().parent.parent / "corpus"
WHOLE = "ATTNGRADE_WHOLE_CORPUS" in os.environ  # `make corpus`: every file; `make test`, which has ten minutes, takes a share
SLOW_S, QUICK_STRIDE, SLOW_STRIDE = 3.0, 9, 50


def chosen(exercise: Exercise, paths: list[Path]) -> list[Path]:
    """Every ninth file of a quick exercise, every fiftieth of a slow one (its kernel runs in an interpreter)."""
    return paths if WHOLE else paths[:: QUICK_STRIDE if exercise.budget_s <= SLOW_S else SLOW_STRIDE]


WRONG = [(e.id, path) for e in builtin().exercises for path in chosen(e, sorted((CORPUS / e.slug / "wrong").glob("*.py")))]


RIGHT = [(e.id, path) for e in builtin().exercises for path in chosen(e, sorted((CORPUS / e.slug / "right").glob("*.py")))]


def whole(exercise: str, path: Path) -> str:
    """A file's text; one that says so stands behind the solution, whose functions it spoils."""
    text = path.read_text(encoding="utf-8")
    return f"{builtin().find(exercise).solution.read_text(encoding='utf-8')}\n\n{text}" if re.search(r"^# behind: the solution$", text, re.M) else text


@pytest.mark.parametrize(("exercise", "path"), RIGHT, ids=[f"{e}-{p.stem}" for e, p in RIGHT])
def test_right_versions_of_strangers_pass(graded, exercise, path):
    verdict = graded(exercise, whole(exercise, path), seed=len(path.stem))

    assert verdict.word is (Word.PROVISIONAL if builtin().find(exercise).gpu else Word.PASSED), [(c.id, c.message) for c in verdict.failed]


@pytest.mark.parametrize(("exercise", "path"), WRONG, ids=[f"{e}-{p.stem}" for e, p in WRONG])
def test_wrong_versions_fail_and_are_told_why(graded, exercise, path):
    text = whole(exercise, path)
    told = re.search(r"^# (names|says): (.+)$", text, re.M)

    verdict = graded(exercise, text, seed=len(path.stem))

    assert verdict.word is Word.FAILED
    assert told is not None, "the second line says what is named: `# names: ID` or `# says: REGEX`"
    kind, wanted = told.groups()
    named = {name for item in verdict.misconceptions for name in (item.id, *item.one_of)}
    if kind == "names" and wanted.strip() != "-":
        assert set(re.split(r"[,\s]+", wanted.strip())) <= named, f"named {sorted(named)}; {[c.message for c in verdict.failed][:3]}"
    elif kind == "says":
        said = "\n".join([verdict.message, *(c.message for c in verdict.checks), *(n.message for n in verdict.misconceptions)])
        assert re.search(wanted.strip(), said), said
