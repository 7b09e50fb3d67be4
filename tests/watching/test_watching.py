"""Saving files, pressing keys, and everything that goes wrong in an editor."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from attngrade.catalog import builtin
from attngrade.store import Attempt, open_store
from attngrade.verdict import Verdict, Word
from attngrade.watching.loop import Watch

from tests.watching.editor import FIRST, RIGHT, ROOT_MISSING, STOPS, children, save


def test_a_save_is_checked_and_the_mistake_comes_first(watching, path):
    session = watching()
    session.expect("Not written yet")
    save(path, ROOT_MISSING)
    session.expect("In unit_rms_scale")
    screen = session.expect("q quit")

    assert screen.index("✗ exercise01") < screen.index("In unit_rms_scale") < screen.index("0/6 done") < screen.index("q quit")


def test_checking_is_said_at_once(watching, path):
    session = watching()
    session.expect("Not written yet")
    path.write_text(STOPS)

    session.expect("checking exercise01_variance.py …", timeout=10)


def test_the_score_is_there_before_the_mistake_has_its_name(watching, path):
    session = watching()
    session.expect("Not written yet")
    session.forget()
    save(path, ROOT_MISSING)
    session.expect("In unit_rms_scale")

    before, _, after = session.raw.partition("Which mistake is it …")
    assert re.search(r"failed [\d.]+/[\d.]+\. $", before)
    assert "In unit_rms_scale" in after


def test_a_pass_moves_on_and_saves_of_the_same_file_stay_with_it(watching, path):
    session = watching()
    session.expect("Not written yet")
    save(path, RIGHT)
    session.expect("Next is exercise02")
    session.forget()
    path.write_text(ROOT_MISSING)

    screen = session.expect("In unit_rms_scale")
    assert "watching exercise01_variance.py" in session.expect("q quit")
    assert "Next is" not in screen


def test_the_same_bytes_saved_again_are_no_news(watching, path):
    session = watching()
    session.expect("q quit")
    session.forget()
    save(path, path.read_text())
    session.type("x")

    assert "checking" not in session.expect("h hint")


def test_a_syntax_error_shows_its_line_and_the_next_save_is_checked(watching, path):
    session = watching()
    session.expect("Not written yet")
    save(path, "def score_moments(:\n    pass\n")
    session.expect("1 | def score_moments(:")
    save(path, ROOT_MISSING)

    session.expect("In unit_rms_scale")


def test_a_deleted_file_is_told_once_and_comes_back(watching, path):
    session = watching()
    session.expect("q quit")
    path.unlink()
    session.expect("exercise01_variance.py is gone.")
    session.type("x")
    session.expect("h hint")
    assert session.screen.count("is gone") == 1

    save(path, ROOT_MISSING)
    session.expect("In unit_rms_scale")


def test_a_file_that_vanishes_for_the_moment_of_a_save_is_not_called_gone(watching, path):
    session = watching()
    session.expect("q quit")
    path.unlink()
    path.write_text(ROOT_MISSING)

    assert "is gone" not in session.expect("In unit_rms_scale")


def test_a_folder_or_garbage_in_its_place_does_not_end_it(watching, path):
    session = watching()
    session.expect("q quit")
    path.write_bytes(b"\xff\xfe\x00garbage\x00" * 50)
    session.expect("UTF-8")
    path.unlink()
    path.mkdir()
    session.type("\n")
    session.expect("can't be read")
    path.rmdir()
    save(path, ROOT_MISSING)

    session.expect("In unit_rms_scale")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_killing_every_worker_costs_neither_verdict_nor_diagnosis(watching, path):
    session = watching()
    session.expect("Not written yet")
    save(path, ROOT_MISSING)
    session.expect("In unit_rms_scale")
    for child in children(session.process.pid):
        os.kill(child, signal.SIGKILL)
    session.forget()
    save(path, ROOT_MISSING + "\n# again\n")

    session.expect("In unit_rms_scale")
    assert "29/32" in session.screen


def test_ctrl_c_ends_a_check_that_hangs_and_not_the_watching(watching, path):
    session = watching()
    session.expect("Not written yet")
    save(path, STOPS)
    session.expect("checking")
    session.until(lambda: len(children(session.process.pid)) > 0, "a worker")
    session.type("\x03")
    session.expect("This check was stopped")
    save(path, ROOT_MISSING)

    session.expect("In unit_rms_scale")


def test_ctrl_c_while_nothing_is_checked_leaves_and_leaves_nothing_running(watching):
    session = watching()
    session.expect("q quit")
    session.forget()
    workers = children(session.process.pid)
    session.type("\x03")

    assert session.end() == 0
    assert "Stopped watching" in session.screen
    assert workers
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_no_line_is_wider_than_the_terminal(watching, path, columns):
    path.write_text(ROOT_MISSING)
    session = watching(columns=columns)
    session.expect("In unit_rms_scale")
    session.expect("q quit")

    assert max(map(len, session.lines)) <= columns


@pytest.mark.parametrize("rows", [16, 24])
def test_a_long_verdict_keeps_its_top_on_the_screen_and_m_shows_the_rest(watching, path, rows):
    path.write_text(ROOT_MISSING)
    session = watching(rows=rows)
    session.expect("In unit_rms_scale")
    session.expect("q quit")

    assert len(session.lines) < rows
    assert session.lines[0].startswith("✗ exercise01")
    assert "m shows everything" in session.screen
    session.forget()
    session.type("m")
    assert "jail: " in session.expect("q quit")


def test_resizing_draws_anew_at_the_new_width(watching, path):
    path.write_text(ROOT_MISSING)
    session = watching(columns=100)
    session.expect("q quit")
    session.forget()
    session.resize(60, 30)

    session.expect("q quit" if "q quit" in session.screen else "quit")
    session.until(lambda: "0/6 done" in session.screen and session.screen.rstrip().endswith("quit"), "the whole screen")
    assert max(map(len, session.lines)) <= 60


def test_no_color_means_none(watching, path):
    path.write_text(ROOT_MISSING)
    session = watching(environ={"NO_COLOR": "1"})
    session.expect("q quit")

    assert "\x1b[3" not in session.raw
    assert "\x1b[1m" not in session.raw


def test_keys_that_come_together_all_count(watching, path):
    path.write_text(ROOT_MISSING)
    session = watching()
    session.expect("q quit")
    session.type("ry")
    session.expect("exercise01_variance.old.py")

    assert path.read_bytes() == FIRST.stub.read_bytes()
    assert path.with_name("exercise01_variance.old.py").read_text() == ROOT_MISSING


def test_a_reset_that_is_not_confirmed_changes_nothing(watching, path):
    path.write_text(ROOT_MISSING)
    session = watching()
    session.expect("q quit")
    session.type("rn")
    session.expect("Nothing changed.")

    assert path.read_text() == ROOT_MISSING


def test_arrow_keys_and_unknown_keys_do_no_harm(watching):
    session = watching()
    session.expect("q quit")
    session.forget()
    session.type("\x1b[A\x1b[24~é")
    session.type("x?")

    session.expect("m verdict again · h hint · s statement")
    session.type("l")
    assert session.expect("exercise06").partition("exercise01")[0].count("h hint") == 1
    assert session.process.poll() is None


@pytest.mark.parametrize(("key", "shows"), [("h", "Hint 1 of"), ("s", "score_moments"), ("l", "exercise06"), ("p", "How far scores spread")])
def test_a_key_runs_its_command_and_watching_goes_on(watching, path, key, shows):
    session = watching()
    session.expect("q quit")
    session.forget()
    session.type(key)
    session.expect(shows)
    save(path, ROOT_MISSING)

    session.expect("In unit_rms_scale")


def test_the_quiz_gets_the_terminal_and_gives_it_back(watching):
    session = watching()
    session.expect("q quit")
    session.type("z")
    session.expect("ends the answer")
    session.type(":quit\n")
    session.until(lambda: ":quit" in session.screen, "the typed line, echoed")
    session.forget()
    session.type("l")

    session.expect("exercise06", timeout=30)


def test_n_goes_on_and_the_screen_follows(watching):
    session = watching()
    session.expect("q quit")
    session.type("n")

    session.expect("watching exercise02_softmax_jacobian.py")


def test_opening_and_looking_is_no_attempt(watching, place, tmp_path):
    session = watching()
    session.expect("q quit")
    session.type("q")

    assert session.end() == 0
    with open_store(tmp_path / "home" / "attngrade.db") as store:
        assert store.attempts() == []


def test_a_save_is_an_attempt_and_checking_it_again_is_none(watching, path, tmp_path):
    session = watching()
    session.expect("q quit")
    save(path, ROOT_MISSING)
    session.expect("In unit_rms_scale")
    session.forget()
    session.type("c")
    session.expect("In unit_rms_scale")
    session.type("q")
    session.end()

    with open_store(tmp_path / "home" / "attngrade.db") as store:
        assert [entry.record.verdict for entry in store.attempts()] == ["failed"]


def test_when_all_are_done_what_no_longer_holds_is_demoted(watching, place, tmp_path):
    with open_store(tmp_path / "home" / "attngrade.db") as store:
        store.add_all([Attempt(one.id, "passed", 1, 1, (), "an older file") for one in builtin().exercises if one is not FIRST], datetime.now(UTC))
    for one in builtin().exercises[2:]:
        place.path(one).write_bytes(one.solution.read_bytes())
    session = watching()
    session.expect("5/6 done")
    save(place.path(FIRST), RIGHT)

    session.expect("No longer right: exercise02.")
    session.type("q")
    session.end()
    session = watching()
    session.expect("watching exercise02_softmax_jacobian.py")


@pytest.mark.parametrize(("word", "told"), [(Word.PASSED, "All of it holds. Next"), (Word.PROVISIONAL, "All of it holds as far as it can be seen here: exercise01 waits for a GPU. Next")])
def test_what_was_not_verified_here_is_not_said_to_hold(place, monkeypatch, word, told):
    watch, said = object.__new__(Watch), []
    watch.files, watch.done = SimpleNamespace(exercises=(FIRST,), place=place), {FIRST.id: True}
    watch.screen = SimpleNamespace(say=said.append)
    monkeypatch.setattr(Watch, "judged", lambda *_: Verdict(FIRST.id, FIRST.title, word))
    watch.once_more()

    assert said[-1].startswith(told)


def test_without_a_terminal_it_checks_all_the_same(place, tmp_path):
    own = {**os.environ, "ATTNGRADE_HOME": str(tmp_path / "home")}
    place.path(FIRST).write_text(ROOT_MISSING)
    process = subprocess.Popen([sys.executable, "-m", "attngrade", "watch"], cwd=place.folder, env=own, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        told = ""
        while "0/6 done" not in told:
            told += process.stdout.readline()
        assert "In unit_rms_scale" in told
        assert "\x1b" not in told
        assert "q quit" not in told
        assert "Ctrl-C (or an end of this process) ends it." in told
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
