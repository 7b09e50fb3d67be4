"""Which function of a file calls which, read from its text alone: a function that calls a wrong one can't be judged by what comes of it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

Leaning = frozenset[tuple[str, str]]


def leaning(own: bytes | str, reference: bytes | str) -> Leaning:
    """Pairs (function, other that it calls) of a submission which the reference doesn't have: putting a wrong idea into the reference's other shows nothing there."""
    there = _direct(reference)
    return _pairs(_direct(own), there.keys()) - _pairs(there, there.keys())


def _direct(text: bytes | str) -> dict[str, set[str]]:
    """Each function or class at the top level of a file, with the others that it names; nothing where it can't be read."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    defined = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}  # of several the last counts
    return {name: {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} & defined.keys() for name, node in defined.items()}


def _pairs(direct: dict[str, set[str]], names: Iterable[str]) -> Leaning:
    """Pairs (function, other that it reaches) of those names alone: a file may define thousands."""
    wanted = set(names) & direct.keys()
    return frozenset((name, other) for name in wanted for other in _reached(name, direct) & wanted)


def _reached(name: str, direct: dict[str, set[str]]) -> set[str]:
    reached, queue = set[str](), [name]
    while queue:
        fresh = direct[queue.pop()] - reached
        reached |= fresh
        queue += fresh
    return reached - {name}
