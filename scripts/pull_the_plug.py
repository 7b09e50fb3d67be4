"""Kill graders, jails and workers at random instants, and look whether anything was lost, broken or left.

    python scripts/pull_the_plug.py 200 --seed 7

Each round checks a right submission, sometimes with two graders at once on one record, and ends one process with one signal. Ends with a non-zero code at the
first round that leaves a process or a folder, breaks the record, loses a verdict that was printed, or charges a submission for the end of its jail.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

SUBREAPER = 36
LONGEST_S = 1.5  # until the blow; a check takes about one second
BLOWS = {  # who is hit -> with which signals, one after the other
    "grader": [(signal.SIGKILL,), (signal.SIGTERM,), (signal.SIGINT,), (signal.SIGINT, signal.SIGINT), (signal.SIGTERM, signal.SIGINT), (signal.SIGHUP,)],
    "jail": [(signal.SIGKILL,)],
    "worker": [(signal.SIGKILL,), (signal.SIGSTOP, signal.SIGKILL)],
}


@dataclass(frozen=True)
class Round:
    """What is done in one round, all of it from the seed."""

    victim: str
    signals: tuple[signal.Signals, ...]
    after_s: float
    graders: int

    @classmethod
    def drawn(cls, seed: int) -> Round:
        draw = random.Random(seed)
        victim = draw.choice(list(BLOWS))
        return cls(victim, draw.choice(BLOWS[victim]), draw.uniform(0, LONGEST_S), draw.choice((1, 1, 2)))


class Ground:
    """A workspace, a record and a folder for temporary files, used by every round."""

    def __init__(self, folder: Path):
        self.folder, self.seen = folder, 0
        self.work, self.home, self.tmp = folder / "work", folder / "home", folder / "tmp"
        for place in (self.work, self.home, self.tmp):
            place.mkdir(parents=True)
        self.environment = {**os.environ, "ATTNGRADE_HOME": str(self.home), "TMPDIR": str(self.tmp)}
        self.attngrade("init", str(self.work))
        from attngrade.catalog import builtin

        exercise = builtin().find("2")
        shutil.copy(exercise.solution, self.work / f"{exercise.module}.py")
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)  # orphans come to us

    def attngrade(self, *words: str) -> None:
        subprocess.run([sys.executable, "-m", "attngrade", *words], check=True, cwd="/", env=self.environment, stdout=subprocess.DEVNULL)

    def start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "attngrade", "check", "2", "--workspace", str(self.work), "--format", "json"]
        return subprocess.Popen(command, cwd="/", env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def attempts(self) -> int:
        """How many attempts are on record. Raises where the record is broken."""
        path = self.home / "attngrade.db"
        if not path.exists():
            return 0
        with contextlib.closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",), "the record is broken"
            try:
                return int(connection.execute("SELECT count(*) FROM log WHERE kind = 'attempt'").fetchone()[0])
            except sqlite3.OperationalError:  # made, and killed before the first table
                return 0


def play(ground: Ground, plan: Round) -> str:
    """One round. Gives the first grader's verdict (``none`` where it was ended); raises AssertionError."""
    graders = [ground.start() for _ in range(plan.graders)]
    time.sleep(plan.after_s)
    strike(graders[0].pid, plan)
    told = [verdict_of(grader) for grader in graders]
    assert no_child_left(), "a process is left"
    recorded = ground.attempts()
    printed = sum(word in ("passed", "failed") for word in told)
    assert recorded >= ground.seen + printed, f"{printed} verdicts were printed and {recorded - ground.seen} recorded"
    ground.seen = recorded
    assert all(word == "passed" for word in told[1:]), f"the other grader said {told[1:]}"
    allowed = {"grader": ("none", "passed"), "jail": ("passed", "error"), "worker": ("passed", "failed", "error")}[plan.victim]
    assert told[0] in allowed, f"{plan.victim} was ended and the verdict is {told[0]}"
    left = [path.name for path in ground.tmp.iterdir()]
    assert not left or plan.signals[0] == signal.SIGKILL or len(plan.signals) > 1, f"left in the folder for temporary files: {left}"
    return told[0]


def strike(pid: int, plan: Round) -> None:
    """Send the signals to the victim, if it is there by now."""
    family = below(pid)
    jails = [child for child in family if "bwrap" in name_of(child)]
    victims = {"grader": [pid], "jail": jails[:1], "worker": family[-1:]}[plan.victim]
    for number in plan.signals:
        for victim in victims:
            with contextlib.suppress(OSError):
                os.kill(victim, number)
        time.sleep(0.01)


def verdict_of(grader: subprocess.Popen[str]) -> str:
    """The word that a grader printed before it ended."""
    out, _ = grader.communicate(timeout=120)
    try:
        return str(json.loads(out)["results"][0]["verdict"])
    except ValueError:
        return "none"


def below(pid: int) -> list[int]:
    """A process's descendants, the deepest last."""
    try:
        own = [int(child) for task in os.listdir(f"/proc/{pid}/task") for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split()]
    except OSError:
        return []
    return own + [inner for child in own for inner in below(child)]


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text()
    except OSError:
        return ""


def no_child_left(seconds: float = 10.0) -> bool:
    """Reap what came to us; whether nothing is left in time."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        try:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.02)
        except ChildProcessError:
            return True
    return False


def main() -> None:
    """The rounds that were asked for."""
    options = argparse.ArgumentParser(description="Kill graders, jails and workers at random instants.")
    options.add_argument("rounds", type=int)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    ends: dict[tuple[str, str], int] = {}
    with tempfile.TemporaryDirectory() as folder:
        ground = Ground(Path(folder))
        for seed in range(chosen.seed, chosen.seed + chosen.rounds):
            plan = Round.drawn(seed)
            try:
                word = play(ground, plan)
            except AssertionError as error:
                sys.exit(f"seed {seed}, {plan}: {error}")
            ends[plan.victim, word] = ends.get((plan.victim, word), 0) + 1
    for (victim, word), times in sorted(ends.items()):
        print(f"{victim} ended: {word} {times} times")


if __name__ == "__main__":
    main()
