"""`Store`: append to the log, and count from it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from .database import open_database, told, transaction
from .home import database_path
from .records import (
    Attempt,
    Entry,
    GiveUp,
    Hint,
    Record,
    Setting,
    moment_from,
    moment_text,
    plain,
    record_from,
    subject,
)


def open_store(path: Path | None = None, *, writing: bool = True) -> Store:
    """The record at `path` (default: in attngrade's own folder). Raises StoreProblem; with `writing=False` an unwritable folder is no problem."""
    place = path or database_path()
    return Store(place, open_database(place, writing=writing))


class Store:
    """The learner's record. Close it, or use it in a `with`."""

    def __init__(self, path: Path, connection: Any):
        self.path = path
        self._connection = connection

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        with told(self.path):
            self._connection.close()

    def add(self, record: Record, at: datetime) -> str:
        """Append one record; once this returns it's on the disk. Returns its permanent id."""
        return self.add_all([record], at)[0]

    def add_all(self, records: Iterable[Record], at: datetime) -> list[str]:
        """Append several records, all or none of them."""
        entries = [Entry(uuid.uuid4().hex, at, record) for record in records]
        self.add_entries(entries)
        return [entry.id for entry in entries]

    def add_entries(self, entries: Iterable[Entry]) -> int:
        """Append entries that bring their own ids, all or none; those already here are skipped. Returns how many were new."""
        rows = [(e.id, moment_text(e.at), e.record.kind, subject(e.record), json.dumps(plain(e.record), allow_nan=False)) for e in entries]
        with told(self.path), transaction(self._connection):
            before = self._count()
            self._connection.executemany("INSERT OR IGNORE INTO log (id, at, kind, subject, body) VALUES (?, ?, ?, ?, ?)", rows)
            return self._count() - before

    def entries(self, *kinds: type[Record], about: str | None = None) -> list[Entry]:
        """The log in order of time: of these kinds (of all where none is named), about one exercise, question, answer or setting."""
        where, values = ["1"], [kind.kind for kind in kinds]
        if kinds:
            where = [f"kind IN ({', '.join('?' * len(kinds))})"]
        if about is not None:
            where, values = [*where, "subject = ?"], [*values, about]
        query = f"SELECT id, at, kind, body FROM log WHERE {' AND '.join(where)} ORDER BY at, seq"
        with told(self.path):
            rows = self._connection.execute(query, values).fetchall()
        return [Entry(name, moment_from(at), record_from(word, json.loads(body), strict=False)) for name, at, word, body in rows]

    def attempts(self, exercise: str | None = None) -> list[Entry]:
        """Checks of an exercise, or of all."""
        return self.entries(Attempt, about=exercise)

    def passed(self, exercise: str) -> bool:
        """Whether any check of the exercise has passed."""
        return any(entry.record.verdict == "passed" for entry in self.attempts(exercise))

    def hints_shown(self, exercise: str) -> int:
        """How many of the exercise's hints have been shown."""
        return max((entry.record.number for entry in self.entries(Hint, about=exercise)), default=0)

    def gave_up(self, exercise: str) -> bool:
        """Whether the solution was shown before the exercise was passed."""
        return bool(self.entries(GiveUp, about=exercise))

    def setting(self, key: str, default: str = "") -> str:
        """The latest value of a setting."""
        found = self.entries(Setting, about=key)
        return found[-1].record.value if found else default

    def remember(self, key: str, value: str, at: datetime) -> None:
        """Set a setting; a value that it already has adds nothing."""
        if self.setting(key) != value:
            self.add(Setting(key, value), at)

    def save_draft(self, question: str, text: str, seconds: float) -> None:
        """Keep the beginning of an answer; it replaces the one before and is no part of the log."""
        with told(self.path), transaction(self._connection):
            self._connection.execute("INSERT OR REPLACE INTO drafts VALUES (?, ?, ?)", (question, json.dumps(text), seconds))

    def draft(self, question: str) -> tuple[str, float]:
        """The beginning of an answer and the seconds spent on it; ("", 0.0) where there is none."""
        with told(self.path):
            row = self._connection.execute("SELECT text, seconds FROM drafts WHERE question = ?", (question,)).fetchone()
        return (json.loads(row[0]), row[1]) if row else ("", 0.0)

    def drop_draft(self, question: str) -> None:
        """Forget it."""
        with told(self.path), transaction(self._connection):
            self._connection.execute("DELETE FROM drafts WHERE question = ?", (question,))

    def _count(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM log").fetchone()[0])
