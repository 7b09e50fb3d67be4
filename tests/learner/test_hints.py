"""Hints: one at a time, and after a named mistake one about that mistake first."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from attngrade.catalog import builtin
from attngrade.cli.hinting import following, seen
from attngrade.store import Attempt, Hint, open_store

SIXTH = builtin().find("exercise06")
UNSCALED = SIXTH.solution.read_text(encoding="utf-8").replace("q.to(wide) * d**-0.5", "q.to(wide)") + '''

def flash_attention(q, k, v, causal=False):
    raise NotImplementedError
'''


@pytest.fixture
def workspace(attngrade, tmp_path):
    """A folder with an unscaled loop over blocks, checked once."""
    attngrade("init", "here")
    (tmp_path / "here" / SIXTH.stub.name).write_text(UNSCALED, encoding="utf-8")
    told = attngrade("check", "6", "--format", "json", cwd=tmp_path / "here")
    assert [named["id"] for named in json.loads(told.stdout)["results"][0]["misconceptions"]] == ["blocks-unscaled"]
    return tmp_path / "here"


def test_after_a_named_mistake_the_next_hint_is_about_it(attngrade, workspace):
    first = " ".join(attngrade("hint", "6", cwd=workspace).stdout.split())
    second = attngrade("hint", "6", cwd=workspace).stdout

    assert first.startswith("Hint about a mistake: You were told: Your loop over the blocks uses the bare products")
    assert "Look at the factor Dh ** -0.5" in first
    assert " ".join(SIXTH.hints[0].split())[:30] in " ".join(second.split())


def test_a_hint_needs_no_torch(attngrade, workspace):
    told = attngrade("hint", "6", cwd=workspace, environ={"PYTHONPROFILEIMPORTTIME": "1"})

    assert told.stdout.startswith("Hint about a mistake")
    assert not [line for line in told.stderr.splitlines() if line.rpartition("|")[2].strip() in ("torch", "numpy")]


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "attngrade.db") as store:
        yield store


def failed(store, *named: str) -> None:
    store.add(Attempt("exercise06", "failed", 1, 2, named, "", 0.0, "", tuple(f"text of {name}" for name in named)), datetime.now(UTC))


def pressed(store) -> str:
    coming = following(SIXTH, store)
    if coming is None:
        return ""
    store.add(Hint("exercise06", store.hints_shown("exercise06") + 1, coming.about), datetime.now(UTC))
    return coming.sentence


def test_a_mended_mistake_is_no_subject_any_more(store):
    failed(store, "old")
    failed(store, "new")

    assert pressed(store) == "Hint about a mistake: text of new"
    assert pressed(store).startswith(f"Hint 1 of {len(SIXTH.hints)}: ")


def test_each_mistake_has_its_hint_once_and_the_exercises_own_keep_their_numbers(store):
    assert pressed(store).startswith("Hint 1 of ")
    failed(store, "a", "b")
    assert [pressed(store) for _ in "ab"] == ["Hint about a mistake: text of a", "Hint about a mistake: text of b"]
    failed(store, "a")
    assert pressed(store).startswith("Hint 2 of ")


def test_after_the_last_there_is_none_and_again_shows_them_all_in_order(store):
    failed(store, "a")
    said = [pressed(store) for _ in range(len(SIXTH.hints) + 1)]

    assert pressed(store) == ""
    assert [each.sentence for each in seen(SIXTH, store)] == said
    assert store.hints_shown("exercise06") == len(SIXTH.hints) + 1


@pytest.mark.parametrize(("verdict", "command"), [("passed", "attngrade solution 6`"), ("failed", "attngrade solution 6 --give-up`")])
def test_after_the_last_hint_the_way_to_the_reference_is_the_one_that_is_open(attngrade, tmp_path, verdict, command):
    with open_store(tmp_path / "home" / "attngrade.db") as kept:
        kept.add_all([Attempt("exercise06", verdict, 1, 2), *(Hint("exercise06", number + 1) for number in range(len(SIXTH.hints)))], datetime.now(UTC))

    assert command in " ".join(attngrade("hint", "6").stdout.split())
