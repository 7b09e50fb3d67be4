"""Which function of a file calls which, read from its text alone: a function that calls a wrong one can't be judged by what comes of it."""

from __future__ import annotations

import ast

Leaning = frozenset[tuple[str, str]]


def leaning(own: bytes | str, reference: bytes | str) -> Leaning:
    """Pairs (function, other that it calls) of a submission which the reference doesn't have: putting a wrong idea into the reference's other shows nothing there."""
    return calls(own) - calls(reference)


def calls(text: bytes | str) -> Leaning:
    """Pairs (function or class, other that it reaches) among the top-level definitions of a file; none where it can't be read."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    defined = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}  # of several the last counts
    direct = {name: {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} & defined.keys() for name, node in defined.items()}
    return frozenset((name, other) for name in direct for other in _reached(name, direct))


def _reached(name: str, direct: dict[str, set[str]]) -> set[str]:
    reached, queue = set[str](), [name]
    while queue:
        fresh = direct[queue.pop()] - reached
        reached |= fresh
        queue += fresh
    return reached - {name}
