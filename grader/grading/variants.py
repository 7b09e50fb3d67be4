"""Conventions that flip: which of them one candidate was asked, and how his calls are read all the same (see grader/README.md).

A convention is declared in ``exercises/conventions/<slug>.yaml`` (what it is called, which sentences of stub and examples it replaces). Most
flips are an exchange of arrays, told by the rules of ``checks/conventions_<slug>.py``; the checks then never know. A flip that no exchange
can undo is asked by the oracles themselves (``claims.flipped``) and brings a solution of its own, by which the reference and the diagnosis go.
"""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ..catalog import LOADER, Exercise
from ..errors import PackProblem

REQUIRED = {"id": str, "usual": str, "other": str, "functions": list, "texts": list}
OPTIONAL = {"titles": dict, "solution": str}


@dataclass(frozen=True)
class Convention:
    """One convention of an exercise: its usual value, the other one, and what changes in texts with it."""

    id: str
    usual: str
    other: str
    functions: tuple[str, ...]
    texts: tuple[tuple[str, str], ...]
    titles: Mapping[str, str] = field(default_factory=dict)
    solution: Path | None = None


def folder_of(exercise: Exercise) -> Path:
    """Where an exercise's conventions are told, if it has any."""
    return exercise.stub.parent / "conventions" / f"{exercise.slug}.yaml"


@cache
def conventions(exercise: Exercise) -> tuple[Convention, ...]:
    """An exercise's conventions; none where its pack tells of none. Raises PackProblem with everything that is wrong."""
    path = folder_of(exercise)
    try:
        rows = yaml.load(path.read_text(encoding="utf-8"), LOADER)["conventions"]
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError, yaml.YAMLError, TypeError, KeyError) as error:
        raise PackProblem(str(path), [f"expected a mapping with a list `conventions` ({' '.join(str(error).split())})"]) from None
    problems = [f"{row.get('id', row)}: {problem}" for row in rows for problem in _wrong(row, exercise)]
    if problems:
        raise PackProblem(str(path), problems)
    home = exercise.solution.parent / "variants" / exercise.slug
    return tuple(
        Convention(row["id"], row["usual"], row["other"], tuple(row["functions"]), tuple((text["usual"], text["other"]) for text in row["texts"]),
                   row.get("titles", {}), home / row["solution"] if "solution" in row else None)
        for row in rows
    )


def _wrong(row: Any, exercise: Exercise) -> Iterator[str]:
    known = REQUIRED | OPTIONAL
    yield from (f"field `{name}` is missing" for name in REQUIRED if name not in row)
    yield from (f"unknown field `{name}`" for name in row if name not in known)
    yield from (f"field `{name}` has the wrong type" for name, kind in known.items() if name in row and not isinstance(row[name], kind))
    if isinstance(row.get("solution"), str) and not (home := exercise.solution.parent / "variants" / exercise.slug / row["solution"]).is_file():
        yield f"its solution {home} is missing"
    yield from (f"`{name}` is no function of {exercise.id}" for name in row.get("functions", ()) if name not in exercise.functions)


@dataclass(frozen=True)
class Variant:
    """One exercise with some of its conventions flipped."""

    asked: Exercise
    flips: frozenset[str] = frozenset()

    @property
    def flipped(self) -> tuple[Convention, ...]:
        """The conventions that are not the usual ones here."""
        return tuple(convention for convention in conventions(self.asked) if convention.id in self.flips) if self.flips else ()

    @property
    def exercise(self) -> Exercise:
        """The exercise with the solution that answers what the oracles ask."""
        own = [convention.solution for convention in self.flipped if convention.solution is not None]
        return replace(self.asked, solution=own[0]) if own else self.asked

    @property
    def titles(self) -> dict[str, str]:
        """Titles of checks that say something else in this variant, by check."""
        return {check: title for convention in self.flipped for check, title in convention.titles.items()}

    @property
    def silent(self) -> frozenset[str]:
        """Functions whose misconceptions are told in the usual convention alone: nothing is named there."""
        return frozenset(name for convention in self.flipped if convention.solution is not None for name in convention.functions)

    @property
    def told(self) -> str:
        """What this variant asks, in a line."""
        return "; ".join(convention.other if convention.id in self.flips else convention.usual for convention in conventions(self.asked))

    @property
    def exchanged(self) -> str:
        """How what a reviewer reads differs from what the candidate was asked, in a sentence, or empty: calls and messages are shown in the usual convention."""
        parts = [f"{convention.usual} (asked: {convention.other})" for convention in self.flipped if convention.solution is None]
        return f"Calls, values and messages are shown in the usual convention: {'; '.join(parts)}." if parts else ""

    def reworded(self, text: str) -> str:
        """A text of the exercise with this variant's sentences in it."""
        return reworded(text, dict(pair for convention in self.flipped for pair in convention.texts))

    def tongue(self) -> Tongue | None:
        """The exchange between the checks' convention and the candidate's, if any is needed."""
        rules = [rule for rule in _rules(self.asked.checks.parent / f"conventions_{self.asked.slug}.py") if rule[0] in self.flips] if self.flips else []
        return Tongue(rules, parameters(self.asked.stub)) if rules else None


def reworded(text: str, words: Mapping[str, str]) -> str:
    """All replacements at once, so that none touches what another has written."""
    pattern = "|".join(re.escape(usual) for usual in sorted(words, key=len, reverse=True))
    return re.sub(pattern, lambda found: words[found.group()], text) if pattern else text


def others(variant: Variant) -> list[Variant]:
    """Every other variant of the exercise, those that differ least first."""
    names = [convention.id for convention in conventions(variant.asked)]
    sets = [frozenset(name for place, name in enumerate(names) if number >> place & 1) for number in range(1 << len(names))]
    return [Variant(variant.asked, flips) for flips in sorted(sets, key=lambda flips: (len(flips ^ variant.flips), sorted(flips))) if flips != variant.flips]


# ---------------------------------------------------------------- the exchange


@cache
def parameters(stub: Path) -> dict[str, tuple[str, ...]]:
    """The parameters of each function of a stub, in order."""
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    return {node.name: tuple(arg.arg for arg in (*node.args.posonlyargs, *node.args.args)) for node in tree.body if isinstance(node, ast.FunctionDef)}


@cache
def _rules(path: Path) -> tuple[tuple[str, str, Any], ...]:
    """(convention, function, rule) for every rule of a file; none where there is no file."""
    if not path.is_file():
        return ()
    spec = importlib.util.spec_from_file_location(f"attngrade_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return tuple((convention, function, rule) for rule in vars(module).values() for convention, function in getattr(rule, "attngrade_reads", ()))


class Tongue:
    """Turns what a check asks into what the candidate was told, and what his code answers into what the check expects."""

    def __init__(self, rules: list[tuple[str, str, Any]], names: Mapping[str, tuple[str, ...]]):
        self._rules, self._names = rules, names

    def speech(self, message: dict[str, Any]) -> Speech | None:
        """The exchange of one call, or None where nothing in it carries a convention."""
        if message.get("op") != "call":
            return None
        names = self._names.get(message["name"], ())
        given = {**dict(zip(names, message["args"], strict=False)), **message["kwargs"]}
        changes: dict[str, list[Any]] = {}
        for _, function, rule in self._rules:
            if function == message["name"]:
                for name, change in rule(given).items():
                    changes.setdefault(name, []).append(change)
        return Speech(names, changes) if changes else None


class Speech:
    """One call's exchange: by argument (and for the result) the changes, in the order in which they are made on the way out."""

    def __init__(self, names: tuple[str, ...], changes: Mapping[str, list[Any]]):
        self._names, self._changes = names, changes

    def out(self, message: dict[str, Any]) -> dict[str, Any]:
        """The message as the worker gets it."""
        args = tuple(self._way(name, value, "out") for name, value in zip(self._padded(message["args"]), message["args"], strict=True))
        sent = {**message, "args": args, "kwargs": {name: self._way(name, value, "out") for name, value in message["kwargs"].items()}}
        if "cotangent" in message:
            sent["cotangent"] = self._way("return", message["cotangent"], "cotangent_out")
        return sent

    def home(self, reply: dict[str, Any], message: dict[str, Any]) -> dict[str, Any]:
        """The reply as the check gets it."""
        told = {**reply, "value": self.value(reply.get("value"))}
        grads = reply.get("grads")
        if isinstance(grads, tuple):
            owners = [*self._owners(message), *[""] * len(grads)]
            told["grads"] = tuple(self._way(owner, grad, "gradient_home") for owner, grad in zip(owners, grads, strict=False))
        return told

    def value(self, value: Any) -> Any:
        """A result in the checks' convention."""
        return self._way("return", value, "home")

    def _way(self, name: str, value: Any, way: str) -> Any:
        changes = self._changes.get(name, [])
        for change in changes if way in ("out", "cotangent_out") else reversed(changes):
            value = getattr(change, way)(value)
        return value

    def _padded(self, args: tuple[Any, ...]) -> list[str]:
        return [*self._names, *[""] * len(args)][: len(args)]

    def _owners(self, message: dict[str, Any]) -> Iterator[str]:
        """The argument that each gradient belongs to: an argument that is a tuple of arrays has as many."""
        names = self._padded(message["args"])
        for place in message.get("wrt", ()):
            given, name = (message["args"][place], names[place]) if isinstance(place, int) else (message["kwargs"].get(place), place)
            yield from [name] * _arrays(given)


def _arrays(value: Any) -> int:
    from ..sandbox.wire import Array

    if isinstance(value, (tuple, list)):
        return sum(_arrays(item) for item in value)
    return int(isinstance(value, Array))
