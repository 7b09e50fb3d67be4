"""A terminal or a pipe that knows fewer signs than we use gets plain ones, never an error."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from attngrade.catalog import builtin
from attngrade.cli.plain import stand_in

RIGHT = str(builtin().exercises[0].solution)


@pytest.fixture
def run(tmp_path):
    """``run("cp1252", "list")``: the command's output through a pipe of that encoding."""

    def told(encoding: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        own = {**os.environ, "ATTNGRADE_HOME": str(tmp_path), "COLUMNS": "80", "OMP_NUM_THREADS": "1", "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
        command = [sys.executable, "-m", "attngrade", *arguments]
        return subprocess.run(command, capture_output=True, encoding=encoding, env=own, cwd=tmp_path, check=False)

    return told


@pytest.mark.parametrize("encoding", ["cp1252", "cp437"])
@pytest.mark.parametrize("arguments", [("doctor",), ("check", "1", "--file", RIGHT), ("questions", "qk-norm"), ("progress",), ("show", "9")])
def test_no_code_page_ends_a_command(run, encoding, arguments):
    done = run(encoding, *arguments)

    assert done.returncode in (0, 2)
    assert "fault of attngrade" not in done.stderr


def test_a_plain_sign_stands_for_each_of_ours(run):
    assert run("cp1252", "check", "1", "--file", RIGHT).stdout.startswith("+ exercise01")


def test_pictures_keep_their_columns(run):
    ours, plain = (run(encoding, "plot", "3", "--reference", "--seed", "1").stdout.split("\n") for encoding in ("utf-8", "cp1252"))

    assert [len(line) for line in plain] == [len(line) for line in ours]
    assert "q0 ## ·  ·  ·  ·  ·" in plain


def test_what_has_no_stand_in_is_a_question_mark_and_an_undecodable_byte_is_no_matter_of_ours():
    assert stand_in(UnicodeEncodeError("cp1252", "a√ж", 1, 3, "")) == ("sqrt?", 3)
    with pytest.raises(UnicodeDecodeError):
        stand_in(UnicodeDecodeError("utf-8", b"\xff", 0, 1, ""))
