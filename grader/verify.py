"""``pack verify``: an exercise set is admitted when its stub fails, everything right passes, and every wrong idea is caught and named.

One trusted worker plays the misconceptions of an exercise, or of a share of it (``part``; ``joined`` makes one report of all shares, so that an exercise
takes as long as the cores allow); the stub, the solution and the alternatives run in the jail like anybody's code.
"""

from __future__ import annotations

import ast
import itertools
import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from .catalog import Exercise
from .diagnosis import Stage, diagnosed
from .diagnosis.stage import Role
from .errors import PackProblem
from .grading import Limits, conclude, grade, plan_for, run_checks
from .grading.variants import conventions
from .proofread import exercise_problems
from .sandbox.errors import Raised
from .sandbox.host import Worker, raise_if_raised
from .sandbox.nursery import Crew
from .sandbox.proxy import Submission
from .verdict import Outcome, Reason, Verdict, Word

RIGHT_EACH = 4  # alternatives for each wrong idea of a function, where a sample is asked


@dataclass
class Report:
    """What the verification of one exercise found."""

    exercise: str
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    table: dict[str, frozenset[str]] = field(default_factory=dict)  # misconception -> the checks that it fails
    functions: dict[str, str] = field(default_factory=dict)  # misconception -> the function it replaces
    checks: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)  # checks that nothing here can run
    right: int = 0
    warm_s: float = 0.0
    total_s: float = 0.0


def verify(exercise: Exercise, *, seed: int = 0, isolation: str = "auto", sample: int | None = None) -> Report:
    """Verify one exercise of a pack; with ``sample``, by that many wrong ideas of each function, drawn with the seed, and some alternatives."""
    return joined([part(exercise, seed=seed, isolation=isolation, sample=sample)], sample)


def part(exercise: Exercise, share: int = 0, shares: int = 1, *, seed: int = 0, isolation: str = "auto", sample: int | None = None) -> Report:
    """Every ``shares``-th wrong idea from number ``share`` on, and with the first share all that is right. To be ``joined``."""
    report, started = Report(exercise.id), time.monotonic()
    if share == 0:
        report.problems += exercise_problems(exercise)
    if any(_unreadable(path) for path in (exercise.stub, exercise.solution, *exercise.check_files)):
        return report  # what no Python reads can't be run
    if share == 0:
        _what_is_right(exercise, report, seed, isolation, sample)
    _wrong(exercise, report, seed, lambda roles: drawn(roles, seed, sample)[share::shares])
    if share == 0 and report.warm_s > exercise.budget_s:
        report.problems.append(f"the checks of the solution take {report.warm_s:.2f} s warm; the budget is {exercise.budget_s:g} s")
    report.total_s = time.monotonic() - started
    return report


def joined(parts: Sequence[Report], sample: int | None = None) -> Report:
    """One report of all shares of an exercise, in their order; whether a check is idle is known only now."""
    first = parts[0]
    order = [name for names in itertools.zip_longest(*(part.functions for part in parts)) for name in names if name is not None]
    functions, table = ({name: value for part in parts for name, value in getattr(part, what).items()} for what in ("functions", "table"))
    whole = Report(
        first.exercise, _each(part.problems for part in parts), _each(part.remarks for part in parts), {name: table[name] for name in order if name in table},
        {name: functions[name] for name in order}, first.checks, first.skipped, first.right, first.warm_s, sum(part.total_s for part in parts),
    )
    if sample is None and first.checks:  # some of the wrong ideas don't tell which check none of them fails
        caught = {check for failed in whole.table.values() for check in failed}
        whole.problems += [f"check {check}: no misconception fails it; is it needed?" for check in first.checks if check not in caught and check not in first.skipped]
    return whole


def _each(lists: Iterable[list[str]]) -> list[str]:
    return list(dict.fromkeys(itertools.chain.from_iterable(lists)))


def _what_is_right(exercise: Exercise, report: Report, seed: int, isolation: str, sample: int | None) -> None:
    with Crew(isolation) as crew:
        judge = partial(grade, exercise, seed=seed, isolation=isolation, warm=lambda: crew.worker(plan_for(exercise, Limits(), "cpu")))
        _stub(exercise, report, judge)
        others = sorted(exercise.alternatives.glob("*.py"))
        for path in (exercise.solution, *(others if sample is None else others[: RIGHT_EACH * sample])):
            _right(exercise, path, report, judge)
        if sample is None:
            flipped_conventions(exercise, report, judge)


def _stub(exercise: Exercise, report: Report, judge: Callable[..., Verdict]) -> None:
    verdict = judge(exercise.stub.read_bytes())
    if (verdict.word, verdict.reason) != (Word.FAILED, Reason.NOT_IMPLEMENTED) or verdict.score:
        report.problems.append(f"{exercise.stub.name}: the stub ends {verdict.word} ({verdict.reason}) with {verdict.score:g} points; "
                               f"it has to fail as not-implemented with none. {verdict.message}")


def _right(exercise: Exercise, path: Path, report: Report, judge: Callable[..., Verdict]) -> None:
    verdict = judge(path.read_bytes(), name=path.name)
    wanted = (Word.PASSED, Word.PROVISIONAL) if exercise.gpu else (Word.PASSED,)
    if verdict.word not in wanted:
        failed = "; ".join(f"{check.id}: {check.message}" for check in verdict.failed[:3])
        report.problems.append(f"{path.parent.name}/{path.name} is right and ends {verdict.word} ({verdict.reason}). {verdict.message}{failed}")
    else:
        report.right += 1


def flipped_conventions(exercise: Exercise, report: Report, judge: Callable[..., Verdict]) -> None:
    """Every convention that flips changes words that are there, fails the usual solution, and passes the one that it brings."""
    example = exercise.stub.parent / "examples" / f"test_{exercise.id}.py"
    texts = exercise.stub.read_text(encoding="utf-8") + (example.read_text(encoding="utf-8") if example.is_file() else "")
    try:
        told = conventions(exercise)
    except PackProblem as error:
        report.problems += [f"conventions/{exercise.slug}.yaml: {problem}" for problem in error.problems]
        return
    for convention in told:
        report.problems += [f"convention {convention.id}: neither stub nor examples say {usual!r}" for usual, _ in convention.texts if usual not in texts]
        flips = frozenset({convention.id})
        if judge(exercise.solution.read_bytes(), flips=flips).word is not Word.FAILED:
            report.problems.append(f"convention {convention.id}: the usual solution doesn't fail where the other one is asked; no check tells them apart")
        if convention.solution is not None and (verdict := judge(convention.solution.read_bytes(), flips=flips)).word not in (Word.PASSED, Word.PROVISIONAL):
            report.problems.append(f"convention {convention.id}: its solution {convention.solution.name} ends {verdict.word}. {verdict.message}")


def _unreadable(path: Path) -> bool:
    try:
        ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return True
    return False


def _wrong(exercise: Exercise, report: Report, seed: int, chosen: Callable[[list[Role]], list[Role]]) -> None:
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
        report.skipped = [check.id for check in right.checks if check.outcome is Outcome.SKIPPED]
        for role in chosen(stage.roles):
            _role(exercise, troupe, role, report, seed)


def drawn(roles: list[Role], seed: int, sample: int | None) -> list[Role]:
    """All roles, or ``sample`` of each function, in their order."""
    if sample is None:
        return roles
    dice = random.Random(seed)
    chosen = {role.id for function in dict.fromkeys(role.of for role in roles)
              for own in [[role for role in roles if role.of == function]] for role in dice.sample(own, min(sample, len(own)))}
    return [role for role in roles if role.id in chosen]


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
    if role.of not in exercise.functions:
        return  # told by the reading
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
