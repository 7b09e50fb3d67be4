"""``pack verify``: an exercise set is admitted when its stub fails, everything right passes, and every wrong idea is caught and named.

One trusted worker per exercise plays all misconceptions; the stub, the solution and the alternatives run in the jail like anybody's code.
"""

from __future__ import annotations

import ast
import time
from dataclasses import dataclass, field
from pathlib import Path

from .catalog import Exercise, Pack
from .diagnosis import Stage, diagnosed
from .diagnosis.stage import Role
from .grading import Limits, conclude, grade, plan_for, run_checks
from .sandbox.errors import Raised
from .sandbox.host import Worker, raise_if_raised
from .sandbox.proxy import Submission
from .verdict import Outcome, Reason, Verdict, Word

STUB_LINES = 60
ADVICE = ("Example:", "Why:", "Look at:")


@dataclass
class Report:
    """What the verification of one exercise found."""

    exercise: str
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    table: dict[str, frozenset[str]] = field(default_factory=dict)  # misconception -> the checks that it fails
    functions: dict[str, str] = field(default_factory=dict)  # misconception -> the function it replaces
    checks: list[str] = field(default_factory=list)
    right: int = 0
    warm_s: float = 0.0
    total_s: float = 0.0


def verify(exercise: Exercise, *, seed: int = 0, isolation: str = "auto") -> Report:
    """Verify one exercise of a pack."""
    report, started = Report(exercise.id), time.monotonic()
    _form(exercise, report)
    _stub(exercise, report, seed, isolation)
    for path in (exercise.solution, *sorted(exercise.alternatives.glob("*.py"))):
        _right(exercise, path, report, seed, isolation)
    _wrong(exercise, report, seed)
    report.total_s = time.monotonic() - started
    return report


def _stub(exercise: Exercise, report: Report, seed: int, isolation: str) -> None:
    verdict = grade(exercise, exercise.stub.read_bytes(), seed=seed, isolation=isolation)
    if (verdict.word, verdict.reason) != (Word.FAILED, Reason.NOT_IMPLEMENTED) or verdict.score:
        report.problems.append(f"{exercise.stub.name}: the stub ends {verdict.word} ({verdict.reason}) with {verdict.score:g} points; "
                               f"it has to fail as not-implemented with none. {verdict.message}")


def _right(exercise: Exercise, path: Path, report: Report, seed: int, isolation: str) -> None:
    verdict = grade(exercise, path.read_bytes(), name=path.name, seed=seed, isolation=isolation)
    wanted = (Word.PASSED, Word.PROVISIONAL) if exercise.gpu else (Word.PASSED,)
    if verdict.word not in wanted:
        failed = "; ".join(f"{check.id}: {check.message}" for check in verdict.failed[:3])
        report.problems.append(f"{path.parent.name}/{path.name} is right and ends {verdict.word} ({verdict.reason}). {verdict.message}{failed}")
    else:
        report.right += 1


def _wrong(exercise: Exercise, report: Report, seed: int) -> None:
    with Worker(plan_for(exercise, Limits(), "cpu"), "trusted") as troupe:
        try:
            stage = Stage(troupe, str(exercise.solution), str(exercise.misconceptions))
        except Raised as error:
            report.problems.append(f"misconceptions/{exercise.misconceptions.name} does not load: {error}")
            return
        play(exercise, troupe, (), seed)
        before = time.process_time() + troupe.cpu_seconds()  # not the wall clock: other things may run on this machine
        right = play(exercise, troupe, (), seed)
        report.warm_s = time.process_time() + troupe.cpu_seconds() - before
        report.checks = [check.id for check in right.checks]
        if report.warm_s > exercise.budget_s:
            report.problems.append(f"the checks of the solution take {report.warm_s:.2f} s warm; the budget is {exercise.budget_s:g} s")
        for role in stage.roles:
            _role(exercise, troupe, role, report, seed)
    caught = {check for failed in report.table.values() for check in failed}
    for check in right.checks:
        if check.id not in caught and check.outcome is not Outcome.SKIPPED:
            report.problems.append(f"check {check.id}: no misconception fails it; is it needed?")


def play(exercise: Exercise, troupe: Worker, cast: tuple[str, ...], seed: int, only: frozenset[str] | None = None) -> Verdict:
    """The verdict on the solution with ``cast`` standing in, on a trusted worker, by all checks or by those of ``only``."""

    def fresh() -> Submission:
        troupe.deadline = time.monotonic() + Limits().timeout_s
        reply = troupe.ask({"op": "cast", "ids": list(cast)})
        raise_if_raised(reply, ", ".join(cast))
        return Submission(troupe, reply["defines"])

    grading, problem = run_checks(exercise, fresh, seed, "cpu", only=only)
    verdict = conclude(exercise, grading, problem, "", "cpu", seed)
    troupe.deadline = float("inf")
    return Verdict(**{**verdict.__dict__, "calls": tuple(grading.calls)})


def _role(exercise: Exercise, troupe: Worker, role: Role, report: Report, seed: int) -> None:
    report.functions[role.id] = role.of
    missing = [part for part in ADVICE if part not in role.advice]
    if missing or not role.message:
        report.problems.append(f"misconception {role.id}: its docstring lacks {', '.join(missing) or 'a first paragraph'}")
    if role.of not in exercise.functions:
        report.problems.append(f"misconception {role.id}: `of` names {role.of}, which is none of the exercise's functions")
        return
    verdict = play(exercise, troupe, (role.id,), seed, frozenset({role.of}))
    report.table[role.id] = frozenset(check.id for check in verdict.checks if check.outcome is Outcome.FAILED)
    if verdict.word is not Word.FAILED:
        report.problems.append(f"misconception {role.id}: no check fails it ({verdict.word} {verdict.message})")
        return
    named = diagnosed(exercise, verdict, troupe).misconceptions
    first = next((item for item in named if item.function == role.of), None)
    if first is None:
        report.problems.append(f"misconception {role.id}: caught, but not named")
    elif role.id != first.id and role.id not in first.one_of:
        report.problems.append(f"misconception {role.id}: caught, but named {first.id}")
    elif first.one_of:
        report.remarks.append(f"misconception {role.id}: not told apart from {', '.join(sorted({first.id, *first.one_of} - {role.id}))}")


def _form(exercise: Exercise, report: Report) -> None:
    text = exercise.stub.read_text(encoding="utf-8")
    lines = text.count("\n")
    if lines > STUB_LINES:
        report.problems.append(f"{exercise.stub.name}: {lines} lines; a stub fits on one screen ({STUB_LINES})")
    if f"attngrade check {exercise.id}" not in text:
        report.problems.append(f"{exercise.stub.name}: its docstring doesn't say how to check it (`attngrade check {exercise.id}`)")
    report.problems += [f"{exercise.id}: hint {n} is empty or over 600 characters" for n, hint in enumerate(exercise.hints, 1) if not 0 < len(hint) <= 600]
    defined = {node.name for node in ast.parse(text).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    report.problems += [f"{exercise.stub.name}: `{name}` of the catalog is not in the stub" for name in exercise.functions if name not in defined]


def strays(pack: Pack) -> list[str]:
    """Files in a pack's homes that belong to no exercise."""
    known = {path for e in pack.exercises for path in (e.stub, e.solution, e.checks, e.misconceptions)}
    found = [path for home, pattern in ((pack.exercises_dir, "*.py"), (pack.solutions_dir, "*.py"), (pack.checks_dir, "check_*.py"),
                                        (pack.misconceptions_dir, "*.py")) for path in sorted(home.glob(pattern))]
    homes = {e.alternatives for e in pack.exercises}
    folders = [path for path in sorted((pack.solutions_dir / "alternatives").glob("*")) if path.is_dir() and path not in homes and path.name != "__pycache__"]
    parts = tuple(f"{e.slug}_" for e in pack.exercises)  # misconceptions/<slug>_<part>.py
    return [f"{path.parent.name}/{path.name} belongs to no exercise" for path in (*found, *folders)
            if path not in known and path.name != "__init__.py" and not path.name.startswith(parts)]
