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

    @property
    def module(self) -> str:
        """The file's name without its suffix."""
        return f"{self.id}_{self.slug}"

    @property
    def number(self) -> int:
        """The number in the id."""
        return int("".join(filter(str.isdigit, self.id)) or 0)

    @property
    def imports(self) -> tuple[str, ...]:
        """What a worker imports before the submission arrives."""
        return ("numpy",) if self.framework == "numpy" else ("torch", "triton") if self.gpu and importlib.util.find_spec("triton") else ("torch",)


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
        table = yaml.load(path.read_text(encoding="utf-8"), LOADER)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise PackProblem(str(path), [str(error).replace("\n", " ")]) from None
    rows = table.get("exercises") if isinstance(table, dict) else None
    if not isinstance(rows, list) or not rows:
        raise PackProblem(str(path), ["expected a mapping with a non-empty list `exercises`"])
    problems: list[str] = []
    found = [_exercise(pack, row, place, problems) for place, row in enumerate(rows, 1)]
    ids = [e.id for e in found if e]
    problems += [f"id {name} is used twice" for name in sorted({i for i in ids if ids.count(i) > 1})]
    if problems:
        raise PackProblem(str(path), problems)
    return Pack(pack.name, pack.exercises_dir, pack.solutions_dir, pack.checks_dir, pack.misconceptions_dir, pack.questions_dir, tuple(e for e in found if e))


def _exercise(pack: Pack, row: Any, place: int, problems: list[str]) -> Exercise | None:
    if not isinstance(row, dict):
        problems.append(f"entry {place}: expected a mapping")
        return None
    name = row.get("id", f"entry {place}")
    before = len(problems)
    problems += [f"{name}: field `{key}` is missing" for key in REQUIRED if key not in row]
    problems += [f"{name}: unknown field `{key}`" for key in row if key not in FIELDS]
    problems += [f"{name}: field `{key}` has the wrong type" for key, kind in FIELDS.items() if key in row and not isinstance(row[key], kind)]
    if len(problems) > before:
        return None
    if row["framework"] not in ("numpy", "torch"):
        problems.append(f"{name}: framework is numpy or torch, not {row['framework']}")
    if len(row["hints"]) < 3:
        problems.append(f"{name}: at least three hints, from a nudge to nearly there")
    module = f"{row['id']}_{row['slug']}"
    exercise = Exercise(
        id=row["id"], slug=row["slug"], title=row["title"], promise=row["promise"].strip(), framework=row["framework"], gpu=row.get("gpu", False),
        points=float(row["points"]), stretch_points=float(row.get("stretch_points", 0)), budget_s=float(row.get("budget_s", 3.0)),
        functions=tuple(row["functions"]), off_limits=_off_limits(row.get("off_limits", []), name, problems), hints=tuple(str(h).strip() for h in row["hints"]),
        stub=pack.exercises_dir / f"{module}.py", solution=pack.solutions_dir / f"{module}.py", checks=pack.checks_dir / f"check_{row['slug']}.py",
        misconceptions=pack.misconceptions_dir / f"{row['slug']}.py", alternatives=pack.solutions_dir / "alternatives" / row["slug"],
    )
    parts = {"stub": exercise.stub, "solution": exercise.solution, "checks": exercise.checks}
    problems += [f"{name}: {part} {path.parent.name}/{path.name} is missing" for part, path in parts.items() if not path.is_file()]
    return exercise


def _off_limits(rows: list[Any], name: str, problems: list[str]) -> tuple[OffLimits, ...]:
    entries = []
    for row in rows:
        kinds = [kind for kind in ("name", "module", "path") if isinstance(row, dict) and kind in row]
        if len(kinds) != 1 or set(row) - {kinds[0], "functions"}:
            problems.append(f"{name}: an off_limits entry has one of name, module, path, and perhaps functions; got {row!r}")
            continue
        entries.append(OffLimits(kinds[0], str(row[kinds[0]]), tuple(row.get("functions", ()))))
    return tuple(entries)
