"""Where the red team fights: canaries round about, one attack graded as a learner's file is, and a look round afterwards.

``python -m tests.redteam.arena GROUND ISOLATION`` does the same in a process of its own, for another user: files in, a fate per line out.
"""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import re
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ATTACKS = Path(__file__).resolve().parent / "attacks"
SOURCES = sorted(ATTACKS.glob("*.py"))
CANARY = "CANARY-3f9c1d-"
TRACE = "ATTNGRADE_WAS_HERE"
SUBREAPER = 36
MEMORY_MIB = 1024
PLANTED = (
    "project/canary.txt",
    "project/solutions/exercise02_canary.py",
    "project/.git/HEAD",
    "home/.canary",
    "home/.ssh/id_rsa",
    "home/.netrc",
    "home/.local/share/attngrade/attngrade.db",
    "tmp/canary_of_another_candidate.py",
)


@dataclass(frozen=True)
class Attack:
    """One file: what it attempts and what has to become of it."""

    name: str
    source: str
    exercise: str
    reasons: frozenset[str]
    timeout_s: float
    says: str = ""
    may_earn: bool = False
    unseen: tuple[str, ...] = ()

    @classmethod
    def read(cls, path: Path) -> Attack:
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()[:6]
        assert lines[0].startswith("# attack: "), f"{path.name}: the first line says what is attempted"
        facts = dict(part.split(": ") for part in lines[1].removeprefix("# ").split(", "))
        found = (re.match(r"# (says|may|no-bytes|no-line-starts-with|output-below): (.*)", line) for line in lines[2:])
        more = {match[1]: match[2] for match in found if match}
        unseen = tuple(more.get("no-bytes", "").encode().decode("unicode_escape").split())
        reasons = frozenset(facts["reason"].split("|"))
        return cls(path.stem, text, f"exercise{facts['exercise']}", reasons, float(facts.get("timeout", 20)), more.get("says", ""), "may" in more, unseen)


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


# ---------------------------------------------------------------- the ground


def plant(ground: Path) -> None:
    """A project, a home, a store and a shared folder, each with a canary in it."""
    for place in PLANTED:
        path = ground / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CANARY + place, encoding="utf-8")


def surroundings(ground: Path) -> dict[str, str]:
    """The environment of a grader on the ground, with canaries of its own."""
    home = str(ground / "home")
    return {"HOME": home, "XDG_DATA_HOME": f"{home}/.local/share", "ATTNGRADE_CANARY": CANARY + "environment", "GITHUB_TOKEN": CANARY + "token",
            "OMP_NUM_THREADS": "1", "TMPDIR": str(ground / "tmp")}


def adopt_orphans(yes: bool = True) -> None:
    """Whatever is orphaned below this process comes back to it, and is seen."""
    ctypes.CDLL(None).prctl(SUBREAPER, int(yes), 0, 0, 0)


def children() -> list[str]:
    """The processes that live below this one, with their commands: an attack may leave none."""
    found = []
    for task in os.listdir("/proc/self/task"):
        for pid in Path(f"/proc/self/task/{task}/children").read_text().split():
            try:
                if "State:\tZ" not in Path(f"/proc/{pid}/status").read_text():
                    found.append(f"{pid} {Path(f'/proc/{pid}/cmdline').read_bytes().replace(bytes(1), b' ').decode()}")
            except OSError:
                continue
    return found


def places(ground: Path) -> set[str]:
    """Every file on the ground, and every known trace outside of it."""
    inside = {str(path) for path in ground.rglob("*") if "attngrade-worker-" not in str(path)}
    outside = {f"{folder}/{TRACE}" for folder in ("/tmp", "/dev/shm", "/var/tmp", "/run", "", "/etc") if os.path.exists(f"{folder}/{TRACE}")}
    return inside | outside


# ---------------------------------------------------------------- the fight


def fight(attack: Attack, ground: Path, crew: Any, isolation: str) -> Fate:
    """Grade one attack as ``attngrade check`` does (``warm``: as watch mode does), and look round afterwards."""
    from attngrade.render import as_text, renderer

    prepare(attack, crew, isolation)
    before, kept, started = places(ground), set(children()), time.monotonic()
    verdict = check(attack, crew, isolation)
    took = time.monotonic() - started
    record = renderer("json")([verdict])
    return Fate(
        str(verdict.word), str(verdict.reason), verdict.score, sum(check.max_points for check in verdict.checks if not check.stretch),
        "\n".join((record, as_text([verdict], colour=False, width=80))), json.loads(record)["results"][0]["output"],
        " ".join([verdict.message, *(check.message for check in verdict.checks)]), verdict.isolation, verdict.isolation_note, took,
        sorted(set(children()) - kept), sorted(places(ground) - before),
    )


def prepare(attack: Attack, crew: Any, isolation: str) -> None:
    """Start what is kept for all fights, so that it is not taken for a survivor: the troupe that names mistakes, and the nest."""
    plan = plan_of(attack)
    crew.troupe(plan).wait_ready()
    if isolation == "warm":
        crew.worker(plan).close()


def plan_of(attack: Attack) -> Any:
    """What a worker of this attack's exercise needs."""
    from attngrade.catalog import builtin
    from attngrade.grading import Limits, plan_for

    return plan_for(builtin().find(attack.exercise), Limits(20, MEMORY_MIB), "cpu")


def check(attack: Attack, crew: Any, isolation: str) -> Any:
    """The verdict as ``attngrade check`` gives it."""
    from attngrade.catalog import builtin
    from attngrade.cli.check import Options, with_names
    from attngrade.grading import Limits, grade

    exercise, data, plan = builtin().find(attack.exercise), attack.source.encode("utf-8", "surrogatepass"), plan_of(attack)
    warm, walls = ((lambda: crew.worker(plan)), "auto") if isolation == "warm" else (None, isolation)
    verdict = grade(exercise, data, name=f"{attack.name}.py", limits=Limits(attack.timeout_s, MEMORY_MIB), seed=11, isolation=walls, warm=warm)
    return with_names(exercise, data, verdict, Options("cpu", walls, 20, MEMORY_MIB, 11), crew.troupe(plan))


def judge_fate(attack: Attack, fate: Fate) -> None:
    """The claims that hold for every attack."""
    assert fate.word == "failed", (fate.word, fate.message)
    assert fate.reason in attack.reasons, (fate.reason, fate.message)
    if attack.may_earn:
        assert fate.score < fate.required
    else:
        assert fate.score == 0, fate.message
    assert CANARY not in fate.shown
    assert "SEEN" not in fate.printed, fate.printed[fate.printed.index("SEEN") :][:300]
    assert "PLANTED" not in fate.printed
    assert not fate.survivors
    assert not fate.traces
    assert fate.seconds < attack.timeout_s + 25, fate.seconds
    assert len(fate.printed) < 70_000
    assert not attack.says or re.search(attack.says, fate.message), fate.message
    for octets in attack.unseen:
        assert octets not in fate.shown, f"{octets!r} reached the screen"


def main(ground: str, isolation: str) -> None:
    """Fight the attacks whose files are named on standard input and print a fate for each."""
    from attngrade.sandbox.nursery import Crew

    os.environ.update(surroundings(Path(ground)))
    os.chdir(Path(ground) / "project")
    adopt_orphans()
    with Crew() as crew:
        for line in sys.stdin:
            print(json.dumps(dataclasses.asdict(fight(Attack.read(Path(line.strip())), Path(ground), crew, isolation))), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
