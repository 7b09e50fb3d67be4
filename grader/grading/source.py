"""Reading a submission's source as hostile text: UTF-8 alone, a size cap, and Python that parses."""

from __future__ import annotations

import ast
import codecs
import io
import re
import tokenize
import warnings
from dataclasses import dataclass

from ..sandbox.scrub import clean_text, one_line

SIZE_CAP = 256 << 10
BRACES = 10_000  # opening ones; CPython takes time by the square of those in one f-string
LONG_PATH = re.compile(r"(?<!\w)(?:[^\W\d]\w*+[\s\\]*+\.[\s\\]*+){200}")  # a dotted name; CPython takes memory by the square of its length


@dataclass(frozen=True)
class Unreadable(Exception):
    """Why a source can't be loaded, in a sentence, with the line if there is one."""

    message: str
    line: int | None = None
    shown: str = ""

    def __str__(self) -> str:
        return self.message


def read_source(data: bytes, name: str) -> str:
    """The text of a submission. Raises Unreadable with a sentence that says what is wrong and where."""
    name = one_line(name, 100)
    if len(data) > SIZE_CAP:
        raise Unreadable(f"{name} is {len(data) / 2**10:.0f} KiB; a submission is at most {SIZE_CAP >> 10} KiB of Python.")
    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"{name} is not UTF-8 text (byte {error.start}): save it as UTF-8.", data[: error.start].count(b"\n") + 1) from None
    if "\0" in text:
        raise Unreadable(f"{name} holds a NUL byte: it is not Python source.", text[: text.index(chr(0))].count("\n") + 1)
    if not is_utf8(data):
        raise Unreadable(f"{name} declares another encoding than UTF-8 in its first lines: remove the coding comment.", 1)
    check_parses(text, name)
    return text


def is_utf8(data: bytes) -> bool:
    """Whether the coding line, if there is one, says UTF-8: host and worker must read the same text."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError:
        return False
    return encoding in ("utf-8", "utf-8-sig")


def parsed(text: str) -> ast.Module:
    """The tree of a text that parses, without a word about its style. Raises what Python raises, and ValueError for names strung together without end."""
    if LONG_PATH.search(text):
        raise ValueError("more than 200 names with dots between them")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def check_parses(text: str, name: str) -> None:
    """Raise Unreadable where Python can't parse the text."""
    if text.count("{") > BRACES:
        raise Unreadable(f"{name} has more than {BRACES} opening braces: nobody writes those by hand, and f-strings full of them take minutes to parse. Leave generated text out.")
    if LONG_PATH.search(text):
        raise Unreadable(f"{name} strings more than 200 names together with dots: nobody reads that.")
    try:
        parsed(text)
    except SyntaxError as error:
        shown = clean_text((error.text or "").rstrip("\n")[:200])
        raise Unreadable(f"{name} is not valid Python: {error.msg} (line {error.lineno}).", error.lineno, shown) from None
    except (ValueError, RecursionError, MemoryError):
        raise Unreadable(f"{name} nests too deeply for Python to parse.") from None
