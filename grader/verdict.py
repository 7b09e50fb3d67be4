"""Frozen records of what happened: no files, no clocks, no colours."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """What became of one check."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


class Word(StrEnum):
    """The verdict on one exercise."""

    PASSED = "passed"
    FAILED = "failed"
    PROVISIONAL = "provisional"
    ERROR = "error"


class Reason(StrEnum):
    """Why a verdict is not ``passed``; the words are fixed by the JSON interface."""

    WRONG_RESULT = "wrong-result"
    RULE_BROKEN = "rule-broken"
    NOT_IMPLEMENTED = "not-implemented"
    LOAD_ERROR = "load-error"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    CRASH = "crash"
    NO_GPU = "no-gpu"
    GRADER = "grader"


@dataclass(frozen=True)
class Evidence:
    """What a failed claim saw. Arrays stay on the host; renderers show small ones."""

    function: str = ""
    case: str = ""
    arguments: str = ""
    got: Any = None
    want: Any = None
    index: tuple[int, ...] | None = None
    got_at: str = ""
    want_at: str = ""
    error: float | None = None
    tolerance: float | None = None
    note: str = ""
    because: str = ""
    raised: str = ""
    dtype: str = ""


@dataclass(frozen=True)
class CheckResult:
    """One check's outcome and points."""

    id: str
    title: str
    outcome: Outcome
    points: float
    max_points: float
    stretch: bool = False
    message: str = ""
    functions: tuple[str, ...] = ()
    evidence: Evidence | None = None
    reason: Reason | None = None


@dataclass(frozen=True)
class Named:
    """A misconception (or a symptom) that the diagnosis names."""

    id: str
    message: str
    function: str = ""
    kind: str = "misconception"  # misconception | symptom
    question: str | None = None
    hint: str | None = None  # what `attngrade hint` says of it
    one_of: tuple[str, ...] = ()


@dataclass(frozen=True)
class Broken:
    """A broken rule: an off-limits name, where it stands, and the functions that lose their points."""

    name: str
    line: int
    functions: tuple[str, ...]
    shown: str


@dataclass(frozen=True)
class Verdict:
    """All that is known about one submission to one exercise."""

    exercise: str
    title: str
    word: Word
    reason: Reason | None = None
    message: str = ""
    checks: tuple[CheckResult, ...] = ()
    misconceptions: tuple[Named, ...] = ()
    broken: tuple[Broken, ...] = ()
    isolation: str = "process"
    isolation_note: str = ""
    device: str = "cpu"
    seed: int = 0
    duration_s: float = 0.0
    output: str = ""
    line: int | None = None
    line_shown: str = ""
    calls: tuple[Any, ...] = field(default=(), compare=False, repr=False)

    @property
    def score(self) -> float:
        """Points earned, stretch points included."""
        return sum(check.points for check in self.checks)

    @property
    def max_score(self) -> float:
        """Points there are, stretch points included."""
        return sum(check.max_points for check in self.checks)

    @property
    def failed(self) -> tuple[CheckResult, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.outcome is Outcome.FAILED)


EXIT_PASSED, EXIT_FAILED, EXIT_USAGE, EXIT_GRADER, EXIT_PROVISIONAL = 0, 1, 2, 3, 4


def exit_code(verdicts: list[Verdict]) -> int:
    """The exit code for several verdicts: a grader's fault outweighs a failure, a failure a provisional."""
    words = {verdict.word for verdict in verdicts}
    if Word.ERROR in words:
        return EXIT_GRADER
    if Word.FAILED in words:
        return EXIT_FAILED
    return EXIT_PROVISIONAL if Word.PROVISIONAL in words else EXIT_PASSED
