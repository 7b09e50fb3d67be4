"""Every return becomes a row; a kill loses nothing; the same returns give the same bytes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from attngrade import diagnosis
from attngrade.catalog import builtin
from attngrade.errors import AttngradeError
from attngrade.grading.variants import Variant
from attngrade.takehome import batch
from attngrade.takehome.batch import read_journal
from attngrade.takehome.record import CHANCE, exercise_record
from attngrade.verdict import Reason, Verdict, Word

from tests.takehome.world import FILE, RIGHT, attngrade


def rows(results):
    return {told["candidate"]: told for told in map(json.loads, (results / "results.jsonl").read_text().splitlines())}


def test_every_entry_has_a_row_with_a_sentence(kit, returns, tmp_path):
    attngrade("takehome", "grade", returns, "--kit", kit, "--results", tmp_path / "out", "--jobs", "1")
    graded = rows(tmp_path / "out")

    words = {name: told["exercises"][0]["verdict"] for name, told in graded.items()}
    assert words == {"Ada Lovelace": "passed", "-rf zoë": "failed", "bob": "passed", "broken": "failed", "notes.txt": "failed"}
    assert "damaged" in graded["broken"]["problem"] and "neither" in graded["notes.txt"]["problem"]
    assert [point["id"] for point in graded["Ada Lovelace"]["answers"][0]["points"] if point["earned"]] == ["std"]


def test_the_results_are_the_same_bytes_for_any_number_of_workers(kit, returns, tmp_path):
    for jobs in (1, 2):
        attngrade("takehome", "grade", returns, "--kit", kit, "--results", tmp_path / str(jobs), "--jobs", jobs)

    assert (tmp_path / "1" / "results.jsonl").read_bytes() == (tmp_path / "2" / "results.jsonl").read_bytes()


def test_a_record_holds_nothing_that_chance_decided():
    late = Verdict("exercise02", "T", Word.FAILED, Reason.TIMEOUT, output="as far as it came", duration_s=20.1)
    told = exercise_record(late, FILE, 1.0, b"")

    assert "duration_s" not in told and told["output"] == CHANCE
    assert exercise_record(replace(late, reason=Reason.WRONG_RESULT), FILE, 1.0, b"")["output"] == "as far as it came"


def test_a_verdict_is_not_lost_to_its_explanation(monkeypatch):
    failed = Verdict("exercise02", "T", Word.FAILED, Reason.WRONG_RESULT)
    monkeypatch.setattr(diagnosis, "wants_diagnosis", lambda verdict: True)
    monkeypatch.setattr(diagnosis, "diagnosed", lambda *_: float(np.zeros(3)))

    monkeypatch.setattr(batch, "crew", lambda isolation: SimpleNamespace(troupe=lambda plan: None))

    assert batch._diagnosed(batch.Task("x", "x", None, None), Variant(builtin().find("exercise02")), failed) is failed


def test_only_what_changed_is_graded_again(kit, returns, tmp_path):
    grade = ("takehome", "grade", returns, "--kit", kit, "--results", tmp_path / "out", "--jobs", "1")
    attngrade(*grade)
    before = (tmp_path / "out" / "journal.jsonl").read_bytes().count(b"\n")
    (returns / "Ada Lovelace" / "deep" / "er" / FILE).write_text("def softmax(z): return z\n")

    attngrade(*grade)
    assert (tmp_path / "out" / "journal.jsonl").read_bytes().count(b"\n") == before + 1
    assert rows(tmp_path / "out")["Ada Lovelace"]["exercises"][0]["verdict"] == "failed"


def test_a_torn_last_line_of_the_journal_is_graded_again(kit, returns, tmp_path):
    grade = ("takehome", "grade", returns, "--kit", kit, "--results", tmp_path / "out", "--jobs", "1")
    attngrade(*grade)
    whole = (tmp_path / "out" / "results.jsonl").read_bytes()
    journal = tmp_path / "out" / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-200])

    attngrade(*grade)
    assert (tmp_path / "out" / "results.jsonl").read_bytes() == whole
    assert len(read_journal(journal)) == 5


def test_a_kill_in_the_middle_loses_no_finished_return(kit, tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    for n in range(12):
        (folder / f"candidate{n:02}.py").write_text(RIGHT + f"\n# {n}\n")
    command = [sys.executable, "-m", "attngrade", "takehome", "grade", str(folder), "--kit", str(kit), "--results", str(tmp_path / "out"), "--jobs", "2"]
    victim = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    journal = tmp_path / "out" / "journal.jsonl"
    limit = time.monotonic() + 60
    while time.monotonic() < limit and not (journal.exists() and journal.read_bytes().count(b"\n") >= 3):
        time.sleep(0.02)
    os.killpg(victim.pid, signal.SIGKILL)
    victim.wait()
    kept = set(read_journal(journal))

    told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert len(kept) >= 3 and f"{len(kept)} unchanged" in told
    assert len(rows(tmp_path / "out")) == 12


@pytest.mark.parametrize("words", [["--isolation", "process"]])
def test_strangers_code_without_a_jail_needs_an_explicit_word(kit, returns, words):
    with pytest.raises(AttngradeError, match="trust"):
        attngrade("takehome", "grade", returns, "--kit", kit, *words)
