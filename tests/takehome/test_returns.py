"""What candidates send is read as hostile: nothing is unpacked, followed or believed."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import struct
import subprocess
import sys
import tarfile
import zipfile

import pytest
from attngrade.takehome import returns
from attngrade.takehome.answers import read_answers
from attngrade.takehome.returns import Return, candidate_name, find_file, read, safe


def zipped(path, entries):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return path


@pytest.mark.parametrize("name", ["../a.py", "/etc/a.py", "C:\\a.py", "..\\a.py", "a/../../b.py", ".git/a.py", "__MACOSX/a.py", ""])
def test_names_that_point_outside_or_hide_are_not_taken(name):
    assert safe(name) is None


def test_a_zip_bomb_costs_a_remark(tmp_path):
    given = read("x", zipped(tmp_path / "b.zip", {"exercise.py": b"#" * 50_000_000, "ok.py": b"x = 1"}))

    assert list(given.files) == ["ok.py"] and "larger than 1 MiB" in given.remarks[0]


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_unpacks_without_a_bound_is_left_out_with_a_remark_and_the_rest_is_read(tmp_path, packing):
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("a.py", "x = 1", packing)
        archive.writestr("ok.py", "x = 1", zipfile.ZIP_DEFLATED)

    given = read("x", tmp_path / "b.zip")

    assert list(given.files) == ["ok.py"] and given.remarks == ("a.py is packed in a way that isn't read here (deflate is) and was left out.",)


@pytest.mark.parametrize("share", [lambda one, other: one.header_offset, lambda one, other: one.header_offset + 20])
def test_entries_of_a_zip_that_share_bytes_are_refused(tmp_path, share):
    with zipfile.ZipFile(tmp_path / "b.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.py", "x = 1")
        archive.writestr("b.py", "x = 2")
        one, other = archive.infolist()
        other.header_offset = share(one, other)

    assert read("x", tmp_path / "b.zip").problem == "The zip archive is damaged (its files share bytes)."


@pytest.mark.parametrize("name", ["a.py", "a.zip", "a.tar.gz", "a.tar"])
def test_a_file_of_many_gigabytes_is_read_no_further_than_its_cap(tmp_path, name, monkeypatch):
    with open(tmp_path / name, "wb") as file:
        file.truncate(8 << 30)
    monkeypatch.setattr(returns.Path, "read_bytes", lambda path: pytest.fail("read whole"))

    given = read("x", tmp_path / name)

    assert given.files == {} and ("larger than" in given.problem or "larger than" in given.remarks[0])


@pytest.mark.parametrize("packed", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_tar_may_be_put_together_from_streams_but_not_from_thousands(tmp_path, packed):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("a.py"))
    data = (tmp_path / "a.tar").read_bytes()
    (tmp_path / "few.tar.gz").write_bytes(packed(data[:700]) + packed(b"") + packed(data[700:]) + b"\0" * 8 + b"trailing")
    (tmp_path / "many.tar.gz").write_bytes(packed(b"") * 5000)
    (tmp_path / "torn.tar.gz").write_bytes(packed(data)[:-4])

    assert read("x", tmp_path / "few.tar.gz").files == {"a.py": b""}
    assert "4000 compressed streams" in read("x", tmp_path / "many.tar.gz").problem
    assert "ends in the middle" in read("x", tmp_path / "torn.tar.gz").problem


def test_a_tar_that_inflates_without_end_is_refused(tmp_path):
    (tmp_path / "b.tar.gz").write_bytes(gzip.compress(b"\0" * (160 << 20), 1))

    assert "unpacks to more than" in read("x", tmp_path / "b.tar.gz").problem


def test_headers_for_all_entries_of_a_tar_stay_small(tmp_path):
    with tarfile.open(tmp_path / "one.tar.gz", "w:gz", format=tarfile.PAX_FORMAT, pax_headers={f"k{n}": "" for n in range(1000)}) as archive:
        archive.addfile(tarfile.TarInfo("exercise01.py"))

    assert "headers for all of its entries take more than 4 KiB" in read("x", tmp_path / "one.tar.gz").problem


@pytest.mark.parametrize(("comment", "told"), [("1" * 60_000, "hundreds of digits"), ("x" * 70_000, "an entry's header says")])
def test_a_tar_header_that_takes_for_ever_to_read_is_not_read(tmp_path, comment, told):
    with tarfile.open(tmp_path / "b.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        member = tarfile.TarInfo("exercise.py")
        member.pax_headers = {"comment": comment}
        archive.addfile(member, io.BytesIO(b""))

    assert told in read("x", tmp_path / "b.tar").problem


def test_a_file_that_is_in_an_archive_twice_is_told(tmp_path):
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("a.py", "x = 1")
        archive.writestr("a.py", "x = 2")

    given = read("x", tmp_path / "b.zip")

    assert given.files == {"a.py": b"x = 2"} and given.remarks == ("a.py is in it more than once; the last one was read.",)


def test_too_many_files_are_refused(tmp_path):
    assert "more than 5000 files" in read("x", zipped(tmp_path / "b.zip", {f"{n}.py": b"" for n in range(5001)})).problem


def test_of_thousands_of_remarks_the_first_are_told_and_the_others_counted(tmp_path):
    given = read("x", zipped(tmp_path / "b.zip", {f"../{n:03}.py": b"" for n in range(300)}))

    assert len(given.remarks) == 21 and "../019.py" in given.remarks[19] and given.remarks[20] == "There are 280 more remarks like these."


def test_a_table_of_millions_of_files_is_not_read(tmp_path):
    entry = struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\1\2", 20, 20, *[0] * 7, 1, *[0] * 6) + b"a"
    table, count = entry * 60_000, 60_000
    (tmp_path / "b.zip").write_bytes(table + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, count, count, len(table), 0, 0))

    assert "more than 5000 files" in read("x", tmp_path / "b.zip").problem


def test_a_table_that_is_mostly_extra_fields_is_not_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        for number in range(20):
            entry = zipfile.ZipInfo(f"{number}.py")
            entry.extra = b"\2\0\0\0" * 16_000
            archive.writestr(entry, "x = 1")

    assert "more about its files than in them" in read("x", tmp_path / "b.zip").problem


def test_files_that_are_left_out_count_as_well(tmp_path):
    given = read("x", zipped(tmp_path / "b.zip", {f"{n}.py": b"#" * (2 << 20) for n in range(70)}))

    assert given.problem == "It holds more than 64 MiB."


def test_names_are_kept_and_told_on_one_line_with_what_is_not_seen_written_out(tmp_path):
    with tarfile.open(tmp_path / "b.tar", "w", format=tarfile.GNU_FORMAT, encoding="utf-8", errors="surrogateescape") as archive:
        for name, size in (("\udcff/a.py", 1), ("\u202eb\x1b[2J\nc.py", 2 << 20), ("../\udcfe.py", 0), ("/abs\x85.py", 0)):
            member = tarfile.TarInfo(name)
            member.size = size
            archive.addfile(member, io.BytesIO(b"#" * size))

    given = read("x", tmp_path / "b.tar")

    assert list(given.files) == ["\\udcff/a.py"]
    assert given.remarks == ("\\u202eb\\x1b[2J c.py is larger than 1 MiB and was left out.", "../\\udcfe.py points outside the archive and was left out.",
                             "/abs\\x85.py points outside the archive and was left out.")
    json.dumps([given.remarks, list(given.files)], ensure_ascii=False).encode()


def test_links_devices_and_pipes_are_left_out(tmp_path):
    with tarfile.open(tmp_path / "b.tar", "w") as archive:
        for name, sort in (("a.py", tarfile.SYMTYPE), ("b.py", tarfile.LNKTYPE), ("c.py", tarfile.CHRTYPE), ("d.py", tarfile.FIFOTYPE)):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = sort, "/etc/passwd"
            archive.addfile(member)
        member = tarfile.TarInfo("ok.py")
        member.size = 1
        archive.addfile(member, io.BytesIO(b"1"))

    given = read("x", tmp_path / "b.tar")
    assert list(given.files) == ["ok.py"] and len(given.remarks) == 4


def test_a_folder_s_links_are_not_followed(tmp_path):
    (tmp_path / "r").mkdir()
    (tmp_path / "secret.py").write_text("secret")
    os.symlink(tmp_path / "secret.py", tmp_path / "r" / "exercise.py")
    os.symlink(tmp_path, tmp_path / "r" / "up")

    assert read("x", tmp_path / "r").files == {}


@pytest.mark.parametrize(("entry", "name"), [("Ada Lovelace.tar.gz", "Ada Lovelace"), ("-rf.zip", "-rf"), ("a\x1b[31m.py", "a\\x1b[31m"), ("plain", "plain")])
def test_a_candidate_is_called_as_the_entry_is(tmp_path, entry, name):
    assert candidate_name(tmp_path / entry) == name


def test_the_shallowest_file_of_the_name_is_taken_else_the_only_one_that_defines_everything():
    deep = Return("x", {"old/copy/exercise01_a.py": b"1", "new/exercise01_a.py": b"2"})
    renamed = Return("x", {"mine.py": b"def f(): pass\nclass G: pass\n", "other.py": b"def f(): pass\n"})

    assert find_file(deep, "exercise01_a", ("f",)) == ("new/exercise01_a.py", b"2")
    assert find_file(renamed, "exercise01_a", ("f", "G"))[0] == "mine.py"


@pytest.mark.parametrize(
    ("text", "answer"),
    [("q: |\n  two\n  lines\n", "two\nlines"), ("q: yes\n", "yes"), ("q: 1\n", "1"), ("# q\nq:\n", ""), ("q: |\nnot indented: really\n", "not indented: really")],
)
def test_answers_are_read_as_they_were_meant(text, answer):
    assert read_answers(Return("x", {"answers.yaml": text.encode()}), ("q",))[0] == {"q": answer}


def test_markdown_answers_stand_under_their_headings():
    given = Return("x", {"answers.md": b"## q\nmine\n\n## r\nyours\n"})

    assert read_answers(given, ("q", "r"))[0] == {"q": "mine", "r": "yours"}


@pytest.mark.parametrize("name", ["answers.yaml", "answers.md"])
def test_a_file_of_answers_that_names_no_question_has_none(name):
    assert read_answers(Return("x", {name: b"a: &a [*a\n\tnothing: of that"}), ("q",))[0] == {}


@pytest.mark.parametrize("text", ['q: "\\UFFFFFFFF"', "%YAML 1." + "9" * 5000 + "\n---\nq: a", "q: " + "[" * 5000])
def test_whatever_the_reader_of_yaml_stumbles_over_is_told_in_a_sentence(text):
    assert "not valid YAML" in read_answers(Return("x", {"answers.yaml": text.encode()}), ("q",))[1]


RUNS = """
import resource
from attngrade.takehome.answers import read_answers
from attngrade.takehome.returns import Return
from attngrade.takehome.similar import fingerprints
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
assert read_answers(Return("x", {"answers.yaml": b"\\tq\\nq:" + b" " * 190_000 + b"x"}), ("q",))[0] == {"q": "x"}
for line in ("x =" + " " * 100_000 + "$", "x =" + " " * 100_000 + chr(0x2118), "'\\\\" * 50_000):
    fingerprints(line)
"""


def test_long_runs_of_one_character_are_read_once():
    assert subprocess.run([sys.executable, "-c", RUNS]).returncode == 0  # by the square it is a minute and more of the processor, of which it may take 20 s


def test_yaml_that_multiplies_itself_is_refused_quickly():
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9))

    assert "not valid YAML" in read_answers(Return("x", {"answers.yaml": (bomb + "q: *j\n").encode()}), ("q",))[1]
