"""The one ordered list of exercises, read from a YAML table beside the stubs and validated: all problems at once."""

from __future__ import annotations

import importlib.resources
import importlib.util
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from .errors import PackProblem, UsageProblem

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
FIELDS: dict[str, type | tuple[type, ...]] = {
    "id": str, "slug": str, "title": str, "promise": str, "framework": str, "gpu": bool, "points": (int, float), "stretch_points": (int, float),
    "budget_s": (int, float), "functions": list, "off_limits": list, "hints": list,
}
Problem = tuple[int, str, str]  # place of the entry, its field, what is wrong
REQUIRED = ("id", "slug", "title", "promise", "framework", "points", "functions", "hints")


@dataclass(frozen=True)
class OffLimits:
    """One entry of the list of calls that would hand over the answer: by last name, whole module, or dotted path."""

    kind: str  # name | module | path
    name: str
    functions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pack:
    """A set of exercises and where its parts live."""

    name: str
    exercises_dir: Path
    solutions_dir: Path
    checks_dir: Path
    misconceptions_dir: Path
    questions_dir: Path
    exercises: tuple[Exercise, ...] = ()

    def find(self, name: str) -> Exercise:
        """The exercise meant by ``exercise03``, ``3``, ``causal_mask`` or an unambiguous beginning. Raises UsageProblem."""
        key = name.strip().lower().replace("-", "_").removesuffix(".py")
        number = key.removeprefix("exercise").partition("_")[0]
        exact = [e for e in self.exercises if key in (e.id, e.slug, e.module)]
        numbered = [e for e in self.exercises if number.isdigit() and e.number == int(number)]
        found = exact or numbered or ([e for e in self.exercises if e.slug.startswith(key) or e.id == key] if len(key) > 1 else [])
        if len(found) == 1:
            return found[0]
        there = next((e for e in self.exercises if Path(name).name == f"{e.module}.py"), None)
        if there is not None:
            raise UsageProblem(f"{name!r} is a path, not an exercise. To check that file: attngrade check {there.number} --file {name}")
        known = ", ".join(f"{e.number} ({e.slug})" for e in self.exercises)
        problem = "means several exercises" if found else "is not an exercise"
        raise UsageProblem(f"{name!r} {problem}. There are: {known}. Try `attngrade list`.")


@dataclass(frozen=True)
class Exercise:
    """One exercise as the catalog tells it, and where its files are."""

    id: str
    slug: str
    title: str
    promise: str
    framework: str
    gpu: bool
    points: float
    stretch_points: float
    budget_s: float
    functions: tuple[str, ...]
    off_limits: tuple[OffLimits, ...]
    hints: tuple[str, ...]
    stub: Path
    solution: Path
    checks: Path
    misconceptions: Path
    alternatives: Path
    pack: str = ""  # empty for the built-in set

    @property
    def key(self) -> str:
        """What its attempts and hints are recorded under: sets count their exercises alike."""
        return f"{self.pack}/{self.id}" if self.pack else self.id

    @property
    def module(self) -> str:
        """The file's name without its suffix."""
        return f"{self.id}_{self.slug}"

    @property
    def number(self) -> int:
        """The number in the id."""
        return int("".join(filter(str.isdigit, self.id)) or 0)

    @property
    def check_files(self) -> tuple[Path, ...]:
        """The checks and their parts, in the order in which they run."""
        return files_of(self.checks)

    @property
    def imports(self) -> tuple[str, ...]:
        """What a worker imports before the submission arrives."""
        return ("numpy",) if self.framework == "numpy" else ("torch", "triton") if self.gpu and importlib.util.find_spec("triton") else ("torch",)


def files_of(path: Path) -> tuple[Path, ...]:
    """A file of an exercise and its parts (``<stem>_<part>.py`` beside it), those that are there."""
    return tuple(file for file in (path, *sorted(path.parent.glob(f"{path.stem}_*.py"))) if file.is_file())


@cache
def builtin() -> Pack:
    """The set that ships with attngrade."""
    root = importlib.resources.files("attngrade")
    return load(Pack(
        "attngrade", _folder("attngrade.exercises"), _folder("attngrade.solutions"), Path(str(root)) / "checks", Path(str(root)) / "misconceptions",
        _folder("attngrade.questions"),
    ))


def _folder(package: str) -> Path:
    return Path(str(importlib.resources.files(package)))


def open_pack(folder: str | Path | None) -> Pack:
    """The built-in pack, or the one in ``folder``. Raises PackProblem with everything that is wrong in it."""
    if folder is None:
        return builtin()
    root = Path(folder).resolve()
    if not (root / "exercises" / "catalog.yaml").is_file():
        raise PackProblem(str(folder), ["exercises/catalog.yaml is missing: a pack is a folder with exercises/, solutions/, checks/ and misconceptions/"])
    homes = [root / part for part in ("exercises", "solutions", "checks", "misconceptions", "questions")]
    return load(Pack(root.name, homes[0], homes[1], homes[2], homes[3], homes[4]))


def load(pack: Pack) -> Pack:
    """The pack with its exercises read. Raises PackProblem."""
    path = pack.exercises_dir / "catalog.yaml"
    try:
        text = path.read_text(encoding="utf-8")
        table = yaml.load(text, LOADER)
    except (OSError, UnicodeDecodeError) as error:
        raise PackProblem(str(path), [str(error)]) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise PackProblem(str(path), [f"{path.name}:{mark.line + 1 if mark else 1}: {' '.join(str(getattr(error, 'problem', None) or error).split())}"]) from None
    rows = table.get("exercises") if isinstance(table, dict) else None
    if not isinstance(rows, list) or not rows:
        raise PackProblem(str(path), [f"{path.name}:1: expected a mapping with a non-empty list `exercises`"])
    problems: list[Problem] = []
    found = [_exercise(pack, row, place, problems) for place, row in enumerate(rows)]
    problems += [(place, "id", f"id {e.id} is used twice") for place, e in enumerate(found) if e and e.id in [other.id for other in found[:place] if other]]
    problems += [(place, "slug", f"slug {e.slug} begins the slug {other.slug}, whose files would be taken for parts of its own; expected slugs of which none begins another: rename one")
                 for place, e in enumerate(found) for other in found if e and other and other.slug.startswith(f"{e.slug}_")]
    if problems:
        lines = _lines(text)
        raise PackProblem(str(path), [f"{path.name}:{lines[place].get(key, lines[place][''])}: {told}" for place, key, told in problems])
    return Pack(pack.name, pack.exercises_dir, pack.solutions_dir, pack.checks_dir, pack.misconceptions_dir, pack.questions_dir, tuple(e for e in found if e))


def _lines(text: str) -> list[dict[str, int]]:
    """The line of each field of each entry; under the empty name that of the entry itself."""
    tree: Any = yaml.compose(text, LOADER)
    entries = next(value for key, value in tree.value if key.value == "exercises").value
    return [{"": entry.start_mark.line + 1, **({key.value: key.start_mark.line + 1 for key, _ in entry.value} if isinstance(entry, yaml.MappingNode) else {})}
            for entry in entries]


def _exercise(pack: Pack, row: Any, place: int, problems: list[Problem]) -> Exercise | None:
    if not isinstance(row, dict):
        problems.append((place, "", f"entry {place + 1}: expected a mapping"))
        return None
    name = row.get("id", f"entry {place + 1}")
    before = len(problems)
    problems += [(place, "", f"{name}: field `{key}` is missing") for key in REQUIRED if key not in row]
    problems += [(place, str(key), f"{name}: unknown field `{key}`; known are {', '.join(FIELDS)}") for key in row if key not in FIELDS]
    problems += [(place, key, f"{name}: field `{key}` has the wrong type; expected {_named(kind)}")
                 for key, kind in FIELDS.items() if key in row and not isinstance(row[key], kind)]
    if isinstance(row.get("framework"), str) and row["framework"] not in ("numpy", "torch"):
        problems.append((place, "framework", f"{name}: framework is numpy or torch, not {row['framework']}"))
    if isinstance(row.get("hints"), list) and len(row["hints"]) < 3:
        problems.append((place, "hints", f"{name}: at least three hints, from a nudge to nearly there"))
    if len(problems) > before:
        return None
    module = f"{row['id']}_{row['slug']}"
    exercise = Exercise(
        id=row["id"], slug=row["slug"], title=row["title"], promise=row["promise"].strip(), framework=row["framework"], gpu=row.get("gpu", False),
        points=float(row["points"]), stretch_points=float(row.get("stretch_points", 0)), budget_s=float(row.get("budget_s", 3.0)),
        functions=tuple(row["functions"]), off_limits=_off_limits(row.get("off_limits", []), name, place, problems), hints=tuple(str(h).strip() for h in row["hints"]),
        stub=pack.exercises_dir / f"{module}.py", solution=pack.solutions_dir / f"{module}.py", checks=pack.checks_dir / f"check_{row['slug']}.py",
        misconceptions=pack.misconceptions_dir / f"{row['slug']}.py", alternatives=pack.solutions_dir / "alternatives" / row["slug"],
        pack="" if pack.exercises_dir == _folder("attngrade.exercises") else pack.name,
    )
    parts = {"stub": exercise.stub, "solution": exercise.solution, "checks": exercise.checks}
    problems += [(place, "slug", f"{name}: {part} {path.parent.name}/{path.name} is missing") for part, path in parts.items() if not path.is_file()]
    return exercise


def _named(kind: type | tuple[type, ...]) -> str:
    return " or ".join({"str": "text", "bool": "true or false", "int": "a number", "list": "a list"}[one.__name__] for one in (kind if isinstance(kind, tuple) else (kind,))[:1])


def _off_limits(rows: list[Any], name: str, place: int, problems: list[Problem]) -> tuple[OffLimits, ...]:
    entries = []
    for row in rows:
        kinds = [kind for kind in ("name", "module", "path") if isinstance(row, dict) and kind in row]
        if len(kinds) != 1 or set(row) - {kinds[0], "functions"}:
            problems.append((place, "off_limits", f"{name}: an off_limits entry has one of name, module, path, and perhaps functions; got {row!r}"))
            continue
        entries.append(OffLimits(kinds[0], str(row[kinds[0]]), tuple(row.get("functions", ()))))
    return tuple(entries)
