"""The picture in the README is a recording, and it still says what the command says."""

from __future__ import annotations

import re

import pytest

from scripts import picture


def settled(lines: list[str]) -> list[str]:
    """Jail, seed and seconds are the machine's and the moment's."""
    return ["  jail: ..." if line.startswith("  jail: ") else line.rstrip() for line in lines]


def test_the_picture_says_what_the_command_says_today():
    told = picture.recorded(picture.COMMAND)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", told).split("\n")

    shown = picture.read_back(picture.PICTURE.read_text(encoding="utf-8"))
    assert shown[0] == "$ attngrade " + " ".join(picture.COMMAND)
    assert settled(shown[1:]) == settled(plain), "run `make picture`"


def test_the_picture_fits_its_columns():
    assert max(map(len, picture.read_back(picture.PICTURE.read_text(encoding="utf-8")))) <= picture.COLUMNS


@pytest.mark.parametrize("line", ["a  b", "\x1b[31m✗ one\x1b[0m   two", "    [[ True  True]]", "x < y & z"])
def test_what_is_drawn_reads_back_as_it_was(line):
    plain = re.sub(r"\x1b\[[0-9;]*m", "", line)

    assert picture.read_back(picture.svg("attngrade", line))[1] == plain
