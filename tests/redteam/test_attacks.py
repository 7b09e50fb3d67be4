"""The red team: hostile submissions, one per file, against the grader as a learner runs it. None gains, reads, stays, or touches the next.

Each file says in its first line what it attempts, in its second against which exercise, for which reasons it may fail and in how many seconds, and may say
in ``says:`` what the learner has to be told. ``make test`` runs a share of them behind each kind of walls; ``make redteam`` runs all behind all.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from attngrade.catalog import builtin
from attngrade.sandbox.confine import landlock_version
from attngrade.sandbox.nursery import Crew

from tests.redteam.arena import CANARY, SOURCES, Attack, fight, judge_fate
from tests.redteam.stranger import Stranger

WHOLE = "ATTNGRADE_WHOLE_REDTEAM" in os.environ
Capture, Recorded = pytest.CaptureFixture[str], pytest.WarningsRecorder
WALLS = ("warm", "auto", "process", "stranger")
HEAVY = [path for path in SOURCES if "exercise: 02" not in path.read_text(encoding="utf-8")]  # torch is imported before each fight that isn't warm
LIGHT = [path for path in SOURCES if path not in HEAVY]


def behind(walls: str) -> pytest.MarkDecorator:
    """Every attack in ``make redteam``; in ``make test`` each light one behind one kind of walls, in turn, and every third heavy one."""
    turn = {*LIGHT[WALLS.index(walls) :: len(WALLS)], *(HEAVY[::3] if walls == "warm" else ())}
    return pytest.mark.parametrize("path", [path for path in SOURCES if WHOLE or path in turn], ids=lambda path: path.stem)


@behind("warm")
def test_gains_nothing_reads_nothing_and_leaves_nothing(path: Path, ground: Path, besieged: Crew, capfd: Capture, recwarn: Recorded) -> None:
    attack = Attack.read(path)

    judge_fate(attack, fight(attack, ground, besieged, "warm"))
    assert capfd.readouterr() == ("", "") and not recwarn.list, "the grader itself was made to write"


@behind("auto")
def test_nor_in_a_jail_of_its_own(path: Path, ground: Path, besieged: Crew) -> None:
    attack = Attack.read(path)

    judge_fate(attack, fight(attack, ground, besieged, "auto"))


@behind("process")
def test_nor_without_bubblewrap(path: Path, ground: Path, besieged: Crew) -> None:
    if landlock_version() < 1:
        pytest.skip("this kernel has no Landlock: the second jail can't hide files here, and says so")
    attack = Attack.read(path)

    fate = fight(attack, ground, besieged, "process")

    judge_fate(attack, fate)
    assert fate.isolation == "process"
    assert "Landlock" in fate.note or fate.reason == "load-error"  # what is not even Python meets no wall


@behind("stranger")
def test_nor_where_the_grader_is_an_ordinary_user(path: Path, ground: Path, stranger: Stranger) -> None:
    judge_fate(Attack.read(path), stranger.fate(path))


def test_there_are_more_than_a_hundred_attacks() -> None:
    assert len(SOURCES) > 100


@pytest.mark.parametrize("number", ["02", "03"])
def test_a_right_submission_passes_after_all_of_them(number: str, ground: Path, besieged: Crew) -> None:
    source = builtin().find(f"exercise{number}").solution.read_text(encoding="utf-8")

    fate = fight(Attack("right", source, f"exercise{number}", frozenset(), 60.0), ground, besieged, "warm")

    assert fate.word == "passed", fate.message


@pytest.mark.parametrize("number", ["02", "03"])
def test_and_so_it_does_where_the_grader_is_an_ordinary_user(number: str, stranger: Stranger) -> None:
    right = stranger.ground / "right.py"
    right.write_text(f"# attack: none\n# exercise: {number}, reason: none\n" + builtin().find(f"exercise{number}").solution.read_text(encoding="utf-8"))

    fate = stranger.fate(right)

    assert fate.word == "passed" and fate.isolation == "bubblewrap", (fate.message, fate.note)


def test_no_process_of_an_attack_is_alive(ground: Path, besieged: Crew) -> None:
    family = {os.getpid(), *below(os.getpid())}

    assert not [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if pid not in family and _carries_a_canary(pid)]


def below(pid: int) -> set[int]:
    """A process's descendants: the grader's own, and what it keeps warm."""
    try:
        own = {int(child) for task in os.listdir(f"/proc/{pid}/task") for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split()}
    except OSError:
        return set()
    return own.union(*(below(child) for child in own))


def _carries_a_canary(pid: int) -> bool:
    try:
        return CANARY.encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False
