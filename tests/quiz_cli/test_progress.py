"""Where one stands, and the record out and in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from attngrade.catalog import builtin
from attngrade.quiz.deck import rate, remember_misconceptions
from attngrade.store import Answer, Attempt, GiveUp, Hint, open_store


def progress(home: Path, *arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "ATTNGRADE_HOME": str(home)}
    return subprocess.run([sys.executable, "-m", "attngrade", "progress", *arguments], capture_output=True, text=True, env=environ, input=text, check=False)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    now = datetime.now(UTC)
    with open_store(tmp_path / "home" / "attngrade.db") as store:
        store.add_all([Attempt("exercise03", "failed", 3, 12, ("mask-aligned-top-left",)), Attempt("exercise03", "passed", 12, 12)], now)
        store.add_all([Hint("exercise03", 1), GiveUp("exercise04")], now)
        rate(store, "score-variance", store.add(Answer("score-variance", "text", 0.25), now), 1, now)
        remember_misconceptions(store, ["causal-mask-place"], now, "exercise03")
    return tmp_path / "home"


def test_json_has_exercises_questions_and_what_went_wrong(home: Path) -> None:
    record = json.loads(progress(home, "--format", "json").stdout)

    third = next(row for row in record["exercises"] if row["id"] == "exercise03")
    assert (third["verdict"], third["score"], third["attempts"], third["hints"]) == ("passed", 12.0, 2, 1)
    assert record["questions"]["seen"] == 1
    assert record["questions"]["due"] == 1
    assert record["questions"]["wrong"] == 1
    assert record["misconceptions"] == [{"id": "mask-aligned-top-left", "exercise": "exercise03", "times": 1, "overcome": True}]
    assert sum(row["entries"] for row in record["days"]) == 3


def test_the_screen_says_the_same_and_what_to_do_next(home: Path) -> None:
    done = progress(home)

    assert done.returncode == 0, done.stderr
    assert "1 due, 1 rated again or hard" in done.stdout
    assert "1× mask-aligned-top-left" in done.stdout
    assert "Next: attngrade quiz --due" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_what_passed_before_and_fails_now_is_told_alike_by_all_three_commands(home: Path, tmp_path: Path) -> None:
    with open_store(home / "attngrade.db") as store:
        store.add(Attempt("exercise03", "failed", 3, 12), datetime.now(UTC))
    environ = {**os.environ, "ATTNGRADE_HOME": str(home)}

    def told(*arguments: str) -> str:
        done = subprocess.run([sys.executable, "-m", "attngrade", *arguments], capture_output=True, text=True, env=environ, cwd=tmp_path / "mine", check=True)
        return next(line for line in done.stdout.splitlines() if "Causal mask" in line)

    (tmp_path / "mine").mkdir()
    subprocess.run([sys.executable, "-m", "attngrade", "init"], env=environ, cwd=tmp_path / "mine", check=True, capture_output=True)
    assert "fails now, best 12/" in told("list")
    assert told() == "  exercise03  Causal mask: passed before, its file fails now"
    assert told("progress").endswith("its file fails now")
    assert json.loads(progress(home, "--format", "json").stdout)["exercises"][2]["latest"] == "failed"


def test_a_fresh_start_is_no_error(tmp_path: Path) -> None:
    done = progress(tmp_path / "new")

    assert done.returncode == 0, done.stderr
    assert "untried" in done.stdout


def test_an_export_comes_back_on_another_machine(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "record.jsonl"

    assert "entries written" in progress(home, "--export", str(file)).stderr
    assert progress(tmp_path / "new", "--import", str(file)).stdout == f"{len(file.read_text().splitlines()) - 1} new entries, 0 already there.\n"
    assert progress(tmp_path / "new", "--export", "-").stdout == file.read_text()


def test_an_export_can_be_piped_into_an_import(home: Path, tmp_path: Path) -> None:
    lines = progress(home, "--export", "-").stdout

    assert "7 new entries" in progress(tmp_path / "new", "--import", "-", text=lines).stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--import", "absent.jsonl"], "can't be read"),
        (["--import", "bytes.jsonl"], "not UTF-8"),
        (["--import", "text.jsonl"], "line 1: not JSON"),
        (["--export", "no/such/folder/x"], "can't be written"),
        (["--export", "x", "--import", "y"], "exclude one another"),
    ],
)
def test_what_cant_be_exported_or_imported_is_a_sentence(home: Path, tmp_path: Path, arguments: list[str], says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bytes.jsonl").write_bytes(b"\xff\xfe\x00")
    Path("text.jsonl").write_text("hello")
    done = progress(home, *arguments)

    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_titles_are_shown_whole(home):
    told = progress(home).stdout

    assert all(exercise.title in told for exercise in builtin().exercises)
