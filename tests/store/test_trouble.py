"""Whatever happens to the file or the disk: nothing that was acknowledged is lost, and a person reads a sentence."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pytest
from attngrade.store import Hint, Store, StoreProblem, open_store
from attngrade.store.database import MIGRATIONS

_WRITER = """
import sys
from datetime import datetime, UTC
from pathlib import Path
from attngrade.store import Hint, open_store
store = open_store(Path(sys.argv[1]))
for number in range(int(sys.argv[2])):
    print(store.add(Hint(sys.argv[3], number + 1), datetime.now(UTC)), flush=True)
"""


def _writer(path: Path, number: int, name: str = "exercise03", **more: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _WRITER, str(path), str(number), name]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)  # type: ignore[call-overload,no-any-return]


def test_two_terminals_can_create_and_write_at_once(path: Path) -> None:
    writers = [_writer(path, 40, f"exercise0{number}") for number in range(3)]
    outputs = [writer.communicate(timeout=60) for writer in writers]

    assert [writer.returncode for writer in writers] == [0, 0, 0], outputs
    with open_store(path) as store:
        assert len(store.entries(Hint)) == 120


def test_a_kill_in_the_middle_of_writing_loses_nothing_that_was_acknowledged(path: Path) -> None:
    for _ in range(3):
        writer = _writer(path, 100_000)
        assert writer.stdout is not None
        seen = [writer.stdout.readline().strip() for _ in range(20)]
        writer.send_signal(signal.SIGKILL)
        seen += [line.strip() for line in writer.stdout.read().splitlines() if len(line.strip()) == 32]
        writer.communicate()

        with open_store(path) as store:
            assert set(seen) <= {entry.id for entry in store.entries(Hint)}
            assert store._connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


def test_a_file_of_every_older_version_is_brought_up_to_date_with_its_entries(path: Path, now: datetime) -> None:
    for version in range(1, len(MIGRATIONS)):
        old = path.with_name(f"v{version}.db")
        with sqlite3.connect(old) as connection:
            for statement in [each for step in MIGRATIONS[:version] for each in step]:
                connection.execute(statement)
            entry = ("a", "2026-01-01T00:00:00.000000Z", "give-up", "x", '{"exercise": "x"}')
            connection.execute("INSERT INTO log (id, at, kind, subject, body) VALUES (?, ?, ?, ?, ?)", entry)
            connection.execute(f"PRAGMA user_version={version}")
            connection.execute("PRAGMA application_id=0x61746E67")
        connection.close()

        with open_store(old) as store:
            store.save_draft("q", "text", 0.0)
            assert store.gave_up("x")


def test_a_released_migration_never_changes() -> None:
    import hashlib

    assert [hashlib.sha256(";".join(step).encode()).hexdigest()[:12] for step in MIGRATIONS] == FINGERPRINTS


FINGERPRINTS: list[str] = ["6098fd223ece", "0d52d7511b57"]


def test_a_file_of_a_newer_version_is_left_alone(path: Path) -> None:
    with open_store(path) as store:
        store._connection.execute("PRAGMA user_version=99")

    with pytest.raises(StoreProblem, match=r"newer attngrade .*Upgrade"):
        open_store(path)
    with pytest.raises(StoreProblem, match="newer attngrade"):
        open_store(path, writing=False)


def test_another_programs_database_is_left_alone(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version=3")
    connection.close()

    with pytest.raises(StoreProblem, match="another program"):
        open_store(path)


@pytest.mark.parametrize("writing", [True, False])
@pytest.mark.parametrize("damage", ["garbage", "zeros-inside", "cut"])
def test_a_damaged_file_is_named_with_what_to_do(path: Path, now: datetime, damage: str, writing: bool) -> None:
    with open_store(path) as store:
        for number in range(150):
            store.add(Hint("exercise03", number), now)
    content = path.read_bytes()
    assert len(content) > 16_000
    zeros = content[:4096] + bytes(9000) + content[13096:]
    path.write_bytes({"garbage": b"no database" * 500, "zeros-inside": zeros, "cut": content[: len(content) // 2]}[damage])

    with pytest.raises(StoreProblem, match=r"is damaged\. Move it away .*--import"):
        open_store(path, writing=writing)


def test_a_file_damaged_while_open_is_a_sentence_as_well(store: Store, now: datetime, path: Path) -> None:
    for number in range(150):
        store.add(Hint("exercise03", number), now)
    store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with open(path, "r+b") as file:
        file.seek(4096)
        file.write(os.urandom(path.stat().st_size - 4096))
    store._connection.execute("PRAGMA shrink_memory")

    with pytest.raises(StoreProblem, match="damaged"):
        store.entries()


def test_a_home_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("not a folder")

    with pytest.raises(StoreProblem, match="can't be used for your record"):
        open_store(tmp_path / "home" / "attngrade.db")
    with open_store(tmp_path / "home" / "attngrade.db", writing=False) as store:
        assert store.entries() == []


def test_a_full_disk_is_named_and_what_was_there_stays(store: Store, now: datetime, path: Path) -> None:
    store.add(Hint("exercise03", 1), now)
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count={pages}")

    with pytest.raises(StoreProblem, match="no space left"):
        for number in range(2, 1000):
            store.add(Hint("exercise03" * 50, number), now)

    assert store.hints_shown("exercise03") == 1


def test_a_disk_that_refuses_bytes_is_a_sentence(path: Path, now: datetime) -> None:
    import resource

    def small_files() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (120_000, 120_000))

    writer = _writer(path, 100_000, preexec_fn=small_files)
    _, errors = writer.communicate(timeout=60)

    assert "StoreProblem" in errors.splitlines()[-1]
    assert "disk" in errors.splitlines()[-1]
    with open_store(path) as store:
        assert store.entries(Hint)


def test_another_terminal_that_never_lets_go_is_named(path: Path, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    import attngrade.store.database as database

    with open_store(path) as holder:
        holder._connection.execute("BEGIN IMMEDIATE")
        monkeypatch.setattr(database, "PATIENCE_S", 0.2)
        began = time.monotonic()

        with pytest.raises(StoreProblem, match="Another attngrade has been writing"):
            open_store(path)
        assert time.monotonic() - began < 5


def _as_somebody_else(work: Callable[[], list[str]]) -> list[str]:
    """What the work returns in a process without a superuser's rights."""
    with ProcessPoolExecutor(1, mp_context=get_context("fork"), initializer=_without_rights) as pool:
        return pool.submit(work).result(timeout=60)


def _without_rights() -> None:
    if os.geteuid() == 0:
        os.setgid(65534)
        os.setuid(65534)


def _read_then_write(path: Path) -> list[str]:
    with open_store(path, writing=False) as store:
        shown = str(store.hints_shown("exercise03"))
    try:
        open_store(path)
    except StoreProblem as problem:
        return [shown, str(problem)]
    return [shown, "written"]


@pytest.mark.parametrize("state", ["closed", "left by a kill"])
def test_a_read_only_home_can_be_read_and_says_so_when_written(state: str) -> None:
    folder = Path(tempfile.mkdtemp(prefix="attngrade-test-", dir="/var/tmp"))  # pytest's own folders are closed to others
    folder.chmod(0o755)
    try:
        writer = _writer(folder / "attngrade.db", 2 if state == "closed" else 100_000)
        assert writer.stdout is not None
        for _ in range(2):
            writer.stdout.readline()
        if state == "left by a kill":
            writer.send_signal(signal.SIGKILL)
        writer.communicate()
        folder.chmod(0o555)
        shown, problem = _as_somebody_else(partial(_read_then_write, folder / "attngrade.db"))
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)

    assert int(shown) >= 2
    assert "ATTNGRADE_HOME" in problem
