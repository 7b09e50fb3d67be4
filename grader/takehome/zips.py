"""Zip archives whose tables somebody made to harm their reader."""

from __future__ import annotations

import itertools
import lzma
import mmap
import re
import struct
import zipfile
import zlib
from pathlib import Path

ENTRY_MARK = b"PK\x01\x02"  # before every entry of a zip file's table
EXTRA_AT, EXTRA_CAP = 30, 1 << 20  # where an entry says how long its extra fields are; what reads them copies all that follow one anew
HEAD_BYTES = 30  # what an entry has in front of its name and its data, at least
READ = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the others unpack without a bound: 785 bytes make a GiB before the first byte comes out
DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, NotImplementedError, RuntimeError, ValueError, struct.error, MemoryError)


class Unreadable(Exception):
    """Why a return can't be read, in a sentence for the team."""


def check_table(path: Path, cap: int) -> None:
    """Raise Unreadable for a table that takes for ever to read: it is looked at before anybody reads it, and no further than needed."""
    if not path.stat().st_size:
        return
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        places = [mark.start() + EXTRA_AT for mark in itertools.islice(re.finditer(re.escape(ENTRY_MARK), data), cap + 1)]
        extra = sum(int.from_bytes(data[place : place + 2], "little") for place in places)
    if len(places) > cap:
        raise Unreadable(f"It holds more than {cap} files.")
    if extra > EXTRA_CAP:
        raise Unreadable("The zip archive is damaged (there is more about its files than in them).")


def overlapping(members: list[zipfile.ZipInfo]) -> bool:
    """Whether two entries share bytes, so that a small file would be unpacked over and over."""
    placed = sorted(members, key=lambda member: member.header_offset)
    return any(one.header_offset + HEAD_BYTES + one.compress_size > other.header_offset for one, other in itertools.pairwise(placed))
