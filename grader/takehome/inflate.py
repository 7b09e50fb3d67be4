"""Compressed tar files, unpacked piece by piece up to a cap on bytes, on memory and on the streams that one file is put together from."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO

PIECE = 64 << 10
STREAMS_CAP = 4000  # a block compressor writes one for every 64 KiB; a file of empty ones takes minutes
MEMORY_CAP = 256 << 20  # a dictionary that a header asks for


class Gunzip:
    """A gzip stream with the interface that bz2 and lzma have."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    def decompress(self, data: bytes, most: int) -> bytes:
        """At most ``most`` bytes more."""
        return self._inner.decompress(self._inner.unconsumed_tail + data, most)

    @property
    def needs_input(self) -> bool:
        """Whether nothing is left of what was given."""
        return not self._inner.unconsumed_tail

    @property
    def eof(self) -> bool:
        """Whether the stream has ended."""
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        """What stands behind the stream."""
        return self._inner.unused_data


KINDS: dict[bytes, Callable[[], Any]] = {
    b"\x1f\x8b": Gunzip, b"BZ": bz2.BZ2Decompressor, b"\xfd7": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MEMORY_CAP),
}


def inflated(file: BinaryIO, cap: int) -> bytes:
    """A tar file's bytes, ``cap`` and one more at most. Raises EOFError, OSError, ValueError, zlib.error or lzma.LZMAError for what is damaged."""
    start = file.read(2)
    file.seek(0)
    return _streams(file, start, cap) if start in KINDS else file.read(cap + 1)


def _streams(file: BinaryIO, start: bytes, cap: int) -> bytes:
    """All streams one after the other; what follows them and is none is left alone, as by those who made the formats."""
    out = bytearray()
    rest = file.read(PIECE)
    for _ in range(STREAMS_CAP):
        rest = _stream(file, KINDS[start](), rest, out, cap).lstrip(b"\0")
        if len(rest) < len(start):
            rest = (rest + file.read(PIECE)).lstrip(b"\0")
        if len(out) > cap or not rest.startswith(start):
            return bytes(out)
    raise ValueError(f"more than {STREAMS_CAP} compressed streams in one file")


def _stream(file: BinaryIO, stream: Any, data: bytes, out: bytearray, cap: int) -> bytes:
    """Unpack one stream onto ``out``; what was read behind it."""
    while not stream.eof and len(out) <= cap:
        if stream.needs_input and not data and not (data := file.read(PIECE)):
            raise EOFError("the file ends in the middle")
        out += stream.decompress(data, cap + 1 - len(out))
        data = b""
    return bytes(stream.unused_data)
