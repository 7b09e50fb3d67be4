"""Grading inside a course platform: ``python -m attngrade.course gradescope|github-classroom --submission DIR --exercise ID ...``.

Files are looked for by name anywhere below the submission folder. A missing file is a failed exercise, never a fault of the grader.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import sys
from pathlib import Path
from typing import Any

from .catalog import Exercise, builtin
from .takehome.returns import Return, find_file, read
from .verdict import CheckResult, Outcome, Reason, Verdict, Word, exit_code
from .workspace import write_beside

OUTPUT_CAP = 500  # characters of a test's output in GitHub Classroom


def judged(given: Return, exercise: Exercise, seed: int) -> Verdict:
    """The verdict on one exercise of a submission."""
    from .cli.check import Options, judge

    found = find_file(given, exercise.module, exercise.functions)
    if found is None:
        told = f"{exercise.module}.py is not in what was handed in. {given.problem}".strip()
        missing = CheckResult("file", f"{exercise.module}.py is handed in.", Outcome.FAILED, 0.0, exercise.points + exercise.stretch_points, message=told,
                              reason=Reason.NOT_IMPLEMENTED)
        return Verdict(exercise.id, exercise.title, Word.FAILED, Reason.NOT_IMPLEMENTED, told, (missing,))
    return judge(exercise, found[1], found[0], Options(seed=seed))


def runner(verdict: Verdict) -> dict[str, Any]:
    """What GitHub Classroom's reporter wants of one exercise; there is always at least one test with a numeric score."""
    words = {Word.PASSED: "pass", Word.PROVISIONAL: "pass", Word.FAILED: "fail", Word.ERROR: "error"}
    tests = [{"name": check.title, "status": "pass" if check.outcome is Outcome.PASSED else "fail", "message": check.message[:OUTPUT_CAP], "test_code": check.id,
              "task_id": 0, "filename": "", "line_no": 0, "duration": 0, "score": check.points, "output": check.message[:OUTPUT_CAP]} for check in verdict.checks]
    fault = {"name": "grading", "status": words[verdict.word], "message": verdict.message[:OUTPUT_CAP], "test_code": "", "task_id": 0, "filename": "", "line_no": 0,
             "duration": 0, "score": 0, "output": verdict.message[:OUTPUT_CAP]}
    named = " ".join(item.message.partition("\n\n")[0] for item in verdict.misconceptions)
    return {"version": 3, "status": words[verdict.word], "message": (named or verdict.message)[:OUTPUT_CAP], "max_score": round(verdict.max_score),
            "tests": tests or [fault]}


def main(words: list[str] | None = None) -> int:
    """Grade and write what the platform reads; the exit code is 3 only for a fault of the grader."""
    parser = argparse.ArgumentParser(prog="attngrade.course")
    parser.add_argument("platform", choices=["gradescope", "github-classroom"])
    parser.add_argument("--submission", type=Path, required=True)
    parser.add_argument("--exercise", action="append", required=True)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    asked = parser.parse_args(words)
    pack = builtin()
    given = read("submission", asked.submission)
    verdicts = [judged(given, pack.find(name), asked.seed) for name in asked.exercise]
    if asked.platform == "gradescope":
        from .render.gradescope import render

        text = render(verdicts)
        if asked.output:
            asked.output.parent.mkdir(parents=True, exist_ok=True)
            write_beside(asked.output, text.encode())
        else:
            print(text)
    else:
        _github(verdicts, asked.output)
    return 3 if exit_code(verdicts) == 3 else 0


def _github(verdicts: list[Verdict], output: Path | None) -> None:
    """``result=BASE64`` per exercise into the step's output file (GITHUB_OUTPUT) or to standard output."""
    lines = [f"{verdict.exercise}={base64.b64encode(json.dumps(runner(verdict)).encode()).decode()}" for verdict in verdicts]
    if len(verdicts) == 1:
        lines = ["result=" + lines[0].partition("=")[2]]
    target = output or (Path(os.environ["GITHUB_OUTPUT"]) if "GITHUB_OUTPUT" in os.environ else None)
    if target is None:
        print("\n".join(lines))
        return
    with open(target, "a", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
