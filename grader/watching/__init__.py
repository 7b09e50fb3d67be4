"""Watch mode: a file is saved, its verdict follows. The terminal is in ``screen`` and ``keys``, the loop in ``loop``."""

from __future__ import annotations

import contextlib
import hashlib
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ..catalog import Exercise, Pack
from ..diagnosis import diagnosed, leaning, wants_diagnosis
from ..errors import AttngradeError
from ..grading import Limits, grade, plan_for
from ..sandbox.errors import WorkerError
from ..sandbox.host import Worker
from ..sandbox.nursery import Crew
from ..verdict import Verdict, Word
from ..workspace import Workspace

SETTLE_S = 0.015
GONE_S = 0.4
TOLD = float("inf")
DONE = (Word.PASSED, Word.PROVISIONAL)


@dataclass
class Files:
    """The learner's files as last seen. Polled, so that network mounts and editors that write by rename are seen alike."""

    place: Workspace
    exercises: tuple[Exercise, ...]
    saved: bytes = b""  # what the change that was seen last left in its file
    _stamps: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    _digests: dict[str, str] = field(default_factory=dict)
    _missing: dict[str, float] = field(default_factory=dict)

    def changed(self) -> Exercise | None:
        """The exercise whose file has new content since the last call, the latest save first."""
        fresh = []
        for exercise in self.exercises:
            stamp = _stamp(self.place.path(exercise))
            if stamp is not None and stamp != self._stamps.get(exercise.id):
                fresh.append((stamp, exercise))
        for stamp, exercise in sorted(fresh, key=lambda pair: -pair[0][0]):
            self._stamps[exercise.id] = stamp
            data = settled(self.place.path(exercise))
            digest = hashlib.sha256(data or b"").hexdigest()
            if data is not None and digest != self._digests.get(exercise.id):
                self._digests[exercise.id], self.saved = digest, data
                return exercise
        return None

    def newer(self, exercise: Exercise, data: bytes) -> bool:
        """Whether a file has been saved with other content than ``data``, its change not yet taken as seen."""
        path = self.place.path(exercise)
        if _stamp(path) in (None, self._stamps.get(exercise.id)):
            return False
        try:
            return path.read_bytes() != data
        except OSError:
            return False

    def lost(self) -> list[Exercise]:
        """Exercises whose file has been gone for a moment: each is told once, and a save by rename is none."""
        gone = []
        for exercise in self.exercises:
            if _stamp(self.place.path(exercise)) is not None:
                self._missing.pop(exercise.id, None)
                continue
            since = self._missing.setdefault(exercise.id, time.monotonic())
            if since != TOLD and time.monotonic() - since > GONE_S:
                self._missing[exercise.id] = TOLD
                self._stamps.pop(exercise.id, None)
                self._digests.pop(exercise.id, None)  # the same bytes, saved again, are worth a check
                gone.append(exercise)
        return gone

    def look(self) -> None:
        """Take everything as seen."""
        while self.changed() is not None:
            pass
        self._missing = {one.id: TOLD for one in self.exercises if _stamp(self.place.path(one)) is None}


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        told = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(told.st_mode):
        return None
    return told.st_mtime_ns, told.st_size, told.st_ino


def settled(path: Path, tries: int = 20) -> bytes | None:
    """The bytes of a file once two looks agree: an editor may be in the middle of a save. None if it is gone or unreadable."""
    for _ in range(tries):
        try:
            first = path.read_bytes()
            time.sleep(SETTLE_S)
            if path.read_bytes() == first and (first or _ == tries - 1):
                return first
        except OSError:
            time.sleep(SETTLE_S)
    return None


class Bench:
    """Grades with warm workers: one stands ready, jailed, with everything imported, before a file is saved. Each is used once."""

    def __init__(self, pack: Pack, crew: Crew, limits: Limits, seed: Callable[[], int], device: Callable[[Exercise], str]):
        self.pack, self.crew, self.limits, self.seed, self.device = pack, crew, limits, seed, device
        self._ready: dict[str, Worker] = {}

    def prepare(self, exercise: Exercise) -> None:
        """Have a worker of this exercise's kind stand ready."""
        ready = self._ready.get(exercise.id)
        if ready is None or ready.death is not None:
            self._ready[exercise.id] = self.crew.worker(plan_for(exercise, self.limits, self.device(exercise)))

    def judge(self, exercise: Exercise, data: bytes, before_naming: Callable[[Verdict], None] | None = None) -> Verdict:
        """The verdict with its mistakes named; one that waits for their names is told ``before_naming``."""
        verdict = grade(
            exercise, data, name=f"{exercise.module}.py", limits=self.limits, seed=self.seed(), device=self.device(exercise),
            isolation=self.crew.isolation, warm=lambda: self._take(exercise),
        )
        if not wants_diagnosis(verdict):
            return verdict
        if before_naming is not None:
            before_naming(verdict)
        return self._explained(exercise, data, verdict)

    def _explained(self, exercise: Exercise, data: bytes, verdict: Verdict) -> Verdict:
        """The verdict with its mistakes named; a troupe that was killed meanwhile gets one successor, and no verdict is lost to its explanation."""
        for _ in range(2):
            with contextlib.suppress(AttngradeError, WorkerError, OSError):
                leans = leaning(data, exercise.solution.read_bytes())
                return diagnosed(exercise, verdict, self.crew.troupe(plan_for(exercise, self.limits, "cpu")), leans=leans)
        return verdict

    def _take(self, exercise: Exercise) -> Worker:
        ready = self._ready.pop(exercise.id, None)
        if ready is not None and ready.alive():
            return ready
        if ready is not None:
            ready.close()
        return self.crew.worker(plan_for(exercise, self.limits, self.device(exercise)))

    def close(self) -> None:
        """Leave nothing running."""
        for worker in self._ready.values():
            worker.close()
        self._ready.clear()
