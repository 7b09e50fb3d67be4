"""The red team: hostile submissions, one per file, against the grader as a learner runs it. None gains, reads, stays, or touches the next.

Each file says in its first line what it attempts, in its second against which exercise, for which reasons it may fail and in how many seconds, and may say
in ``says:`` what the learner has to be told. All of them run once, in a few processes at a time, before the first test asks how they fared.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import multiprocessing
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.xdist_group("redteam")  # one pool of workers, in one process
ATTACKS = Path(__file__).resolve().parent / "attacks"
CANARY = "CANARY-3f9c1d-"
TRACE = "ATTNGRADE_WAS_HERE"
SOURCES = sorted(ATTACKS.glob("*.py"))
SUBREAPER = 36
MEMORY_MIB = 1024
HEAVY = "exercise03"  # the exercise whose framework takes a second to import


@dataclass(frozen=True)
class Attack:
    """One file: what it attempts and what has to become of it."""

    name: str
    source: str
    exercise: str
    reasons: frozenset[str]
    timeout_s: float
    says: str
    may_earn: bool
    unseen: tuple[str, ...]

    @classmethod
    def read(cls, path: Path) -> Attack:
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()[:6]
        assert lines[0].startswith("# attack: "), f"{path.name}: the first line says what is attempted"
        facts = dict(part.split(": ") for part in lines[1].removeprefix("# ").split(", "))
        more = {
            key: value
            for line in lines[2:]
            if (match := re.match(r"# (says|may|no-bytes|no-line-starts-with|output-below): (.*)", line))
            for key, value in [match.groups()]
        }
        return cls(
            path.stem,
            text,
            f"exercise{facts['exercise']}",
            frozenset(facts["reason"].split("|")),
            float(facts.get("timeout", 20)),
            more.get("says", ""),
            "may" in more,
            tuple(more.get("no-bytes", "").encode().decode("unicode_escape").split()),
        )


@dataclass
class Fate:
    """What became of an attack."""

    word: str = ""
    reason: str = ""
    score: float = -1.0
    required: float = 0.0
    shown: str = ""
    printed: str = ""
    message: str = ""
    isolation: str = ""
    note: str = ""
    seconds: float = 0.0
    survivors: list[str] = field(default_factory=list)
    traces: list[str] = field(default_factory=list)
    trouble: str = ""


# ---------------------------------------------------------------- the arena: one process of the pool


def enter(ground: str) -> None:
    """Make a process of the pool: canaries in its environment and folders, and every orphan comes back to it."""
    home = Path(ground) / "home"
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    os.environ.update(
        HOME=str(home),
        ATTNGRADE_CANARY=CANARY + "environment",
        GITHUB_TOKEN=CANARY + "token",
        XDG_DATA_HOME=str(home / ".local/share"),
        OMP_NUM_THREADS="1",
        TMPDIR=str(Path(ground) / "tmp"),
    )
    tempfile.tempdir = None
    os.chdir(Path(ground) / "project")


def fight(attack: Attack, ground: str, isolation: str) -> Fate:
    """Grade one attack as ``attngrade check`` does, and look round afterwards."""
    from attngrade.render import as_text, renderer

    fate = Fate()
    stand_by(attack.exercise)
    before, kept = places(ground), set(children())
    started = time.monotonic()
    try:
        verdict = check(attack, isolation)
        fate.word, fate.reason, fate.score = str(verdict.word), str(verdict.reason), verdict.score
        fate.required = sum(check.points for check in verdict.checks if not check.stretch)
        record = json.loads(renderer("json")([verdict]))
        fate.printed = record["results"][0]["output"]
        fate.shown = "\n".join((renderer("json")([verdict]), as_text([verdict], colour=False, width=80)))
        fate.message = " ".join([verdict.message, *(check.message for check in verdict.checks)])
        fate.isolation, fate.note = verdict.isolation, verdict.isolation_note
    except BaseException as error:
        fate.trouble = f"{type(error).__name__}: {error}"
    fate.seconds = time.monotonic() - started
    fate.survivors = sorted(set(children()) - kept)
    fate.traces = sorted(places(ground) - before)
    return fate


CREW: dict[str, Any] = {}


def stand_by(name: str) -> Any:
    """Start what a process of the pool keeps for all its fights: the troupe that names mistakes, and for torch a jail that has imported it."""
    from attngrade.catalog import builtin
    from attngrade.grading import Limits, plan_for
    from attngrade.sandbox.nursery import Crew

    crew = CREW.setdefault("crew", Crew())
    if name not in CREW:
        CREW[name] = plan = plan_for(builtin().find(name), Limits(20, MEMORY_MIB), "cpu")
        crew.troupe(plan).wait_ready()
        if name == HEAVY:
            crew.worker(plan).close()
    return CREW[name]


def check(attack: Attack, isolation: str) -> Any:
    """The verdict as ``attngrade check`` gives it: a worker of its own in a jail of its own (for torch one that was warmed)."""
    from attngrade.catalog import builtin
    from attngrade.cli.check import Options, with_names
    from attngrade.grading import Limits, grade

    exercise, data = builtin().find(attack.exercise), attack.source.encode("utf-8", "surrogatepass")
    warm = (lambda: CREW["crew"].worker(CREW[HEAVY])) if attack.exercise == HEAVY and isolation == "auto" else None
    verdict = grade(exercise, data, name=f"{attack.name}.py", limits=Limits(attack.timeout_s, MEMORY_MIB), seed=11, isolation=isolation, warm=warm)
    return with_names(exercise, verdict, Options("cpu", isolation, 20, MEMORY_MIB, 11), CREW["crew"].troupe(CREW[attack.exercise]))


def children() -> list[str]:
    """The commands of what still lives below this process: nothing may."""
    found = []
    for task in os.listdir("/proc/self/task"):
        for pid in Path(f"/proc/self/task/{task}/children").read_text().split():
            with_command = Path(f"/proc/{pid}/cmdline")
            command = with_command.read_bytes().replace(b"\0", b" ").decode() if with_command.exists() else ""
            if Path(f"/proc/{pid}/status").exists() and "State:\tZ" not in Path(f"/proc/{pid}/status").read_text():
                found.append(f"{pid} {command}")
    return found


def places(ground: str) -> set[str]:
    """Every file in the canaries' ground, and every known trace outside of it."""
    inside = {str(path) for path in Path(ground).rglob("*") if "attngrade-worker-" not in str(path)}
    outside = {f"{folder}/{TRACE}" for folder in ("/tmp", "/dev/shm", "/var/tmp", "/run", "", "/etc") if os.path.exists(f"{folder}/{TRACE}")}
    return inside | outside


# ---------------------------------------------------------------- running them all


@pytest.fixture(scope="session")
def ground() -> Iterator[Path]:
    """A project, a home, a store and a shared folder, each with a canary in it."""
    ground = Path(tempfile.mkdtemp(prefix="canaries-"))
    for place in (
        "project/canary.txt",
        "project/solutions/exercise02_canary.py",
        "project/.git/HEAD",
        "home/.canary",
        "home/.ssh/id_rsa",
        "home/.netrc",
        "home/.local/share/attngrade/attngrade.db",
        "tmp/canary_of_another_candidate.py",
    ):
        path = ground / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CANARY + place, encoding="utf-8")
    shared = Path(f"/tmp/canary-{os.getpid()}.py")
    shared.write_text(CANARY + "shared", encoding="utf-8")
    yield ground
    shared.unlink(missing_ok=True)
    shutil.rmtree(ground, ignore_errors=True)


def run_all(attacks: list[Attack], ground: Path, isolation: str) -> dict[str, Fate]:
    """Every attack's fate, the slow ones begun first; a broken pool is told as the trouble of whatever it had in hand."""
    fates = {attack.name: Fate(trouble="the host died") for attack in attacks}
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, context, enter, (str(ground),)) as heavy, ProcessPoolExecutor(2, context, enter, (str(ground),)) as light:
        running = {
            (heavy if attack.exercise == HEAVY else light).submit(fight, attack, str(ground), isolation): attack.name
            for attack in sorted(attacks, key=lambda attack: -attack.timeout_s)
        }
        for done in as_completed(running):
            with contextlib.suppress(BrokenProcessPool):
                fates[running[done]] = done.result()
    return fates


def asked(request: pytest.FixtureRequest, test: str) -> list[Attack]:
    """The attacks that this run of the suite asks about."""
    chosen = {item.callspec.params["path"] for item in request.session.items if getattr(item, "originalname", "") == test}  # type: ignore[attr-defined]
    return [Attack.read(path) for path in SOURCES if path in chosen]


@pytest.fixture(scope="session")
def fates(request: pytest.FixtureRequest, ground: Path) -> dict[str, Fate]:
    """What became of each attack in the best jail that is to be had here."""
    return run_all(asked(request, "test_gains_nothing_reads_nothing_and_leaves_nothing"), ground, "auto")


@pytest.fixture(scope="session")
def second_fates(request: pytest.FixtureRequest, ground: Path) -> dict[str, Fate]:
    """What became of the NumPy attacks in the second jail, without bubblewrap."""
    from attngrade.sandbox.confine import landlock_version

    if landlock_version() < 1:
        pytest.skip("this kernel has no Landlock: the second jail can't hide files here, and says so")
    return run_all(asked(request, "test_gains_nothing_without_bubblewrap_either"), ground, "process")


def judge_fate(attack: Attack, fate: Fate) -> None:
    """The claims that hold for every attack."""
    assert not fate.trouble, fate.trouble
    assert fate.word == "failed", (fate.word, fate.message)
    assert fate.reason in attack.reasons, (fate.reason, fate.message)
    if attack.may_earn:
        assert fate.score < fate.required or fate.word == "failed"
    else:
        assert fate.score == 0, fate.message
    assert CANARY not in fate.shown
    assert "SEEN" not in fate.printed, fate.printed[fate.printed.index("SEEN") :][:300]
    assert "PLANTED" not in fate.printed
    assert not fate.survivors
    assert not fate.traces
    assert fate.seconds < attack.timeout_s + 25, fate.seconds
    assert len(fate.printed) < 70_000
    if attack.says:
        assert re.search(attack.says, fate.message), fate.message
    for octets in attack.unseen:
        assert octets not in fate.shown, f"{octets!r} reached the screen"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_gains_nothing_reads_nothing_and_leaves_nothing(path: Path, fates: dict[str, Fate]) -> None:
    judge_fate(Attack.read(path), fates[path.stem])


@pytest.mark.parametrize("path", [path for path in SOURCES if "exercise: 02" in path.read_text(encoding="utf-8")], ids=lambda path: path.stem)
def test_gains_nothing_without_bubblewrap_either(path: Path, second_fates: dict[str, Fate]) -> None:
    fate = second_fates[path.stem]

    judge_fate(Attack.read(path), fate)
    assert fate.isolation == "process"
    assert "Landlock" in fate.note


def test_there_are_more_than_a_hundred_attacks() -> None:
    assert len(SOURCES) > 100


def test_a_right_submission_passes_after_all_of_them(fates: dict[str, Fate], ground: Path) -> None:
    from attngrade.catalog import builtin

    source = builtin().find("exercise02").solution.read_text(encoding="utf-8")
    right = Attack("right", source, "exercise02", frozenset({"None"}), 60.0, "", True, ())

    fate = run_all([right], ground, "auto")["right"]

    assert fate.word == "passed", fate.message


def test_no_attack_of_another_process_group_is_alive(fates: dict[str, Fate]) -> None:
    alive = [pid for pid in os.listdir("/proc") if pid.isdigit() and _is_ours(pid)]

    assert not alive


def _is_ours(pid: str) -> bool:
    """Whether a process was started from the canaries' ground: its working folder or environment tells."""
    try:
        return CANARY.encode() in Path(f"/proc/{pid}/environ").read_bytes() and int(pid) != os.getpid() and _parent(pid) != os.getpid()
    except (OSError, ValueError):
        return False


def _parent(pid: str) -> int:
    return int(re.search(r"PPid:\s*(\d+)", Path(f"/proc/{pid}/status").read_text()).group(1))  # type: ignore[union-attr]
