"""Question files as records: strings only, and every problem with its line at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from .question import KINDS, BankError, Labelled, Option, Point, Question, Reject, Slot

_FIELDS = {
    "id", "rev", "kind", "topic", "difficulty", "time_s", "prompt", "answer", "why", "sources", "exercise", "follow_ups",
    "hints", "points", "slots", "options", "misconceptions", "asks", "concepts",
}  # fmt: skip
_NEEDED = ("id", "kind", "topic", "prompt", "answer", "why")


class _Strings(getattr(yaml, "CBaseLoader", yaml.BaseLoader)):  # type: ignore[misc]
    """`no`, `nan` and `1` stay strings."""


def read_yaml(path: Path) -> Any:
    """The file's contents, every scalar a string."""
    try:
        return yaml.load(path.read_text("utf-8"), Loader=_Strings)
    except UnicodeDecodeError as error:
        raise BankError([f"{path.name}: expected UTF-8, got byte {error.start} of something else."]) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path.name}:{mark.line + 1}" if mark else path.name
        raise BankError([f"{where}: not readable as YAML: {getattr(error, 'problem', error)}"]) from error


def read_question(path: Path, lexicon: Mapping[str, str]) -> Question:
    """One question; raises BankError with all its problems."""
    raw = read_yaml(path)
    if not isinstance(raw, dict):
        raise BankError([f"{path.name}:1: expected a mapping with the fields of one question, got {type(raw).__name__}."])
    problems: list[str] = []
    say = _Teller(path, problems)
    for name in sorted(set(raw) - _FIELDS):
        say(name, f"unknown field {name!r}; known are {', '.join(sorted(_FIELDS))}.")
    for name in _NEEDED:
        if not str(raw.get(name, "")).strip():
            say("", f"the field {name!r} is missing; every question has it.")
    if raw.get("kind", "open") not in KINDS:
        say("kind", f"kind {raw['kind']!r} is not one of {', '.join(KINDS)}.")
    if raw.get("id") not in (None, path.stem):
        say("id", f"id {raw['id']!r} must be the file's name, {path.stem!r}: keys of cards and logs come from it.")
    question = _build(raw, say, lexicon)
    if problems:
        raise BankError(problems)
    return question


def read_labelled(path: Path) -> tuple[Labelled, ...]:
    """Labelled answers: a list of {question, answer, earned, kind, voice, note}."""
    rows = read_yaml(path)
    if not isinstance(rows, list):
        raise BankError([f"{path.name}: expected a list of labelled answers."])
    return tuple(
        Labelled(
            question=row.get("question", path.stem),
            answer=row["answer"],
            earned=tuple(row.get("earned") or ()),
            kind=row.get("kind", "right"),
            voice=row.get("voice", ""),
            note=row.get("note", ""),
        )
        for row in rows
    )


def read_lexicon(path: Path) -> Mapping[str, str]:
    """Concept name -> its phrasings, one a line."""
    raw = read_yaml(path)
    if not isinstance(raw, dict):
        raise BankError([f"{path.name}: expected a mapping of concept names to phrasings."])
    return {str(name): str(phrasings) for name, phrasings in raw.items()}


def read_catalog_ids(path: Path) -> frozenset[str]:
    """The ids of the exercises in a catalog; none where it can't be read, which is for the commands that need it to say."""
    try:
        raw = read_yaml(path)
    except (BankError, OSError):
        return frozenset()
    rows = raw.get("exercises") if isinstance(raw, dict) else None
    return frozenset(str(row["id"]) for row in rows if isinstance(row, dict) and "id" in row) if isinstance(rows, list) else frozenset()


class _Teller:
    """Collects problems; a problem is placed at the line where the key that it is about stands."""

    def __init__(self, path: Path, problems: list[str]):
        self.path, self.problems = path, problems

    def __call__(self, key: str, message: str) -> None:
        lines = self.path.read_text("utf-8").splitlines()
        at = next((n for n, line in enumerate(lines, 1) if key and line.lstrip(" -").startswith(f"{key}:")), 1)
        self.problems.append(f"{self.path.name}:{at}: {message}")


def _build(raw: dict[str, Any], say: Callable[[str, str], None], lexicon: Mapping[str, str]) -> Question:
    options = tuple(_option(row) for row in _rows(raw, "options", say))
    slots = tuple(_slot(row, say) for row in _rows(raw, "slots", say))
    return Question(
        id=str(raw.get("id", "")),
        rev=_integer(raw, "rev", 1, say),
        kind=str(raw.get("kind", "open")),
        topic=str(raw.get("topic", "")),
        difficulty=_integer(raw, "difficulty", 3, say),
        time_s=_integer(raw, "time_s", 60, say),
        prompt=_text(raw, "prompt"),
        answer=_text(raw, "answer"),
        why=_text(raw, "why"),
        sources=_texts(raw, "sources", say),
        exercise=str(raw["exercise"]) if raw.get("exercise") else None,
        follow_ups=_texts(raw, "follow_ups", say),
        hints=_texts(raw, "hints", say),
        points=tuple(_point(row, say) for row in _rows(raw, "points", say)) or _own_points(raw, options, slots),
        slots=slots,
        options=options,
        misconceptions=tuple(_reject(row) for row in _rows(raw, "misconceptions", say)),
        asks=_texts(raw, "asks", say),
        concepts={str(name): str(text) for name, text in (raw.get("concepts") or {}).items()},
        lexicon=lexicon,
    )


def _own_points(raw: dict[str, Any], options: tuple[Option, ...], slots: tuple[Slot, ...]) -> tuple[Point, ...]:
    """Exact kinds name no points: each slot is one, and so is a choice as a whole."""
    if slots:
        return tuple(Point(id=slot.id, claim=f"{slot.label}: {slot.answer}", required=True) for slot in slots)
    if not options:
        return ()
    texts = [option.text for option in options if option.correct or raw.get("kind") == "order"]
    joint = " → " if raw.get("kind") == "order" else "; "
    return (Point(id="choice", claim=joint.join(texts), required=True),)


def _point(row: dict[str, Any], say: Callable[[str, str], None]) -> Point:
    known = {"id", "claim", "weight", "required", "accept", "reject", "feedback", "says"}
    for name in sorted(set(row) - known):
        say(name, f"unknown field {name!r} in point {row.get('id')!r}.")
    return Point(
        id=row.get("id", ""),
        claim=_text(row, "claim"),
        weight=_number(row, "weight", 1.0, say),
        required=row.get("required", "no") in ("yes", "true"),
        accept=_texts(row, "accept", say),
        reject=tuple(_reject(each) for each in _rows(row, "reject", say)),
        feedback=_text(row, "feedback"),
        says=_texts(row, "says", say),
    )


def _slot(row: dict[str, Any], say: Callable[[str, str], None]) -> Slot:
    return Slot(
        id=row.get("id", ""),
        label=_text(row, "label"),
        answer=_text(row, "answer"),
        names=dict(row.get("names") or {}),
        tolerance=_number(row, "tolerance", 1e-6, say),
        wrong=tuple(_reject(each) for each in _rows(row, "wrong", say)),
    )


def _option(row: dict[str, Any]) -> Option:
    return Option(
        id=row.get("id", ""), text=_text(row, "text"), correct=row.get("correct", "no") in ("yes", "true"), why=_text(row, "why")
    )


def _reject(row: dict[str, Any]) -> Reject:
    return Reject(pattern=_text(row, "pattern"), note=_text(row, "note"))


def _text(row: dict[str, Any], name: str) -> str:
    return str(row.get(name) or "").strip()


def _texts(row: dict[str, Any], name: str, say: Callable[[str, str], None]) -> tuple[str, ...]:
    value = row.get(name) or []
    if isinstance(value, str):
        return tuple(line.strip() for line in value.splitlines() if line.strip())
    if not all(isinstance(item, str) for item in value):
        say(name, f"{name!r} must be a list of strings.")
        return ()
    return tuple(value)


def _rows(row: dict[str, Any], name: str, say: Callable[[str, str], None]) -> list[dict[str, Any]]:
    value = row.get(name) or []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        say(name, f"{name!r} must be a list of mappings.")
        return []
    return value


def _integer(row: dict[str, Any], name: str, default: int, say: Callable[[str, str], None]) -> int:
    return int(_number(row, name, default, say))


def _number(row: dict[str, Any], name: str, default: float, say: Callable[[str, str], None]) -> float:
    try:
        return float(row.get(name, default))
    except (TypeError, ValueError):
        say(name, f"{name!r} must be a number, got {row.get(name)!r}.")
        return default
