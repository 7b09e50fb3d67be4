"""Statements, lists and errors on a terminal of any width: no word is cut, nothing runs past the edge."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys

import pytest
from attngrade.catalog import builtin
from attngrade.cli.statements import off_limits, statement

pty = pytest.importorskip("pty")


@pytest.mark.parametrize("exercise", builtin().exercises, ids=lambda one: one.id)
@pytest.mark.parametrize("width", [60, 80])
def test_a_statement_fits_the_terminal(attngrade, exercise, width):
    told = attngrade("show", exercise.id, environ={"COLUMNS": str(width)})

    assert max(map(len, told.stdout.split("\n"))) <= width
    assert told.stdout.lower().count("off limits") == bool(exercise.off_limits)
    assert told.stdout.count("attngrade check") == 1


def test_a_wide_terminal_shows_formulas_as_they_are_written():
    line = "logit   =  q . k / sqrt(Dh)                 p = softmax(row of logits)"

    assert statement(f"Words.\n\n    {line}", 100)[2:] == [f"    {line}"]


def test_a_remark_too_far_to_the_right_stands_nearer_or_below():
    line = "logit   =  q . k / sqrt(Dh)                 p = softmax(row of logits)"

    assert statement(f"    {line}", 64) == ["    logit   =  q . k / sqrt(Dh)    p = softmax(row of logits)"]
    assert statement(f"    {line}", 40) == ["    logit   =  q . k / sqrt(Dh)", "        p = softmax(row of logits)"]


def test_all_words_of_a_statement_are_there():
    for exercise in builtin().exercises:
        text = exercise.stub.read_text(encoding="utf-8").split('"""')[1]
        wanted = [line for line in text.split("\n") if not re.match(r"Check\b", line)]

        assert " ".join(statement(text, 60)).split() == " ".join(wanted).split()


def test_what_is_off_limits_is_told_by_function_and_many_modules_are_counted():
    told = off_limits(builtin().find("exercise06"))

    assert told.startswith("Off limits: scaled_dot_product_attention, ")
    assert "; in blockwise_attention and flash_attention also softmax, " in told
    assert re.search(r"the modules (\w[\w.]*, ){4}\w+ and \d+ more that bring what is asked for\.$", told)


def test_what_a_kernel_takes_and_what_is_computed_in_which_width_is_in_the_statement(attngrade):
    told = " ".join(attngrade("show", "6").stdout.split())

    assert "blockwise_attention computes float64 inputs in float64, all others in float32" in told
    assert "flash_attention takes no float64, and a Dh of 16, 32, 64 or 128." in told


def test_a_class_is_shown_with_its_methods(attngrade):
    told = attngrade("show", "5").stdout

    assert "    __init__(head_dim, eps=1e-06)\n        Hold exactly two parameters" in told
    assert "    forward(q, k)\n        Return the tuple" in told


def test_points_in_the_list_are_out_of_all_there_are(attngrade, tmp_path):
    with_stretch = next(one for one in builtin().exercises if one.stretch_points)
    line = next(line for line in attngrade("list").stdout.split("\n") if line.startswith(with_stretch.id))

    assert f" 0/{with_stretch.points + with_stretch.stretch_points:g}" in line


def on_a_terminal(home, *arguments):
    """The exit code and the lines of a command on a terminal of 60 columns."""
    master, slave = pty.openpty()
    own = {**os.environ, "ATTNGRADE_HOME": str(home), "COLUMNS": "60"}
    done = subprocess.run([sys.executable, "-m", "attngrade", *arguments], stdout=slave, stderr=slave, stdin=slave, env=own, cwd=home, check=False)
    os.close(slave)
    lines = os.read(master, 65536).decode().replace("\r\n", "\n").rstrip("\n").split("\n")
    os.close(master)
    return done.returncode, lines


@pytest.mark.parametrize("arguments", [("show", "9"), ("hint",), ("solution", "4"), ("check", "nine")])
def test_an_error_on_a_terminal_breaks_no_word(tmp_path, arguments):
    code, lines = on_a_terminal(tmp_path, *arguments)

    assert code == 2
    assert any(line.startswith("Error: ") for line in lines)
    assert max(map(len, lines)) <= 60


@pytest.mark.parametrize("arguments", [
    ("questions", "--topic", "masks"), ("questions", "score-variance"), ("mark", "score-variance", "--answer", "the variances add up " * 8), ("mark", "mup-scale", "--answer", "it"),
    ("list",),
])
def test_lines_on_a_terminal_end_between_words(tmp_path, arguments):
    code, lines = on_a_terminal(tmp_path, *arguments)

    assert code == 0
    assert max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in lines) <= 60


@pytest.mark.parametrize("width", [50, 60, 66, 72, 80])
def test_the_points_in_the_list_are_whole_at_any_width(attngrade, width):
    lines = attngrade("list", environ={"COLUMNS": str(width)}).stdout.split("\n")
    rows = [line for line in lines if line.startswith("exercise")]

    assert max(map(len, lines)) <= width
    assert [re.search(r" 0/(\d+)(?:  \(GPU to pass\))?$", row)[1] for row in rows] == [f"{one.points + one.stretch_points:g}" for one in builtin().exercises]
    assert sum("(GPU to pass)" in line for line in lines) == sum(one.gpu for one in builtin().exercises)


def test_what_a_command_wrote_is_told_without_breaking_a_word(tmp_path):
    code, lines = on_a_terminal(tmp_path, "init", "a_folder_for_my_exercises_about_attention")

    assert code == 0
    assert " ".join(lines).endswith("run `attngrade watch`.")
    assert max(map(len, lines)) <= 60


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
@pytest.mark.parametrize("arguments", [("show", "1"), ("doctor",), ("check", "1", "--file", str(builtin().exercises[0].stub)), ("questions",),
                                       ("mark", "qk-norm", "--answer", "a norm")])
def test_a_terminal_without_colours_gets_none(tmp_path, environ, arguments):
    master, slave = pty.openpty()
    own = {**os.environ, "ATTNGRADE_HOME": str(tmp_path), "TERM": "xterm", "OMP_NUM_THREADS": "1", **environ}
    done = subprocess.Popen([sys.executable, "-m", "attngrade", *arguments], stdout=slave, stderr=slave, stdin=slave, env=own, cwd=tmp_path)
    os.close(slave)
    told = b""
    with contextlib.suppress(OSError):  # the terminal's other end is closed when the command ends
        while piece := os.read(master, 65536):
            told += piece
    done.wait()
    os.close(master)

    assert told
    assert b"\x1b[" not in told
