"""The learner's folder: where it is, which file belongs to which exercise, and writing stubs into it without losing anything."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from .catalog import Exercise, Pack, builtin
from .errors import UsageProblem

README = """# Your attngrade workspace

One file per exercise. Edit a stub, save, and run

    attngrade watch            checks on every save
    attngrade check 3          checks exercise 03
    attngrade hint 3           the next hint
    attngrade                  where you stand

Hidden checks run your file in a jail and tell you which mistake it was.
"""


@dataclass(frozen=True)
class Workspace:
    """A folder with the learner's files."""

    folder: Path

    def path(self, exercise: Exercise) -> Path:
        """Where the learner's file of an exercise is, or would be."""
        return self.folder / f"{exercise.module}.py"

    def file(self, exercise: Exercise) -> Path:
        """The learner's file of an exercise. Raises UsageProblem where there is none, with what to do."""
        path = self.path(exercise)
        if path.is_file():
            return path
        if path.is_dir():
            raise UsageProblem(f"{path} is a folder, not a file. Put your file in its place, or check another one with --file PATH")
        near = self.renamed(exercise)
        if near is not None:
            raise UsageProblem(f"{path.name} is not in {self.folder}, but {near.name} is: rename it back, or check it with --file {near}")
        raise UsageProblem(f"{path.name} is not in {self.folder}. `attngrade reset {exercise.id}` writes a fresh stub; `--file PATH` checks another file.")

    def renamed(self, exercise: Exercise) -> Path | None:
        """A file in the folder that looks like the learner's file of an exercise under another name."""
        marks = (exercise.id, exercise.slug)
        found = [path for path in sorted(self.folder.glob("*.py")) if any(mark in path.name for mark in marks) and ".old" not in path.name and path.is_file()]
        return found[0] if found else None

    def untouched(self, exercise: Exercise) -> bool:
        """Whether the learner's file is still the stub."""
        path = self.path(exercise)
        try:
            return path.read_bytes() == exercise.stub.read_bytes()
        except OSError:
            return False

    def reset(self, exercise: Exercise) -> Path | None:
        """Put the stub back; the old file is kept beside it and returned. Raises UsageProblem."""
        path = self.path(exercise)
        kept = None
        try:
            if path.exists() and not self.untouched(exercise):
                kept = free_name(path)
                os.replace(path, kept)
            write_beside(path, exercise.stub.read_bytes())
        except OSError as error:
            raise UsageProblem(f"{path} can't be written ({error.strerror}). Check the folder's permissions.") from None
        return kept


def free_name(path: Path) -> Path:
    """``name.old.py``, or ``name.old2.py`` and so on."""
    number = 1
    while True:
        kept = path.with_name(f"{path.stem}.old{number if number > 1 else ''}{path.suffix}")
        if not kept.exists():
            return kept
        number += 1


def write_beside(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: beside it first, then renamed."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        beside.write_bytes(data)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def init(folder: Path, pack: Pack) -> Workspace:
    """Write a new workspace: the stubs and a short README. Raises UsageProblem where something would be overwritten."""
    there = [f"{exercise.module}.py" for exercise in pack.exercises if (folder / f"{exercise.module}.py").exists()]
    if there:
        other = folder.parent / ("" if folder.name not in ("", "..") else "..") / f"{folder.resolve().name}_again"
        raise UsageProblem(f"{folder if folder.name else 'This folder'} already holds {there[0]}{f' and {len(there) - 1} more' if len(there) > 1 else ''}; nothing was written. "
                           f"Go on there, put one stub back with `attngrade reset EXERCISE`, or name another folder: attngrade init {other}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for exercise in pack.exercises:
            write_beside(folder / f"{exercise.module}.py", exercise.stub.read_bytes())
        if not (folder / "README.md").exists():
            write_beside(folder / "README.md", README.encode())
    except OSError as error:
        raise UsageProblem(f"{error.filename or folder} can't be written ({error.strerror}). Name another folder: attngrade init my_attention") from None
    return Workspace(folder)


def find(folder: Path | None, pack: Pack, start: Path | None = None) -> Workspace:
    """The workspace: the folder given, or the nearest one upwards that holds exercise files. Raises UsageProblem."""
    names = [f"{exercise.module}.py" for exercise in pack.exercises]
    if folder is not None:
        if not folder.is_dir():
            raise UsageProblem(f"{folder} is not a folder. `{_init_line(folder, pack)}` makes a workspace there.")
        candidates = [folder, folder / "exercises"]
    else:
        here = (start or Path.cwd()).resolve()
        candidates = [place for up in (here, *here.parents) for place in (up, up / "exercises")]
    for place in candidates:
        if any((place / name).is_file() for name in names):
            return Workspace(place)
    where = "here or above" if folder is None else f"in {folder}"
    raise UsageProblem(f"There are no exercise files {where}. `{_init_line(folder or Path('my_attention'), pack)}` writes them into a folder; `--file PATH` checks one file.")


def _init_line(folder: Path, pack: Pack) -> str:
    return f"attngrade init {folder}" + ("" if pack == builtin() else f" --pack {pack.exercises_dir.parent}")
