"""``takehome.yaml``: what a team asks of its candidates, read with all problems at once; and the team's secret, from which hidden inputs come."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import yaml

from ..catalog import LOADER, Exercise, Pack
from ..errors import PackProblem, UsageProblem
from ..workspace import write_beside

NAME, SECRET = "takehome.yaml", "secret.key"
FIELDS = ("title", "exercises", "questions", "instructions", "deadline", "limits", "variants")
INSTRUCTIONS = "Write the functions, answer the questions, try the examples, pack, and send the archive back. Work alone; ask us anything."


@dataclass(frozen=True)
class Asked:
    """One exercise or question of a take-home and its weight."""

    id: str
    weight: float = 1.0


@dataclass(frozen=True)
class TakeHome:
    """A team's take-home: what is asked, how it is limited, and where it lives."""

    folder: Path
    title: str
    exercises: tuple[Asked, ...]
    questions: tuple[Asked, ...] = ()
    instructions: str = INSTRUCTIONS
    deadline: str = ""
    timeout_s: float = 60.0
    memory_mib: int = 4096
    variants: bool = False

    def seed(self, candidate: str, exercise: str) -> int:
        """The seed of a candidate's hidden inputs: the same at every grading, unknown without the team's secret."""
        key = read_secret(self.folder)
        return int.from_bytes(hmac.new(key, f"{candidate}\0{exercise}".encode(), hashlib.sha256).digest()[:4], "little")

    def digest(self) -> str:
        """What a result depends on besides the submission: if it changes, everything is graded anew."""
        told = repr((self.exercises, self.questions, self.timeout_s, self.memory_mib, read_secret(self.folder))) + ("variants" if self.variants else "")
        return hashlib.sha256(told.encode()).hexdigest()[:16]


def read_secret(folder: Path) -> bytes:
    """The team's secret. Raises UsageProblem where it is missing."""
    try:
        return (folder / SECRET).read_bytes()
    except OSError:
        raise UsageProblem(f"{folder / SECRET} is missing: it is written by `attngrade takehome new`, and hidden inputs come from it. Restore it.") from None


def write_plan(folder: Path, title: str, exercises: list[Exercise], questions: list[str], deadline: str, variants: bool = False) -> Path:
    """Write takehome.yaml (for a person to edit) and the secret into a new folder. Raises UsageProblem."""
    path = folder / NAME
    if path.exists():
        raise UsageProblem(f"{path} is there already. Edit it and run `attngrade takehome build {folder}`, or name a new folder.")
    table = {
        "title": title, "instructions": INSTRUCTIONS, "deadline": deadline,
        "exercises": [{"exercise": exercise.id, "weight": 1} for exercise in exercises],
        "questions": [{"question": name, "weight": 0.25} for name in questions], "limits": {"timeout_s": 60, "memory_mib": 4096},
        "variants": variants,
    }
    head = "# What you ask of your candidates. Edit it, then run `attngrade takehome build` beside it to write the candidate's folder anew.\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_beside(path, (head + yaml.safe_dump(table, sort_keys=False, allow_unicode=True, width=100)).encode())
        write_beside(folder / SECRET, secrets.token_hex(32).encode())
        os.chmod(folder / SECRET, 0o600)
    except OSError as error:
        raise UsageProblem(f"{error.filename or folder} can't be written ({error.strerror}). Name another folder.") from None
    return path


def read_plan(folder: Path, pack: Pack, questions: frozenset[str]) -> TakeHome:
    """The take-home in ``folder``. Raises PackProblem with everything that is wrong in its YAML."""
    path = folder / NAME
    try:
        table = yaml.load(path.read_text(encoding="utf-8"), LOADER)
    except FileNotFoundError:
        raise UsageProblem(f"{path} is missing. `attngrade takehome new {folder}` starts a take-home.") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise PackProblem(str(path), [" ".join(str(error).split())]) from None
    if not isinstance(table, dict):
        raise PackProblem(str(path), ["expected a mapping with `exercises`"])
    problems = [f"unknown field `{key}`: there are {', '.join(FIELDS)}" for key in table if key not in FIELDS]
    exercises = _asked(table.get("exercises"), "exercise", frozenset(e.id for e in pack.exercises), problems)
    asked = _asked(table.get("questions") or [], "question", questions, problems)
    limits = table.get("limits") or {}
    timeout, memory = limits.get("timeout_s", 60), limits.get("memory_mib", 4096)
    if not isinstance(timeout, (int, float)) or timeout <= 0 or not isinstance(memory, int) or memory < 256:
        problems.append("limits: timeout_s is seconds above 0, memory_mib a whole number from 256")
    variants = table.get("variants", False)
    if not isinstance(variants, bool):
        problems.append(f"variants: true (each candidate gets his own conventions) or false, not {variants!r}")
    deadline = _deadline(table.get("deadline"), problems)
    if not exercises and not asked:
        problems.append("nothing is asked: name at least one exercise or question")
    if problems:
        raise PackProblem(str(path), problems)
    return TakeHome(folder, str(table.get("title") or "Take-home"), exercises, asked, str(table.get("instructions") or INSTRUCTIONS), deadline,
                    float(timeout), int(memory), variants)


def _asked(rows: Any, kind: str, known: frozenset[str], problems: list[str]) -> tuple[Asked, ...]:
    if not isinstance(rows, list):
        problems.append(f"{kind}s: expected a list of {{{kind}: ID, weight: NUMBER}}")
        return ()
    found = []
    for row in rows:
        name = row.get(kind) if isinstance(row, dict) else row
        weight = row.get("weight", 1) if isinstance(row, dict) else 1
        if name not in known:
            problems.append(f"{kind}s: {name!r} is not {'an' if kind == 'exercise' else 'a'} {kind} of this set")
        elif not isinstance(weight, (int, float)) or isinstance(weight, bool) or weight < 0:
            problems.append(f"{kind}s: the weight of {name} is a number from 0, not {weight!r}")
        else:
            found.append(Asked(str(name), float(weight)))
    problems += [f"{kind}s: {name} stands there twice" for name in sorted({a.id for a in found if [b.id for b in found].count(a.id) > 1})]
    return tuple(found)


def _deadline(value: Any, problems: list[str]) -> str:
    if value in (None, ""):
        return ""
    if isinstance(value, datetime):
        return value.replace(tzinfo=value.tzinfo or UTC).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    try:
        return datetime.fromisoformat(str(value)).isoformat()
    except ValueError:
        problems.append(f"deadline: expected a date such as 2026-12-15 or 2026-12-15T18:00:00+00:00, got {value!r}")
        return ""
