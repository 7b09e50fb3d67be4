"""The log keeps what it's given, in order, for good."""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from attngrade.store import Answer, Attempt, Flip, GiveUp, Hint, Review, Setting, Store, database_path, home, open_store


def test_what_is_added_is_there_in_the_next_session(path: Path, now: datetime) -> None:
    record = Attempt("exercise03", "failed", 3.0, 12.0, ("mask-aligned-top-left",), "ab" * 32, 1.5, "wrong-result")
    with open_store(path) as store:
        name = store.add(record, now)

    with open_store(path) as store:
        [entry] = store.attempts("exercise03")

    assert (entry.id, entry.at, entry.record) == (name, now, record)


def test_entries_come_in_order_of_time_whatever_the_order_of_writing(store: Store, now: datetime) -> None:
    for minutes in (5, 1, 3):
        store.add(Hint("exercise03", minutes), now + timedelta(minutes=minutes))

    assert [entry.record.number for entry in store.entries(Hint)] == [1, 3, 5]


def test_moments_of_other_time_zones_are_kept_as_the_same_moment(store: Store, now: datetime) -> None:
    store.add(Hint("exercise03", 1), now.astimezone(timezone(timedelta(hours=9))))

    assert store.entries(Hint)[0].at == now


def test_a_moment_without_a_time_zone_is_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="timezone-aware"):
        store.add(Hint("exercise03", 1), datetime(2026, 7, 26))


@pytest.mark.parametrize("statement", ["UPDATE log SET body = '{}'", "DELETE FROM log"])
def test_the_log_can_neither_be_changed_nor_shortened(store: Store, now: datetime, statement: str) -> None:
    store.add(GiveUp("exercise03"), now)

    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        store._connection.execute(statement)

    assert store.gave_up("exercise03")


def test_several_records_are_added_all_or_none(store: Store, now: datetime) -> None:
    with pytest.raises(ValueError):
        store.add_all([Hint("exercise03", 1), Answer("q", "text", float("nan"))], now)

    assert store.entries() == []


def test_hints_passes_and_given_up_solutions_are_counted_per_exercise(store: Store, now: datetime) -> None:
    store.add_all([Hint("exercise03", 1), Hint("exercise03", 2), Hint("exercise04", 1), GiveUp("exercise04")], now)
    store.add_all([Attempt("exercise03", "failed", 1, 2), Attempt("exercise03", "passed", 2, 2), Attempt("exercise04", "failed", 0, 2)], now)

    assert [store.hints_shown(name) for name in ("exercise03", "exercise04", "exercise05")] == [2, 1, 0]
    assert [store.passed(name) for name in ("exercise03", "exercise04")] == [True, False]
    assert [store.gave_up(name) for name in ("exercise03", "exercise04")] == [False, True]


def test_the_latest_value_of_a_setting_counts_and_repeating_it_adds_nothing(store: Store, now: datetime) -> None:
    for days, value in enumerate(["2026-09-01", "2026-10-01", "2026-10-01"]):
        store.remember("interview", value, now + timedelta(days=days))

    assert store.setting("interview") == "2026-10-01"
    assert len(store.entries(Setting)) == 2
    assert store.setting("absent", "none") == "none"


def test_a_draft_is_replaced_and_dropped_without_a_trace_in_the_log(store: Store) -> None:
    store.save_draft("q", "one", 1.0)
    store.save_draft("q", "one\ntwo \ud800", 2.5)

    assert store.draft("q") == ("one\ntwo \ud800", 2.5)
    store.drop_draft("q")
    assert store.draft("q") == ("", 0.0)
    assert store.entries() == []


@pytest.mark.parametrize("text", ["", "né ∞ 漢字 \x00 \x1b[31m", "lone \udcff surrogate", "x" * 200_000, "'; DROP TABLE log; --"])
def test_any_text_comes_back_as_it_went_in(store: Store, now: datetime, text: str) -> None:
    store.add(Answer("q", text, 0.5, earned=("std",)), now)

    assert store.entries(Answer)[0].record.text == text


def test_records_about_an_answer_are_found_by_its_id(store: Store, now: datetime) -> None:
    name = store.add(Answer("q", "text", 0.0), now)
    store.add_all([Flip(name, "std", True, 0.5), Review("q", 3, "2026-07-26", name)], now)

    assert [entry.record.point for entry in store.entries(Flip, about=name)] == ["std"]
    assert [entry.record.answer for entry in store.entries(Review, about="q")] == [name]


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        ({"ATTNGRADE_HOME": "/data/mine", "XDG_DATA_HOME": "/x"}, "linux", "/data/mine"),
        ({"HOME": "/home/ada"}, "linux", "/home/ada/.local/share/attngrade"),
        ({"HOME": "/home/ada", "XDG_DATA_HOME": "/x"}, "linux", "/x/attngrade"),
        ({"HOME": "/home/ada", "XDG_DATA_HOME": "relative"}, "linux", "/home/ada/.local/share/attngrade"),
        ({"HOME": "/Users/ada"}, "darwin", "/Users/ada/Library/Application Support/attngrade"),
        ({"HOME": "/u", "LOCALAPPDATA": "/u/AppData/Local"}, "win32", "/u/AppData/Local/attngrade"),
    ],
)
def test_the_record_lies_in_the_platforms_folder_unless_attngrade_home_says_where(environ: dict[str, str], platform: str, expected: str) -> None:
    assert home(environ, platform) == Path(expected)


def test_a_relative_attngrade_home_is_made_absolute() -> None:
    assert database_path({"ATTNGRADE_HOME": "here"}) == Path.cwd() / "here" / "attngrade.db"


def test_only_the_owner_can_look_into_a_fresh_folder(tmp_path: Path) -> None:
    with open_store(tmp_path / "fresh" / "attngrade.db"):
        pass

    assert (tmp_path / "fresh").stat().st_mode & 0o077 == 0
