"""Which names and attributes of a file are its own: nothing of a library is fetched through them. Pure; nothing is executed."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from .choices import choices
from .paths import Source, dotted

RECORDS = {"types.SimpleNamespace"}
RECORD_CLASSES = {"collections.namedtuple", "typing.NamedTuple", "dataclasses.make_dataclass"}


def bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that a statement binds to one expression each."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, node.value
            elif isinstance(target, (ast.Tuple, ast.List)) and isinstance(node.value, (ast.Tuple, ast.List)) and len(target.elts) == len(node.value.elts):
                yield from ((inner.id, value) for inner, value in zip(target.elts, node.value.elts, strict=True) if isinstance(inner, ast.Name))
    elif isinstance(node, (ast.NamedExpr, ast.AnnAssign)) and isinstance(node.target, ast.Name) and node.value is not None:
        yield node.target.id, node.value
    elif isinstance(node, (ast.FunctionDef, ast.Lambda)):
        for argument, value in zip(reversed(node.args.args), reversed(node.args.defaults), strict=False):
            yield argument.arg, value


def look_for_own_objects(nodes: list[ast.AST], known: Source) -> None:
    records = {name: value for name, value in known.constants.items() if isinstance(value, ast.Call) and dotted(value.func, known) in RECORD_CLASSES}
    classes = {node.name for node in nodes if isinstance(node, ast.ClassDef)} | records.keys()
    times = Counter(name for node in nodes for name in given(node))
    known.bound |= times.keys()
    known.choices = choices(nodes, known.constants, times)
    made = [name for node in nodes if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) for name, value in bindings(node) if makes_own(value, classes, known)]
    made += [node.arg for node in nodes if isinstance(node, ast.arg) and isinstance(node.annotation, ast.Name) and node.annotation.id in classes]
    made += contexts(nodes, known)
    known.instances |= {name for name, count in Counter(made).items() if count == times[name]}
    _look_for_held(nodes, [*records.values(), *(node for node in nodes if makes_own(node, set(), known))], known)


def _look_for_held(nodes: list[ast.AST], records: list[ast.AST], known: Source) -> None:
    own = {"self", "cls", *known.instances}
    known.held |= {n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store) and isinstance(n.value, ast.Name) and n.value.id in own}
    for part in (part for node in nodes if isinstance(node, ast.ClassDef) for part in node.body):
        known.held |= {name for name, _ in bindings(part)}
        known.held |= {part.target.id} if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name) else set()
    for inner in (inner for record in records for inner in ast.walk(record)):
        known.held |= {inner.arg} if isinstance(inner, ast.keyword) and inner.arg else set()
        known.held |= set(inner.value.replace(",", " ").split()) if isinstance(inner, ast.Constant) and isinstance(inner.value, str) else set()


def given(node: ast.AST) -> Iterator[str]:
    """The names that a node gives a value, other than by an import or a definition."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    name = node.name if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) else node.arg if isinstance(node, ast.arg) else None
    name = node.rest if isinstance(node, ast.MatchMapping) else name
    if name:
        yield name


def contexts(nodes: list[ast.AST], known: Source) -> list[str]:
    """The first parameters of what is written for ``torch.autograd.Function``, whose own object each is; none where such a method is called by name."""
    classes = [node for node in nodes if isinstance(node, ast.ClassDef) and any((dotted(base, known) or "").rpartition(".")[2] == "Function" for base in node.bases)]
    methods = [(owner.name, part) for owner in classes for part in owner.body if isinstance(part, ast.FunctionDef) and part.args.args]
    names = {(owner, part.name) for owner, part in methods}
    if any(isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and (node.value.id, node.attr) in names for node in nodes):
        return []
    return [part.args.args[0].arg for _, part in methods]


def makes_own(node: ast.AST, classes: set[str], known: Source) -> bool:
    """Whether an expression is a new object of one of these classes, or one that holds what is written there and nothing else."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name) and node.func.id in classes:
        return True
    return not node.args and all(word.arg for word in node.keywords) and dotted(node.func, known) in RECORDS
