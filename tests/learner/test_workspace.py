"""A learner's folder: written without overwriting anything, and `attngrade` alone says where one stands and the one next thing."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from attngrade.catalog import builtin
from attngrade.store import Attempt, open_store
from attngrade.workspace import Workspace, init

EXERCISES = builtin().exercises
FIRST = EXERCISES[0]


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    return init(tmp_path / "mine", builtin())


@pytest.fixture
def stands(attngrade, place):
    """What `attngrade` alone says, in the workspace."""
    return lambda: attngrade(cwd=place.folder).stdout.rstrip().split("\n")


def record(tmp_path: Path, verdict: str, *exercises) -> None:
    with open_store(tmp_path / "home" / "attngrade.db") as store:
        store.add_all([Attempt(one.id, verdict, 1, 1, (), "a file") for one in exercises], datetime.now(UTC))


def test_a_new_workspace_holds_the_stubs_and_a_short_readme(place):
    assert sorted(path.name for path in place.folder.iterdir()) == sorted(["README.md", *(f"{one.module}.py" for one in EXERCISES)])
    assert len((place.folder / "README.md").read_text().split("\n")) < 20


def test_where_something_would_be_overwritten_nothing_is_written_and_another_name_is_told(attngrade, place):
    place.path(FIRST).write_text("mine")
    done = attngrade("init", "mine")

    assert done.returncode == 2
    assert "mine already holds exercise01_variance.py and 5 more; nothing was written." in done.stderr
    assert "attngrade init mine_again" in done.stderr
    assert place.path(FIRST).read_text() == "mine"


@pytest.mark.parametrize("typed", [["init"], ["init", "."]])
def test_where_this_very_folder_holds_exercises_another_one_beside_it_is_named(attngrade, place, typed):
    done = attngrade(*typed, cwd=place.folder)

    assert done.returncode == 2
    assert "This folder already holds exercise01_variance.py" in done.stderr
    assert "attngrade init ../mine_again" in done.stderr


def test_a_folder_of_the_files_name_is_called_a_folder(attngrade, place):
    place.path(FIRST).unlink()
    place.path(FIRST).mkdir()

    assert f"{FIRST.module}.py is a folder, not a file. Put your file in its place" in attngrade("check", "1", cwd=place.folder).stderr


def test_a_workspace_in_a_workspace_is_made_and_told(attngrade, place):
    assert f"inside another workspace, {place.folder}; commands typed in inner are about inner" in attngrade("init", "inner", cwd=place.folder).stdout
    assert "another workspace" not in attngrade("init", "beside").stdout


def test_without_a_workspace_the_next_thing_is_to_make_one(attngrade):
    assert "Next: attngrade init" in attngrade().stdout


def test_an_untouched_workspace_is_to_be_read_first(stands):
    assert stands()[-1].startswith("Next: attngrade show 1 ")


def test_what_failed_is_to_be_mended_in_watch_mode(stands, place, tmp_path):
    place.path(FIRST).write_text("x = 1\n")
    record(tmp_path, "failed", FIRST)

    assert stands()[-1] == "Next: attngrade watch 1   (edit exercise01_variance.py and save; h is a hint)"


def test_a_missing_file_is_to_be_put_back(stands, place):
    place.path(FIRST).unlink()

    assert stands()[-1].startswith("Next: attngrade reset 1 ")
    assert stands()[1].endswith("no file")


def test_when_all_is_done_the_questions_are_next(stands, place, tmp_path):
    record(tmp_path, "passed", *EXERCISES)

    assert stands()[-1].startswith("Next: attngrade quiz")


def test_a_passed_exercise_whose_file_is_the_stub_again_says_so(stands, place, tmp_path):
    place.path(EXERCISES[1]).write_text("x = 1\n")
    record(tmp_path, "passed", *EXERCISES[:2])
    lines = stands()

    assert lines[1].endswith("passed (its file is the stub again)")
    assert lines[2].endswith("passed")


def test_it_is_found_from_any_folder_below(attngrade, place):
    (place.folder / "a" / "b").mkdir(parents=True)

    assert attngrade(cwd=place.folder / "a" / "b").stdout.startswith(str(place.folder))


def test_reset_keeps_every_old_file(attngrade, place):
    for text in ("first\n", "second\n"):
        place.path(FIRST).write_text(text)
        attngrade("reset", "1", cwd=place.folder)

    assert place.path(FIRST).read_bytes() == FIRST.stub.read_bytes()
    assert [(place.folder / f"exercise01_variance.old{number}.py").read_text() for number in ("", "2")] == ["first\n", "second\n"]


def test_a_renamed_file_is_recognised(attngrade, place, stands):
    place.path(FIRST).rename(place.folder / "my_variance.py")
    assert stands()[-1] == "Next: rename my_variance.py to exercise01_variance.py"
    done = attngrade("check", "1", cwd=place.folder)

    assert done.returncode == 2
    assert "my_variance.py is: rename it back" in done.stderr
