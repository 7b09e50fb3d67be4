"""What a command leaves in the learner's record. A record that can't be written never spoils the command: it becomes one warning."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ..errors import AttngradeError

if TYPE_CHECKING:
    from ..verdict import Verdict


def after_checks(verdicts: Sequence[Verdict], sources: Sequence[bytes], now: datetime | None = None) -> str:
    """Log these checks and put the questions about their misconceptions on the deck. Returns a warning, "" when all went well.

    A grader's fault is no attempt and isn't logged.
    """
    from ..store import open_store

    moment = now or datetime.now().astimezone()
    try:
        with open_store() as store:
            for verdict, source in zip(verdicts, sources, strict=True):
                _log(store, verdict, source, moment)
    except AttngradeError as problem:
        return f"This check is not in your record: {problem}"
    return ""


def _log(store: object, verdict: Verdict, source: bytes, moment: datetime) -> None:
    from ..quiz.deck import remember_misconceptions
    from ..store import Attempt, Store
    from ..verdict import Word

    assert isinstance(store, Store)
    if verdict.word is Word.ERROR:
        return
    named = [each for each in verdict.misconceptions if each.kind == "misconception"]
    store.add(
        Attempt(
            verdict.exercise, str(verdict.word), float(verdict.score), float(verdict.max_score), tuple(each.id for each in named),
            hashlib.sha256(source).hexdigest(), round(float(verdict.duration_s), 3), str(verdict.reason or ""),
        ),
        moment,
    )  # fmt: skip
    if verdict.word is Word.FAILED:
        remember_misconceptions(store, [each.question for each in named], moment, because=verdict.exercise)
