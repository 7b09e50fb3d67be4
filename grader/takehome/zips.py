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
HEAD_BYTES = 30  # what an entry has in front of its name and its data, at least
READ = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the others unpack without a bound: 785 bytes make a GiB before the first byte comes out
DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, NotImplementedError, RuntimeError, ValueError, struct.error, MemoryError)


def entries_marked(path: Path, cap: int) -> int:
    """How many entries a zip file's table can have at most, counted no further than needed: a table of millions is never read."""
    if not path.stat().st_size:
        return 0
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return sum(1 for _ in itertools.islice(re.finditer(re.escape(ENTRY_MARK), data), cap + 1))


def overlapping(members: list[zipfile.ZipInfo]) -> bool:
    """Whether two entries share bytes, so that a small file would be unpacked over and over."""
    placed = sorted(members, key=lambda member: member.header_offset)
    return any(one.header_offset + HEAD_BYTES + one.compress_size > other.header_offset for one, other in itertools.pairwise(placed))
