"""Who gets a kit of his own: the team's list of candidates, and which of them a return belongs to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from ..errors import UsageProblem
from ..workspace import write_beside

NAME = "candidates.txt"
HEAD = "# Candidates with a kit of their own, an id a line. A return is matched by its name: `ada_lovelace.zip` is the candidate ada_lovelace.\n"
LONGEST = 100


def safe_name(candidate: str) -> str:
    """A candidate's id as the name of a folder and of the archive that comes back."""
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in candidate.strip())


def read_candidates(folder: Path) -> tuple[str, ...]:
    """The take-home's candidates so far, in the order in which they came."""
    path = folder / NAME
    return listed(path) if path.exists() else ()


def listed(path: Path) -> tuple[str, ...]:
    """The ids in a file, one a line; empty lines and # comments are left out. Raises UsageProblem."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise UsageProblem(f"{path} can't be read ({error.strerror}). It should hold one candidate's id a line.") from None
    except UnicodeDecodeError:
        raise UsageProblem(f"{path} is not UTF-8 text. It should hold one candidate's id a line.") from None
    return tuple(dict.fromkeys(line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")))


def add_candidates(folder: Path, new: Iterable[str]) -> tuple[str, ...]:
    """Take more candidates into the list, and give all back. Raises UsageProblem where two would share a folder."""
    names = tuple(dict.fromkeys((*read_candidates(folder), *(name.strip() for name in new))))
    folders = Counter(safe_name(name).casefold() for name in names)
    problems = [f"{name!r} has no letter or digit" for name in names if not any(c.isalnum() for c in name)]
    problems += [f"{name[:40]!r}... is longer than {LONGEST} characters" for name in names if len(name) > LONGEST]
    problems += [f"{name!r} has a line break or a control character in it" for name in names if not name.isprintable()]
    problems += [f"{name!r} would share the folder {safe_name(name)} with another candidate" for name in names if folders[safe_name(name).casefold()] > 1]
    if problems:
        raise UsageProblem(f"Candidates need ids that differ in letters and digits: {'; '.join(problems[:5])}.")
    try:
        write_beside(folder / NAME, (HEAD + "".join(f"{name}\n" for name in names)).encode())
    except OSError as error:
        raise UsageProblem(f"{folder / NAME} can't be written ({error.strerror}).") from None
    return names
