"""Grading a folder of returns on any ``concurrent.futures.Executor``: each return is one task, each record one fsynced line of a journal.

A kill at any instant loses at most the returns that were being graded; the next run reads the journal and goes on. The results file is made from
the journal at the end, sorted by candidate, and is the same bytes whatever the order and the number of workers.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..catalog import Pack, open_pack
from ..errors import UsageProblem
from ..workspace import write_beside
from . import record as records
from . import variants
from .answers import read_answers
from .plan import TakeHome
from .returns import Return, find_file, read
from .review import RESULTS

if TYPE_CHECKING:
    from ..grading import Limits
    from ..grading.variants import Variant
    from ..verdict import Verdict

JOURNAL = "journal.jsonl"
NO_KIT = "No kit was made for this candidate (candidates.txt has no such name), so its variant is one that nobody was sent: rename the return to the name in the list."
IN_FLIGHT = 4  # tasks handed out per worker at a time


@dataclass(frozen=True)
class Task:
    """One return to grade, as it travels to a worker process."""

    candidate: str
    path: str
    plan: TakeHome
    pack_folder: str | None
    isolation: str = "auto"
    kit: str = ""  # whose kit was sent out: seeds and variants come from this name; empty: the candidate's own
    known: bool = True  # whether the team's list has the candidate

    @property
    def owner(self) -> str:
        """The id that the candidate's kit was made for."""
        return self.kit or self.candidate

    def key(self, given: Return) -> str:
        """What the record of this task depends on."""
        return records.key(given, self.plan, self.owner if self.plan.variants else "")


_crews: dict[str, Any] = {}


def crew(isolation: str) -> Any:
    """This process's warm workers, kept between tasks."""
    from ..sandbox.nursery import Crew

    if isolation not in _crews:
        _crews[isolation] = Crew(isolation)
    return _crews[isolation]


def grade_return(task: Task) -> str:
    """The record of one return, as a line of JSON. Never raises for what a candidate sent."""
    given = read(task.candidate, Path(task.path))
    pack = open_pack(task.pack_folder)
    exercises = [_exercise(task, pack, given, asked.id, asked.weight) for asked in task.plan.exercises]
    answers, remark = _answers(task.plan, given, pack) if task.plan.questions else ([], "")
    remarks = [*given.remarks, remark, *map(variants.sentence, exercises), "" if task.known else NO_KIT]
    told = {
        "version": records.VERSION, "candidate": task.candidate, "entry": Path(task.path).name.encode("utf-8", "backslashreplace").decode(),
        "key": task.key(given), "problem": given.problem, "remarks": [remark for remark in remarks if remark],
        "exercises": exercises, "answers": answers,
    }
    told |= {"kit": task.owner} if task.plan.variants else {}
    told["score"], told["max_score"] = records.totals(told)
    return records.dumps(told)


def _exercise(task: Task, pack: Pack, given: Return, name: str, weight: float) -> dict[str, Any]:
    from ..grading import Limits

    exercise = pack.find(name)
    found = find_file(given, exercise.module, exercise.functions)
    if found is None:
        sentence = given.problem or f"{exercise.module}.py is not in what came back."
        return records.missing_record(exercise.id, exercise.title, exercise.points + exercise.stretch_points, weight, sentence)
    file, data = found
    limits = Limits(task.plan.timeout_s, task.plan.memory_mib)
    own = variants.variant(task.plan, task.owner, exercise)

    def asked(variant: Variant) -> Verdict:
        return _grade(task, variant, file, data, limits)

    verdict = _diagnosed(task, own, asked(own), data)
    if not task.plan.variants:
        return records.exercise_record(verdict, file, weight, data)
    other = variants.answered(own, verdict, asked)
    return {**records.exercise_record(variants.told_in_the_usual(own, verdict, other), file, weight, data), "variant": variants.record(own, other)}


def _grade(task: Task, variant: Variant, file: str, data: bytes, limits: Limits) -> Verdict:
    from ..grading import grade, plan_for
    from ..grading.devices import best_for

    exercise, warm = variant.asked, crew(task.isolation)
    device = best_for(exercise)
    return grade(exercise, data, name=file, limits=limits, seed=task.plan.seed(task.owner, exercise.id), device=device, isolation=task.isolation,
                 warm=lambda: warm.worker(plan_for(exercise, limits, device)), flips=variant.flips)


def _diagnosed(task: Task, own: Variant, verdict: Verdict, data: bytes = b"") -> Verdict:
    from ..diagnosis import diagnosed, leaning, wants_diagnosis
    from ..grading import Limits, plan_for

    if wants_diagnosis(verdict):
        with contextlib.suppress(Exception):  # a verdict is not lost to its explanation, whatever a hostile result does to it
            leans = leaning(data, own.exercise.solution.read_bytes())
            return diagnosed(own.exercise, verdict, crew(task.isolation).troupe(plan_for(own.asked, Limits(), "cpu")), own.silent, leans)
    return verdict


def _answers(plan: TakeHome, given: Return, pack: Pack) -> tuple[list[dict[str, Any]], str]:
    from ..quiz.mark import mark
    from ..quiz.question import load_bank

    bank = load_bank(pack.questions_dir)
    texts, remark = read_answers(given, tuple(asked.id for asked in plan.questions))
    marked = []
    for asked in plan.questions:
        marking = mark(bank.get(asked.id), texts.get(asked.id, ""))
        marked.append({**marking.record(), "answer": texts.get(asked.id, ""), "weight": asked.weight, "max_score": 1.0,
                       "spans": [[point.id, *point.span] for point in marking.points if point.earned and point.span]})
    return marked, remark if not given.problem else ""


# ---------------------------------------------------------------- the journal


def read_journal(path: Path) -> dict[str, dict[str, Any]]:
    """The last whole record of each candidate. A line that a kill tore is left out."""
    found: dict[str, dict[str, Any]] = {}
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return {}
    for line in lines:
        with contextlib.suppress(ValueError):
            told = json.loads(line)
            if isinstance(told, dict) and told.get("version") == records.VERSION and isinstance(told.get("candidate"), str):
                found[told["candidate"]] = told
    return found


@contextlib.contextmanager
def journal(path: Path) -> Iterator[Callable[[str], None]]:
    """Append one record at a time, each on the disk before the next. Raises UsageProblem where the disk refuses."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        raise UsageProblem(f"{path} can't be written ({error.strerror}). Name another folder with --results.") from None
    try:
        if (size := os.fstat(fd).st_size) and os.pread(fd, 1, size - 1) != b"\n":
            os.write(fd, b"\n")  # a torn line ends here

        def append(line: str) -> None:
            data = memoryview(line.encode() + b"\n")
            try:
                while data:
                    data = data[os.write(fd, data) :]
                os.fsync(fd)
            except OSError as error:
                raise UsageProblem(f"{path} can't be written ({error.strerror}). Make room and run the same command again: it goes on from here.") from None

        yield append
    finally:
        os.close(fd)


# ---------------------------------------------------------------- the run


def run(executor: Executor, tasks: list[Task], results: Path, jobs: int, on_done: Callable[[dict[str, Any], bool], None]) -> list[dict[str, Any]]:
    """Grade every task that the journal has no record of, write the results file, return all records in order of candidate.

    ``on_done(record, fresh)`` is told of each. A task that fails in the grader becomes a record that says so, and is graded again next time.
    """
    results.mkdir(parents=True, exist_ok=True)
    before = read_journal(results / JOURNAL)
    done: dict[str, dict[str, Any]] = {}
    open_tasks = []
    for task in tasks:
        kept = before.get(task.candidate)
        if kept is not None and kept["key"] == task.key(read(task.candidate, Path(task.path))):
            done[task.candidate] = kept
            on_done(kept, False)
        else:
            open_tasks.append(task)
    with journal(results / JOURNAL) as append:
        for task, line in _graded(executor, open_tasks, jobs):
            told = json.loads(line)
            if not told.get("fault"):
                append(line)
            done[task.candidate] = told
            on_done(told, True)
    ordered = [done[name] for name in sorted(done)]
    write_beside(results / RESULTS, "".join(records.dumps(told) + "\n" for told in ordered).encode())
    return ordered


def _graded(executor: Executor, tasks: list[Task], jobs: int) -> Iterator[tuple[Task, str]]:
    """Results as they come, with no more handed out than the workers need."""
    waiting = iter(tasks)
    running: dict[Future[str], Task] = {}

    def hand_out() -> None:
        for task in waiting:
            running[executor.submit(grade_return, task)] = task
            if len(running) >= jobs * IN_FLIGHT:
                return

    hand_out()
    while running:
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in finished:
            task = running.pop(future)
            try:
                line = future.result()
            except Exception as error:
                line = fault(task, error)
            yield task, line
        hand_out()


def fault(task: Task, error: Exception) -> str:
    """The record of a return that the grader failed on: no marks, and graded again at the next run."""
    return records.dumps({
        "version": records.VERSION, "candidate": task.candidate, "entry": Path(task.path).name, "key": "", "fault": True, "exercises": [], "answers": [],
        "problem": f"The grader failed on it ({type(error).__name__}: {error}); it is graded again at the next run.", "remarks": [], "score": 0.0,
        "max_score": 0.0,
    })
