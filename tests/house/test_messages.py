"""The error paths of the command line, read aloud once and held since: a sentence that says what was expected and what to do next, and no traceback."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from attngrade.cli import COMMANDS, main

WORLD = {  # what lies in the folder that every line below is run in
    "bad.yaml": b"not yaml: [\n", "object.json": b'{"a": 1}\n', "bytes.py": b"x\x00\xff", "file": b"", "full/x": b"", "notes.txt": b"hello\n",
    "unknown.yaml": b"- {question: nope, answer: a, earned: []}\n",
}
LINES = """
2 init file
2 init file/x
2 init /proc/nope
3 list --pack empty
3 list --pack nowhere
2 list --workspace nowhere
2 list --workspace full
2 list --format xml
2 show
2 show 9
2 show exercise
2 show exercise03 extra
2 check 9
2 check 1
2 check 1 --file nowhere.py
2 check 1 --file empty
2 check 1 2 --file bytes.py
2 check 1 --workspace nowhere
2 check 1 --workspace full
2 check 1 --workspace file
3 check 1 --pack empty --file bytes.py
2 check 1 --file bytes.py --output nowhere/out.txt
2 check 1 --file bytes.py --output empty
2 check 1 --file bytes.py --timeout 0
2 check 1 --file bytes.py --memory 1
2 check 1 --file bytes.py --seed -1
2 check 1 --file bytes.py --isolation none
2 reset 1
2 reset 9
2 watch
2 watch --workspace nowhere
2 hint 9
3 hint 1 --pack empty
2 solution 1
2 solution 9
2 plot 9
2 plot 1 --output x.gif
2 plot 1 --output nowhere/x.svg
2 plot 1 --seed -1
2 takehome
2 takehome new
2 takehome new fresh --exercise 9
2 takehome new fresh --question nope
2 takehome new file
2 takehome build nowhere
2 takehome grade
2 takehome grade nowhere --kit full
2 takehome grade empty --kit full
2 takehome report nowhere
2 takehome report full
2 pack
3 pack verify empty
3 pack verify nowhere
2 pack verify file
2 pack verify --exercise 9
2 pack new full
2 pack new file
2 pack new file/x
2 mark
2 mark nope --answer a
2 mark qk-norm --file nowhere
2 mark qk-norm --answer a --file bytes.py
2 mark --batch nowhere
2 mark --batch bad.yaml
2 mark --batch object.json
2 mark --batch bytes.py
2 mark qk-norm --batch object.json
3 mark qk-norm --answer x --bank empty
3 mark qk-norm --answer x --bank nowhere
2 questions nope
2 questions --topic nope
3 questions --bank empty
2 questions --answers bad.yaml
2 questions --answers object.json
2 questions --answers unknown.yaml
2 questions --evaluate --answers nowhere
2 quiz
2 quiz --count 0
2 quiz --due --wrong
2 progress --import nowhere
2 progress --import object.json
2 progress --import bytes.py
2 progress --export nowhere/x
2 progress --export empty
3 progress --pack nowhere
2 export
2 export pdf
2 export anki --output nowhere/x.apkg
2 export anki --output empty
2 export csv --topic nope
2 export tsv --topic nope
3 export html --bank empty
2 export moodle --output nowhere/x
2 export gradescope
2 export gradescope --exercise 9
2 export gradescope --exercise 1 --output nowhere/x.zip
2 export github-classroom --exercise 1 --output empty
2 doctor extra
2 completion tcsh
2 chekc 1
2 --nope
"""
NEXT = re.compile(r"`[^`]+`|Try 'attngrade|attngrade \w+|\b(Name|Give|Check|Choose|Make|Leave|Write|Run|Topics|topics|wants|expected|should|is missing: a pack is|use one)\b|--help")
RAW = re.compile(r"Traceback|Errno|object at 0x|\bNone\b|<class|\bdict\b.*\bdict\b")


@pytest.fixture
def world(tmp_path, monkeypatch) -> Path:
    for name, data in WORLD.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ATTNGRADE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("attngrade.cli.tidy_ends", list)  # the signals of this process stay as they are
    return tmp_path


def said(line: str, capsys) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(line))
    told = capsys.readouterr()
    return int(ended.value.code or 0), told.out + told.err


@pytest.mark.parametrize("case", LINES.strip().splitlines())
def test_what_can_t_be_meant_is_told_in_a_sentence_with_the_next_step(world, capsys, case):
    expected, _, line = case.partition(" ")
    code, told = said(line, capsys)

    assert code == int(expected), told
    assert NEXT.search(told) and not RAW.search(told), told


def test_every_command_has_met_something_that_can_t_be_meant():
    assert {case.split()[1] for case in LINES.strip().splitlines()} >= set(COMMANDS)


@pytest.mark.parametrize("address", ["nonsense", "tcp://127.0.0.1:1x"])
def test_an_address_that_is_none_is_told_as_such(world, capsys, address):
    said("takehome new kit --exercise 1 --question qk-norm", capsys)

    code, told = said(f"takehome grade kit/candidate --kit kit --cluster {address}", capsys)
    assert code == 3 and "dask scheduler" in told and not RAW.search(told)


def test_a_set_of_one_s_own_is_named_in_the_command_to_type_next(world, capsys):
    said("pack new mine", capsys)

    assert "attngrade init my_attention --pack" in said("check 1 --pack mine", capsys)[1]
    assert "attngrade watch --pack" in said("init work --pack mine", capsys)[1]


def test_a_folder_that_is_this_one_is_called_so(world, capsys):
    assert "into this folder.\nNext: open" in said("init .", capsys)[1]


def test_a_fault_of_the_grader_is_no_failed_check_and_says_how_to_report_it(world, capsys, monkeypatch):
    monkeypatch.setattr("attngrade.catalog.open_pack", lambda folder: 1 // 0)
    code, told = said("list", capsys)
    monkeypatch.setenv("ATTNGRADE_TRACEBACK", "1")
    _, whole = said("list", capsys)

    assert code == 3 and "fault of attngrade" in told and "ATTNGRADE_TRACEBACK=1" in told and "Traceback" not in told
    assert "Traceback (most recent call last)" in whole and "ZeroDivisionError" in whole


@pytest.mark.parametrize(("typed", "offered"), [("chek", "check"), ("qiuz", "quiz"), ("wacth", "watch"), ("next", ""), ("submit", "")])
def test_a_mistyped_command_offers_the_one_that_is_meant_and_no_other(typed, offered, capsys):
    with pytest.raises(SystemExit):
        main([typed])
    told = capsys.readouterr().err

    assert (f"Did you mean `attngrade {offered}`?" in told) if offered else ("Did you mean" not in told and "`attngrade --help` lists them" in told)
