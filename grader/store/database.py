"""The file: opened, brought up to date, and every way in which SQLite can fail turned into a sentence."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import AttngradeError

APPLICATION = 0x61746E67  # "atng"
PATIENCE_S = 10.0

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE log (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, at TEXT NOT NULL, kind TEXT NOT NULL,"
        " subject TEXT NOT NULL, body TEXT NOT NULL)",
        "CREATE INDEX log_kind ON log (kind, subject, at)",
        "CREATE TRIGGER log_is_append_only BEFORE UPDATE ON log BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END",
        "CREATE TRIGGER log_forgets_nothing BEFORE DELETE ON log BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END",
    ),
    ("CREATE TABLE drafts (question TEXT PRIMARY KEY, text TEXT NOT NULL, seconds REAL NOT NULL)",),
)  # number n takes the file from version n to n+1; a released one never changes


class StoreProblem(AttngradeError):
    """The record can't be read or written; the message says which file and what to do."""


def open_database(path: Path, *, writing: bool) -> sqlite3.Connection:
    """A connection at the newest version. Reading never needs a writable folder; writing is tried out before anything is promised."""
    with told(path):
        if writing:
            return _writable(path)
        try:
            return _writable(path)
        except (sqlite3.OperationalError, OSError) as error:
            if _is_damage(error):
                raise
            return _readable(path)


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Whatever SQLite or the disk raises comes out as a StoreProblem."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreProblem(_sentence(error, path)) from error
    except OSError as error:
        raise StoreProblem(f"{path.parent} can't be used for your record ({error.strerror}). {_ELSEWHERE}") from error


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; waits its turn behind another terminal's."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _writable(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    connection = sqlite3.connect(path, timeout=PATIENCE_S, isolation_level=None)
    try:
        _patiently(lambda: connection.execute("PRAGMA journal_mode=WAL").fetchone())
        connection.execute("PRAGMA synchronous=FULL")
        _check_identity(connection, path)
        with transaction(connection):
            _migrate(connection)
            connection.execute("DELETE FROM drafts WHERE 0")  # fails here, not at the first answer, where nothing can be written
        return connection
    except BaseException:
        connection.close()
        raise


def _readable(path: Path) -> sqlite3.Connection:
    if not path.exists():
        empty = sqlite3.connect(":memory:", isolation_level=None)
        _migrate(empty)
        return empty
    for how in ("mode=ro", "mode=ro&immutable=1"):
        connection = sqlite3.connect(f"{path.as_uri()}?{how}", uri=True, timeout=PATIENCE_S, isolation_level=None)
        try:
            _check_identity(connection, path)
            if connection.execute("PRAGMA user_version").fetchone()[0] == len(MIGRATIONS):
                return connection
            raise StoreProblem(f"{path} is from an older attngrade and its folder can't be written, so it can't be brought up to date. {_ELSEWHERE}")
        except sqlite3.OperationalError:
            connection.close()
    raise StoreProblem(f"{path} can't be read. Check its permissions. {_ELSEWHERE}")


def _check_identity(connection: sqlite3.Connection, path: Path) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    owner = connection.execute("PRAGMA application_id").fetchone()[0]
    if version and owner != APPLICATION:
        raise StoreProblem(f"{path} belongs to another program. {_ELSEWHERE}")
    if version > len(MIGRATIONS):
        raise StoreProblem(f"{path} was written by a newer attngrade (version {version}; this one knows {len(MIGRATIONS)}). Upgrade attngrade.")
    if version and connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
        raise sqlite3.DatabaseError("database disk image is malformed")


def _migrate(connection: sqlite3.Connection) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    for number, statements in enumerate(MIGRATIONS[version:], start=version + 1):
        for statement in statements:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version={number}")
    if not version:
        connection.execute(f"PRAGMA application_id={APPLICATION}")


def _patiently(action: object) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:  # switching to WAL is the one step at which SQLite doesn't wait by itself
        try:
            action()  # type: ignore[operator]
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


_ELSEWHERE = "Make it writable, or set ATTNGRADE_HOME to another folder."


def _is_damage(error: Exception) -> bool:
    return getattr(error, "sqlite_errorname", "").startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))


def _sentence(error: sqlite3.Error, path: Path) -> str:
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or "malformed" in str(error):
        return (
            f"{path} is damaged. Move it away (a fresh one is made then) and bring your last export back with `attngrade progress --import FILE`;"
            f" `sqlite3 {path} .recover` may save the rest."
        )
    if name.startswith("SQLITE_FULL"):
        return f"There is no space left for {path}. Free some, or set ATTNGRADE_HOME to a folder on another disk."
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return f"Another attngrade has been writing to {path} for {PATIENCE_S:g} seconds. Try again, or end the other one."
    if name.startswith("SQLITE_IOERR"):
        return f"The disk failed on {path} ({error}): it's full, or it can't keep such a file. Set ATTNGRADE_HOME to a folder on another disk."
    return f"{path} can't be used for your record ({error}). {_ELSEWHERE}"
