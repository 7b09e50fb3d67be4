"""What candidates sent back, read as hostile: folders, zip and tar archives, git clones, single files. Nothing is ever unpacked onto the disk."""

from __future__ import annotations

import io
import lzma
import os
import re
import stat
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ..sandbox.scrub import one_line
from . import zips
from .inflate import inflated
from .tarballs import Member
from .zips import Unreadable

FILE_CAP = 1 << 20
TOTAL_CAP = 64 << 20
ARCHIVE_CAP = INFLATED_CAP = 128 << 20
ENTRY_CAP = 5000
NAME_CAP = 300
REMARKS_CAP = 20
DEPTH_CAP = 12
ARCHIVES = (".zip", ".tar.gz", ".tgz", ".tar", ".tar.bz2", ".tar.xz")


@dataclass(frozen=True)
class Return:
    """One candidate's return: its files' bytes by path inside it, and remarks on what was left out."""

    candidate: str
    files: dict[str, bytes] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    problem: str = ""


def listed(folder: Path) -> list[Path]:
    """The entries of a folder of returns, in a fixed order; hidden ones are left out."""
    return sorted((path for path in folder.iterdir() if not path.name.startswith(".")), key=lambda path: os.fsencode(path.name))


def candidates(paths: list[Path]) -> dict[str, Path]:
    """A candidate's id for each entry: its name without the archive's ending, made unique."""
    named: dict[str, Path] = {}
    for path in paths:
        name = base = candidate_name(path)
        number = 2
        while name in named:
            name = f"{base} ({number})"
            number += 1
        named[name] = path
    return named


def candidate_name(path: Path) -> str:
    """``Ada Lovelace.tar.gz`` -> ``Ada Lovelace``; control characters are spelt out."""
    raw = os.fsencode(path.name).decode("utf-8", "backslashreplace")
    ending = next((end for end in (*ARCHIVES, ".py", ".yaml") if raw.lower().endswith(end)), "")
    name = raw[: len(raw) - len(ending)] if ending else raw
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in unicodedata.normalize("NFC", name)) or raw


def read(candidate: str, path: Path) -> Return:
    """A candidate's files. A return that can't be read has ``problem`` set and no files."""
    remarks: list[str] = []
    try:
        files = _files(path, remarks)
        problem = "" if files else "There is no Python or YAML file in it."
    except Unreadable as error:
        files, problem = {}, str(error)
    except OSError as error:
        files, problem = {}, f"It can't be read ({error.strerror or error})."
    except MemoryError:
        files, problem = {}, "It takes more memory to read than there is."
    told = tuple(dict.fromkeys(remarks))
    more = (f"There are {len(told) - REMARKS_CAP} more remarks like these.",) if len(told) > REMARKS_CAP else ()
    return Return(candidate, files, (*told[:REMARKS_CAP], *more), problem)


def _files(path: Path, remarks: list[str]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for name, data in _entries(path, remarks):
        if name in files:
            remarks.append(f"{name} is in it more than once; the last one was read.")
        files[name] = data
    return files


def _entries(path: Path, remarks: list[str]) -> Iterator[tuple[str, bytes]]:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        raise Unreadable("It is a symbolic link; links are not followed.")
    if stat.S_ISDIR(mode):
        yield from _capped(_folder(path, remarks), remarks)
    elif not stat.S_ISREG(mode):
        raise Unreadable("It is neither a file nor a folder.")
    elif path.name.lower().endswith(ARCHIVES) and path.stat().st_size > ARCHIVE_CAP:
        raise Unreadable(f"It is larger than {ARCHIVE_CAP >> 20} MiB: ask for the Python files and the answers alone.")
    elif path.name.lower().endswith(".zip"):
        yield from _capped(_zip(path, remarks), remarks)
    elif path.name.lower().endswith(ARCHIVES):
        yield from _capped(_tar(path, remarks), remarks)
    elif wanted(path.name):
        yield from _capped(iter([(path.name, _start(path))]), remarks)
    else:
        raise Unreadable("It is neither a folder, an archive (zip, tar.gz), a Python nor a YAML file.")


def wanted(name: str) -> bool:
    """Whether a file can matter: Python and the answers."""
    return name.lower().endswith((".py", ".yaml", ".yml", ".md"))


def _capped(entries: Iterator[tuple[str, bytes]], remarks: list[str]) -> Iterator[tuple[str, bytes]]:
    total = 0
    for name, data in entries:
        total += len(data)
        if total > TOTAL_CAP:
            raise Unreadable(f"It holds more than {TOTAL_CAP >> 20} MiB.")
        if len(data) > FILE_CAP:
            remarks.append(f"{shown(name)} is larger than 1 MiB and was left out.")
        else:
            yield shown(name), data


def shown(name: str) -> str:
    """A file's name as it is kept and told: on one line, with whatever isn't seen (or is no character at all) written out."""
    return one_line(name, NAME_CAP)


def outside(name: str) -> bool:
    """Whether an entry's name points out of its archive."""
    return name.startswith(("/", "\\")) or ".." in PurePosixPath(name.replace("\\", "/")).parts or bool(re.match(r"[A-Za-z]:", name))


def safe(name: str) -> str | None:
    """An entry's name inside an archive, or None where it points outside or is hidden."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not parts or outside(name):
        return None
    return "/".join(parts) if not any(part.startswith(".") or part in ("__MACOSX", "__pycache__") for part in parts) else None


def _folder(root: Path, remarks: list[str]) -> Iterator[tuple[str, bytes]]:
    count = 0
    for here, folders, names in os.walk(root, followlinks=False):
        depth = len(Path(here).relative_to(root).parts)
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__" and depth < DEPTH_CAP)
        for name in sorted(names, key=os.fsencode):
            path = Path(here) / name
            count += 1
            if count > ENTRY_CAP:
                raise Unreadable(f"It holds more than {ENTRY_CAP} files.")
            inside = str(path.relative_to(root))
            mode = path.lstat().st_mode
            if not stat.S_ISREG(mode):
                if wanted(name):
                    remarks.append(f"{shown(inside)} is a link or a device and was left out.")
            elif wanted(name) and not name.startswith("."):
                yield inside, _start(path)


def _start(path: Path) -> bytes:
    """A file's bytes, one more at most than are taken."""
    with open(path, "rb") as file:
        return file.read(FILE_CAP + 1)


def _zip(path: Path, remarks: list[str]) -> Iterator[tuple[str, bytes]]:
    try:
        zips.check_table(path, ENTRY_CAP)
        with zipfile.ZipFile(path) as archive:
            if zips.overlapping(archive.infolist()):
                raise Unreadable("The zip archive is damaged (its files share bytes).")
            for member in archive.infolist():
                if not _fit(member.filename, remarks) or member.is_dir():
                    continue
                if left_out := _no_file(member):
                    remarks.append(f"{shown(member.filename)} is {left_out} and was left out.")
                else:
                    with archive.open(member) as file:
                        yield str(safe(member.filename)), file.read(FILE_CAP + 1)
    except zips.DAMAGED as error:
        raise Unreadable(f"The zip archive is damaged ({one_line(str(error), 200)}).") from None


def _no_file(member: zipfile.ZipInfo) -> str:
    """What keeps an entry from being read as a file, or empty."""
    if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG):
        return "a link or a device"
    if member.flag_bits & 1:
        return "encrypted"
    return "" if member.compress_type in zips.READ else "packed in a way that isn't read here (deflate is)"


def _tar(path: Path, remarks: list[str]) -> Iterator[tuple[str, bytes]]:
    try:
        with tarfile.open(fileobj=io.BytesIO(_inflated(path)), mode="r:", tarinfo=Member) as archive:
            for count, member in enumerate(archive):
                if count > ENTRY_CAP:
                    raise Unreadable(f"It holds more than {ENTRY_CAP} files.")
                if not _fit(member.name, remarks) or member.isdir():
                    continue
                if not member.isreg() or member.issparse():
                    remarks.append(f"{shown(member.name)} is a link or a device and was left out.")
                    continue
                file = archive.extractfile(member)
                if file is not None:
                    yield str(safe(member.name)), file.read(FILE_CAP + 1)
    except (tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(f"The tar archive is damaged ({one_line(str(error), 200)}).") from None


def _inflated(path: Path) -> bytes:
    """A tar file's bytes, decompressed up to a cap: an archive that grows without end stops there."""
    with open(path, "rb") as file:
        data = inflated(file, INFLATED_CAP)
    if len(data) > INFLATED_CAP:
        raise Unreadable(f"It unpacks to more than {INFLATED_CAP >> 20} MiB.")
    return data


def _fit(name: str, remarks: list[str]) -> bool:
    inside = safe(name)
    if inside is None:
        if wanted(name) and outside(name):
            remarks.append(f"{shown(name)} points outside the archive and was left out.")
        return False
    return wanted(inside) and inside.count("/") <= DEPTH_CAP


def find_file(given: Return, module: str, functions: tuple[str, ...]) -> tuple[str, bytes] | None:
    """A candidate's file for an exercise: by its name (the shallowest), else the only Python file that defines all its functions."""
    named = sorted((name for name in given.files if PurePosixPath(name).name.lower() == f"{module}.py".lower()), key=lambda name: (name.count("/"), name))
    if named:
        return named[0], given.files[named[0]]
    defining = [name for name, data in given.files.items() if name.endswith(".py") and all(re.search(rb"^(def|class) %s\b" % f.encode(), data, re.M) for f in functions)]
    return (defining[0], given.files[defining[0]]) if len(defining) == 1 else None
