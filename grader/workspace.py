"""The learner's folder: where it is and which file belongs to which exercise."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .catalog import Exercise, Pack
from .errors import UsageProblem


@dataclass(frozen=True)
class Workspace:
    """A folder with the learner's files."""

    folder: Path

    def file(self, exercise: Exercise) -> Path:
        """The learner's file of an exercise. Raises UsageProblem where there is none, with what to do."""
        path = self.folder / f"{exercise.module}.py"
        if not path.is_file():
            raise UsageProblem(f"{path} is not there. `attngrade reset {exercise.id}` writes a fresh stub; `--file PATH` checks another file.")
        return path

    def untouched(self, exercise: Exercise) -> bool:
        """Whether the learner's file is still the stub."""
        path = self.folder / f"{exercise.module}.py"
        return path.is_file() and path.read_bytes() == exercise.stub.read_bytes()


def find(folder: Path | None, pack: Pack, start: Path | None = None) -> Workspace:
    """The workspace: the folder given, or the nearest one upwards that holds exercise files. Raises UsageProblem."""
    names = [f"{exercise.module}.py" for exercise in pack.exercises]
    if folder is not None:
        if not folder.is_dir():
            raise UsageProblem(f"{folder} is not a folder. `attngrade init {folder}` makes a workspace there.")
        candidates = [folder, folder / "exercises"]
    else:
        here = (start or Path.cwd()).resolve()
        candidates = [place for up in (here, *here.parents) for place in (up, up / "exercises")]
    for place in candidates:
        if any((place / name).is_file() for name in names):
            return Workspace(place)
    raise UsageProblem("There are no exercise files here or above. `attngrade init` writes them into a new folder; `--file PATH` checks one file.")
