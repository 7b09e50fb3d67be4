"""Whose code a picture is drawn from, and drawing it from there: always in a jailed worker."""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..catalog import Exercise
from ..errors import AttngradeError, UsageProblem
from ..grading import Limits, Opening
from ..grading.source import Unreadable, read_source
from ..sandbox.errors import WorkerError
from .picture import Author, Picture

if TYPE_CHECKING:
    from ..store import Store
    from ..workspace import Workspace

PASSING = ("passed", "provisional")


class PlotProblem(AttngradeError):
    """The picture could not be computed."""


@dataclass(frozen=True)
class Source:
    """The source to ask, whether it's the learner's own, and why."""

    data: bytes
    own: bool
    because: str


def chosen(exercise: Exercise, place: Workspace | None, store: Store | None) -> Source:
    """The learner's file where exactly this file has passed; the reference otherwise."""
    reference = exercise.solution.read_bytes()
    if place is None:
        return Source(reference, False, "From the reference: there is no workspace here.")
    try:
        data = place.file(exercise).read_bytes()
    except (UsageProblem, OSError):
        return Source(reference, False, f"From the reference: {exercise.module}.py is missing or can't be read.")
    attempts = [entry.record for entry in store.attempts(exercise.key)] if store is not None else []
    passed = {attempt.sha256 for attempt in attempts if attempt.verdict in PASSING}
    digest = hashlib.sha256(data).hexdigest()
    if digest in passed:
        outright = any(attempt.verdict == "passed" for attempt in attempts if attempt.sha256 == digest)
        return Source(data, True, f"From your {exercise.module}.py, which {'passes' if outright else 'is right as far as it was checked'}.")
    if passed:
        return Source(reference, False, f"From the reference: your file has changed since it passed. `attngrade check {exercise.number}` settles it.")
    return Source(reference, False, f"From the reference: yours doesn't pass yet. `attngrade check {exercise.number}`, then plot again.")


def author_of(exercise: Exercise) -> Author:
    """The pack's picture of an exercise, found by its slug. Raises UsageProblem where there is none."""
    path = exercise.checks.parent.parent / "plots" / f"plot_{exercise.slug}.py"
    if not path.is_file():
        raise UsageProblem(f"{exercise.id} has no picture. `attngrade show {exercise.id}` shows its statement.")
    return _loaded(path)


def _loaded(path: Path) -> Author:
    plan = importlib.util.spec_from_file_location(f"attngrade_plot_{path.stem}", path)
    assert plan is not None and plan.loader is not None, "a path that ends in .py has a loader"
    module = importlib.util.module_from_spec(plan)
    plan.loader.exec_module(module)
    found: Author = module.picture
    return found


def drawn(exercise: Exercise, source: Source, *, seed: int, isolation: str = "auto", limits: Limits | None = None) -> tuple[Picture, str]:
    """The picture, and the sentence that says whose code it is from. Own code that fails on the way makes room for the reference."""
    author = author_of(exercise)
    try:
        return _asked(exercise, source, author, seed, isolation, limits), source.because
    except (WorkerError, Unreadable, AttributeError, TypeError, ValueError, IndexError) as error:
        if not source.own:
            raise PlotProblem(f"The picture of {exercise.id} could not be computed: {error}. `attngrade doctor` tells what is missing here.") from error
        reason = f"From the reference: your file passes its checks, but on the picture's own inputs it failed ({str(error).rstrip('.')})."
        return _asked(exercise, Source(exercise.solution.read_bytes(), False, reason), author, seed, isolation, limits), reason


def _asked(exercise: Exercise, source: Source, author: Author, seed: int, isolation: str, limits: Limits | None) -> Picture:
    opening = Opening(exercise, limits or Limits(), "cpu", isolation, None)
    try:
        return author(opening.load(read_source(source.data, exercise.stub.name)), np.random.default_rng(seed))
    finally:
        opening.close()
