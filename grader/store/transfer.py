"""The log as JSON Lines: out for a backup or another machine, in again without doubling anything."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from ..errors import UsageProblem
from .log import Store
from .records import Entry, RecordProblem, moment_from, moment_text, plain, record_from

HEADER = {"attngrade": "record", "schema_version": 1}
_SHOWN = 10


class ImportProblem(UsageProblem):
    """Lines that are no record; nothing was taken from the file."""


def write_lines(store: Store) -> Iterator[str]:
    """A header, then one object a line, in order of time."""
    yield json.dumps(HEADER)
    for entry in store.entries():
        yield json.dumps({"id": entry.id, "at": moment_text(entry.at), "kind": entry.record.kind, **plain(entry.record)})


def read_lines(store: Store, lines: Iterable[str], name: str = "The file") -> tuple[int, int]:
    """Take such lines in. Returns (new, already there). Raises ImportProblem with every bad line, and takes nothing then."""
    entries, problems = [], []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            entries += _entry(line)
        except RecordProblem as problem:
            problems.append(f"line {number}: {problem}")
    if problems:
        more = f"\n  and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        listed = "\n  ".join(problems[:_SHOWN])
        what_to_do = "`attngrade progress --export FILE` writes one."
        raise ImportProblem(f"{name} is not an attngrade record, and nothing was taken from it:\n  {listed}{more}\n{what_to_do}")
    added = store.add_entries(entries)
    return added, len(entries) - added


def _entry(line: str) -> list[Entry]:
    data = _object(line)
    if "attngrade" in data:
        if data != HEADER:
            raise RecordProblem(f"the header must be {json.dumps(HEADER)}; a newer attngrade may have written this")
        return []
    if not isinstance(data.get("id"), str) or not data["id"]:
        raise RecordProblem("the field 'id' is missing")
    rest = {name: value for name, value in data.items() if name not in ("id", "at", "kind")}
    return [Entry(data["id"], moment_from(data.get("at")), record_from(str(data.get("kind")), rest))]


def _object(line: str) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        raise RecordProblem("not JSON") from None
    if not isinstance(data, dict):
        raise RecordProblem(f"expected an object, got {type(data).__name__}")
    return data
