"""Tab completion: the scripts, and what is offered."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from attngrade.catalog import builtin
from attngrade.cli import COMMANDS


def offered(attngrade, line: str) -> set[str]:
    words = line.split(" ")
    told = attngrade(environ={"_ATTNGRADE_COMPLETE": "zsh_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}).stdout
    return set(told.splitlines()[1::3])


def test_every_command_is_offered(attngrade):
    assert offered(attngrade, "attngrade ") == set(COMMANDS)
    assert offered(attngrade, "attngrade wa") == {"watch"}


@pytest.mark.parametrize("command", ["check", "hint", "show", "reset", "solution", "watch", "plot"])
def test_exercises_are_offered_by_id_and_by_slug(attngrade, command):
    exercise = builtin().exercises[2]

    assert offered(attngrade, f"attngrade {command} ") == {one.id for one in builtin().exercises}
    assert offered(attngrade, f"attngrade {command} {exercise.slug[:4]}") == {exercise.slug}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script_that_it_can_read(attngrade, shell):
    script = attngrade("completion", shell).stdout

    assert f"_ATTNGRADE_COMPLETE={shell}_complete" in script
    if shutil.which(shell):
        assert subprocess.run([shell, "-n", "-c", script], check=False).returncode == 0


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_bash_completes_once_the_line_is_in_force(attngrade, tmp_path):
    (tmp_path / "script").write_text(attngrade("completion", "bash").stdout)
    (tmp_path / "attngrade").write_text(f"#!/bin/sh\nexec {shutil.which('python3')} -m attngrade \"$@\"\n")
    code = f"source {tmp_path}/script; complete -p attngrade"

    assert "_attngrade_completion" in subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True).stdout


def test_without_a_shell_the_line_for_yours_is_shown(attngrade):
    told = attngrade("completion", environ={"SHELL": "/usr/bin/fish"}).stdout

    assert "attngrade completion fish | source" in told
    assert "bash" not in told
