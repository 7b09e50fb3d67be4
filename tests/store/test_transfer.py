"""Out as JSON Lines and in again: nothing doubled, nothing half taken."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from attngrade.store import Answer, Attempt, Called, Entry, Flip, GiveUp, Hint, ImportProblem, Review, Setting, Store, open_store, read_lines, write_lines
from attngrade.store.records import plain, record_from
from hypothesis import given, settings
from hypothesis import strategies as st

EVERY_KIND = [
    Attempt("exercise03", "failed", 3.0, 12.0, ("a", "b"), "ff", 0.25, "wrong-result"), Hint("exercise03", 1), GiveUp("exercise03"),
    Answer("q", "it's\nd_k ≤ ∞", 0.5, 2, ("std",), ("mean",), ("contradiction",), "rubric", 12.5, 1, "earlier"), Flip("id", "std", True, 0.75),
    Review("q", 3, "2026-07-26", "id"), Called("q", "2026-07-26", "exercise03"), Setting("interview", "2026-09-01"),
]  # fmt: skip


def test_an_export_of_every_kind_comes_back_as_the_same_entries(store: Store, now: datetime, tmp_path: Path) -> None:
    for minutes, record in enumerate(EVERY_KIND):
        store.add(record, now + timedelta(minutes=minutes))

    with open_store(tmp_path / "other.db") as other:
        assert read_lines(other, write_lines(store)) == (len(EVERY_KIND), 0)
        assert other.entries() == store.entries()


def test_importing_twice_adds_nothing(store: Store, now: datetime) -> None:
    store.add_all(EVERY_KIND, now)

    assert read_lines(store, list(write_lines(store))) == (0, len(EVERY_KIND))


def test_the_records_of_two_machines_are_merged_in_order_of_time(store: Store, now: datetime, tmp_path: Path) -> None:
    store.add(Setting("interview", "2026-09-01"), now)
    with open_store(tmp_path / "other.db") as other:
        other.add(Setting("interview", "2026-10-01"), now + timedelta(hours=1))
        read_lines(store, write_lines(other))

    assert store.setting("interview") == "2026-10-01"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("not json", "not JSON"),
        ("[1]", "expected an object"),
        ('{"attngrade": "record", "schema_version": 9}', "newer attngrade"),
        ('{"at": "2026-07-26T10:00:00Z", "kind": "hint", "exercise": "x", "number": 1}', "'id' is missing"),
        ('{"id": "a", "at": "yesterday", "kind": "hint", "exercise": "x", "number": 1}', "'at' must be a moment"),
        ('{"id": "a", "at": "2026-07-26T10:00:00", "kind": "hint", "exercise": "x", "number": 1}', "'at' must be a moment"),
        ('{"id": "a", "at": "0001-01-01T00:00:00+14:00", "kind": "hint", "exercise": "x", "number": 1}', "'at' must be a moment"),
        ('{"id": "a", "at": "2026-07-26T10:00:00Z", "kind": "dream", "exercise": "x"}', "'dream' is not one of"),
        ('{"id": "a", "at": "2026-07-26T10:00:00Z", "kind": "hint", "exercise": "x"}', "'number' is missing"),
        ('{"id": "a", "at": "2026-07-26T10:00:00Z", "kind": "hint", "exercise": "x", "number": true}', "'number' must be a whole number"),
        ('{"id": "a", "at": "2026-07-26T10:00:00Z", "kind": "hint", "exercise": "x", "number": 1, "mood": 3}', "'mood' is unknown"),
        ('{"id": "a", "at": "2026-07-26T10:00:00Z", "kind": "review", "question": "q", "rating": 7, "day": "2026-07-26"}', "'rating' must be"),
        ('{"id": "a", "at": "2026-07-26T10:00:00Z", "kind": "review", "question": "q", "rating": 3, "day": "2026-7-6"}', "'day' must be"),
        ('{"id": "a", "at": "2026-07-26T10:00:00Z", "kind": "answer", "question": "q", "text": "t", "score": NaN}', "'score' must be a number"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_line_that_is_no_record_is_named_and_nothing_is_taken(store: Store, line: str, says: str) -> None:
    good = json.dumps({"id": "good", "at": "2026-07-26T10:00:00Z", "kind": "hint", "exercise": "x", "number": 1})

    with pytest.raises(ImportProblem) as caught:
        read_lines(store, [good, "", line], "my.jsonl")

    assert "my.jsonl" in str(caught.value)
    assert f"line 3: {says}" in str(caught.value) or ("line 3:" in str(caught.value) and says in str(caught.value))
    assert store.entries() == []


def test_of_many_bad_lines_the_first_ten_are_shown(store: Store) -> None:
    with pytest.raises(ImportProblem, match=r"line 10: not JSON\n  and 15 more") as caught:
        read_lines(store, ["x"] * 25)

    assert "line 11" not in str(caught.value)


_texts = st.text(max_size=40)
_records = st.one_of(
    st.builds(Hint, _texts, st.integers(0, 10**6)),
    st.builds(Answer, _texts, _texts, st.floats(0, 1), earned=st.lists(_texts, max_size=3).map(tuple), seconds=st.floats(0, 1e6)),
    st.builds(Review, _texts, st.integers(1, 4), st.dates(datetime(2000, 1, 1).date(), datetime(2200, 1, 1).date()).map(str), _texts),
)


@settings(deadline=None)
@given(_records, st.datetimes(datetime(2000, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)))
def test_any_record_survives_the_way_through_json(record: object, at: datetime) -> None:
    line = json.loads(json.dumps(plain(record)))  # type: ignore[arg-type]

    assert Entry("a", at, record_from(record.kind, line)).record == record  # type: ignore[attr-defined]
