"""`attngrade check` in a workspace: what is looked at, what counts, what is said on the way."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from attngrade.catalog import builtin
from attngrade.render.terminal import as_text
from attngrade.store import open_store
from attngrade.verdict import Reason, Verdict, Word
from attngrade.workspace import init

FIRST, SECOND = builtin().exercises[:2]
pty = pytest.importorskip("pty")


@pytest.fixture
def place(tmp_path):
    return init(tmp_path / "mine", builtin())


def test_looking_at_a_stub_is_no_attempt(attngrade, place, tmp_path):
    attngrade("check", "1", cwd=place.folder)
    place.path(SECOND).write_text("x = 1\n")
    attngrade("check", "2", cwd=place.folder)

    with open_store(tmp_path / "home" / "attngrade.db") as store:
        assert [entry.record.exercise for entry in store.attempts()] == [SECOND.id]


def test_of_several_the_one_that_was_tried_is_shown_whole():
    untouched = Verdict("exercise01", "A", Word.FAILED, Reason.NOT_IMPLEMENTED)
    gpu = Verdict("exercise06", "C", Word.PROVISIONAL, Reason.NO_GPU)
    tried = Verdict("exercise03", "B", Word.FAILED, Reason.TIMEOUT)

    assert "The time limit ran out" in as_text([gpu, untouched, tried], colour=False, width=80)
    assert "Next: attngrade hint exercise01" in as_text([gpu, untouched], colour=False, width=80)


def test_on_a_terminal_one_of_several_is_named_while_it_is_checked(place, tmp_path):
    for one in (FIRST, SECOND):
        place.path(one).write_text("def broken(:\n")
    master, slave = pty.openpty()
    own = {**os.environ, "ATTNGRADE_HOME": str(tmp_path / "home"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-m", "attngrade", "check", "1", "2"], stdout=subprocess.PIPE, stderr=slave, stdin=subprocess.DEVNULL, env=own,
                          cwd=place.folder, text=True, check=False)
    os.close(slave)
    told = os.read(master, 65536).decode()
    os.close(master)

    assert "checking exercise01 …\r" in told
    assert "checking exercise02 …\r" in told
    assert "checking" not in done.stdout


def test_a_path_in_place_of_an_exercise_is_told_how_to_be_checked(attngrade, place):
    done = attngrade("check", f"./{FIRST.module}.py", cwd=place.folder)

    assert done.returncode == 2
    assert f"attngrade check 1 --file ./{FIRST.module}.py" in done.stderr


@pytest.mark.parametrize("command", ["hint", "show", "reset", "solution", "plot"])
def test_a_missing_exercise_is_asked_for_with_an_example(attngrade, command):
    assert f"Missing argument 'EXERCISE'. Example: attngrade {command} exercise0" in attngrade(command).stderr
