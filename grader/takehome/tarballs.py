"""Tar archives whose headers somebody made to harm their reader."""

from __future__ import annotations

import re
import tarfile
from typing import Any

HEADER_CAP = 64 << 10  # bytes of a tar header that goes before an entry
FOR_ALL_CAP = 4 << 10  # bytes of one that goes before all: it is copied into every entry. That of `git archive` has 52
DIGITS = re.compile(rb"\d{300}")  # nobody's number; what reads the header searches a run of them again from each
HEADERS = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)


class Member(tarfile.TarInfo):
    """A tar entry whose headers are read only where they are such as somebody could mean: some make reading them take hours."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        self.headers_for_all(archive)
        if self.size < 0 or (self.type in HEADERS and self.size > HEADER_CAP):
            raise tarfile.ReadError(f"an entry's header says {self.size} bytes")
        if self.type in HEADERS:
            file: Any = archive.fileobj
            at = file.tell()
            if DIGITS.search(file.read(self.size)):
                raise tarfile.ReadError("an entry's header has a number of hundreds of digits")
            file.seek(at)
        member: tarfile.TarInfo = super()._proc_member(archive)  # type: ignore[misc]  # no part of what is typed, and stable since Python 3.0
        member.pax_headers = {}  # what they say is in the entry by now, and thousands of them would be kept
        return member

    def headers_for_all(self, archive: tarfile.TarFile) -> None:
        """Raise ReadError where headers for all entries take more than anybody's do, taken together."""
        if self.type == tarfile.XGLTYPE and self.size + sum(map(len, (*archive.pax_headers, *archive.pax_headers.values()))) > FOR_ALL_CAP:
            raise tarfile.ReadError(f"headers for all of its entries take more than {FOR_ALL_CAP >> 10} KiB")
