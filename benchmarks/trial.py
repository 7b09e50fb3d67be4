"""A batch with a tenth of it hostile or broken, graded twice: undisturbed, and killed in the middle and resumed. Every return a row, the same bytes.

    python -m benchmarks.trial [--count 200] [--jobs 2] [--kill-at 0.5] [--keep FOLDER]

Prints one JSON object; ends 1 where a row is missing or the bytes differ.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from attngrade.catalog import builtin

from .hostile import HOSTILE

ATTNGRADE = [sys.executable, "-m", "attngrade"]
ASKED = ("2", "3")
LIMIT_S = 20


def inbox(folder: Path, count: int) -> dict[str, str]:
    """A folder of returns, all different: every tenth hostile, one in four of the others wrong. Returns what each hostile one does."""
    folder.mkdir(parents=True)
    exercises = [builtin().find(name) for name in ASKED]
    kinds, hostile = list(HOSTILE.items()), {}
    for n in range(count):
        name = f"candidate{n:04}"
        if n % 10 == 3:
            what, write = kinds[n // 10 % len(kinds)]
            write(folder, name, exercises[0].module)
            hostile[name] = what
            continue
        (folder / name).mkdir()
        for exercise in exercises:
            text = exercise.solution.read_text(encoding="utf-8")
            text = text.replace("keepdims=True", "keepdims=False", 1).replace("(t_k - t_q)", "0") if n % 4 == 1 else text
            (folder / name / f"{exercise.module}.py").write_text(f"{text}\n# {n}\n", encoding="utf-8")
        (folder / name / "answers.yaml").write_text(f"qk-norm: |\n  It bounds the logits, whatever the weights are ({n}).\n", encoding="utf-8")
    return hostile


def kit(folder: Path) -> None:
    """A take-home of two exercises and a question, with a short limit."""
    asked = [word for name in ASKED for word in ("--exercise", name)]
    subprocess.run([*ATTNGRADE, "takehome", "new", str(folder), *asked, "--question", "qk-norm"], check=True, capture_output=True)
    path = folder / "takehome.yaml"
    path.write_text(path.read_text().replace("timeout_s: 60", f"timeout_s: {LIMIT_S}").replace("memory_mib: 4096", "memory_mib: 1024"))


def grade(place: Path, results: Path, jobs: int) -> list[str]:
    """The command that grades the inbox."""
    return [*ATTNGRADE, "takehome", "grade", str(place / "in"), "--kit", str(place / "kit"), "--results", str(results), "--jobs", str(jobs)]


def killed(command: list[str], journal: Path, after: int) -> int:
    """Kill the batch and all its workers once ``after`` records are on the disk; how many there are then."""
    victim = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while victim.poll() is None and (journal.read_bytes().count(b"\n") if journal.exists() else 0) < after:
        time.sleep(0.05)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(victim.pid, signal.SIGKILL)
    victim.wait()
    return journal.read_bytes().count(b"\n")


def timed(command: list[str]) -> tuple[float, subprocess.CompletedProcess[str]]:
    """Seconds of a command, and what it said."""
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    return time.perf_counter() - started, done


def trial(place: Path, count: int, jobs: int, share: float) -> dict[str, Any]:
    """Both runs and what came of them."""
    hostile = inbox(place / "in", count)
    kit(place / "kit")
    load = os.getloadavg()[0]
    seconds, whole = timed(grade(place, place / "whole", jobs))
    kept = killed(grade(place, place / "killed", jobs), place / "killed" / "journal.jsonl", int(count * share))
    resumed_s, resumed = timed(grade(place, place / "killed", jobs))
    rows = [json.loads(line) for line in (place / "whole" / "results.jsonl").read_text().splitlines()]
    told = {row["candidate"]: row for row in rows}
    differ = [name for name, one, other in zip(sorted(told), lines(place / "whole"), lines(place / "killed"), strict=False) if one != other]
    return {
        "returns": count, "hostile": len(hostile), "jobs": jobs, "load_before": round(load, 1), "load_after": round(os.getloadavg()[0], 1),
        "seconds": round(seconds, 1), "per_minute": round(60 * count / seconds, 1), "exit_codes": [whole.returncode, resumed.returncode],
        "rows": len(rows), "kept_by_the_kill": kept, "resumed_s": round(resumed_s, 1), "same_bytes": not differ, "differ": differ[:20],
        "faults": [name for name, row in told.items() if row.get("fault") or any(part["verdict"] == "error" for part in row["exercises"])],
        "hostile_scores": {what: [told[name]["score"], told[name]["problem"] or told[name]["exercises"][0]["reason"]] for name, what in hostile.items() if name in told},
    }


def lines(results: Path) -> list[str]:
    """The rows of a results file as they are."""
    return (results / "results.jsonl").read_text().splitlines()


def main() -> int:
    """Run the trial."""
    parser = argparse.ArgumentParser(prog="benchmarks.trial", description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kill-at", type=float, default=0.5)
    parser.add_argument("--keep", type=Path)
    asked = parser.parse_args()
    with contextlib.ExitStack() as stack:
        place = asked.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        told = trial(place, asked.count, asked.jobs, asked.kill_at)
    print(json.dumps(told, indent=1))
    return 0 if told["same_bytes"] and told["rows"] == asked.count else 1


if __name__ == "__main__":
    sys.exit(main())
