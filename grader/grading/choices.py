"""What a name may be that a file gives nothing but written strings: ``for n in ("a", "b")`` is read as both. Pure; nothing is executed."""

from __future__ import annotations

import ast
import itertools
import math
from collections import ChainMap, Counter
from collections.abc import Iterable, Iterator, Mapping

from .strings import Allowance, fold

CAP = 64  # strings that one expression may stand for, and items of a list that are read
COLUMNS = 8  # of a zip
PICKED_AT = 50  # steps of a file's allowance for each string that an expression may stand for
Pairs = Iterator[tuple[str, list[ast.expr]]]
Choices = dict[str, list[ast.expr]]


def choices(nodes: Iterable[ast.AST], constants: Mapping[str, ast.expr], times: Mapping[str, int]) -> Choices:
    """For each name, all that it may be; a name that is also bound in some other way (``times`` counts all of them) is left out."""
    found: Choices = {}
    told: Counter[str] = Counter()
    for node in nodes:
        for name, values in _given(node, constants):
            if values and len(found.setdefault(name, [])) <= CAP:  # nothing: what it is isn't written there
                found[name] += values
                told[name] += 1
    return {name: values for name, values in found.items() if told[name] == times[name] and len(values) <= CAP}


def _given(node: ast.AST, constants: Mapping[str, ast.expr]) -> Pairs:
    if isinstance(node, (ast.For, ast.comprehension)):
        yield from _one_of(node.target, _items(node.iter, constants))
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _one_of(target, _either(node.value))
    elif isinstance(node, (ast.NamedExpr, ast.AnnAssign)) and node.value is not None:
        yield from _one_of(node.target, _either(node.value))


def _either(value: ast.expr) -> list[ast.expr]:
    found: list[ast.expr] = []
    left = [value]
    while left and len(found) <= CAP:
        node = left.pop()
        if isinstance(node, ast.IfExp):
            left += [node.orelse, node.body]
        else:
            found.append(node)
    return [] if left else found


def _items(node: ast.expr, constants: Mapping[str, ast.expr]) -> list[ast.expr]:
    """What a loop runs over, where all of it is written there and is short; a list that has a name may have become another."""
    if isinstance(node, ast.Name) and isinstance(constants.get(node.id), ast.Tuple):
        node = constants[node.id]
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return [] if len(node.elts) > CAP or any(isinstance(item, ast.Starred) for item in node.elts) else node.elts
    if isinstance(node, ast.Dict):
        return [key for key, _ in _pairs(node)]
    if not isinstance(node, ast.Call) or node.keywords or len(node.args) > COLUMNS:
        return []
    if isinstance(node.func, ast.Attribute) and node.func.attr == "items" and isinstance(node.func.value, ast.Dict):
        return [ast.Tuple([key, value]) for key, value in _pairs(node.func.value)]
    return _called(node, constants) if isinstance(node.func, ast.Name) else []


def _pairs(node: ast.Dict) -> list[tuple[ast.expr, ast.expr]]:
    pairs = [(key, value) for key, value in zip(node.keys, node.values, strict=True) if key is not None] if len(node.keys) <= CAP else []
    return pairs if len(pairs) == len(node.keys) else []


def _called(node: ast.Call, constants: Mapping[str, ast.expr]) -> list[ast.expr]:
    columns = [_items(argument, constants) for argument in node.args]
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in ("reversed", "sorted") and len(columns) == 1:
        return columns[0]
    if name == "enumerate" and columns:
        return [ast.Tuple([ast.Name("?", ast.Load()), item]) for item in columns[0]]
    if name == "zip" and columns:
        longest = max(map(len, columns))
        return [ast.Tuple(list(row)) for row in itertools.zip_longest(*(column or [ast.Name("?", ast.Load())] * longest for column in columns)) if None not in row]
    return []


def _one_of(target: ast.expr, values: list[ast.expr]) -> Pairs:
    """The names of a target, each with what it gets from one of some values."""
    if isinstance(target, ast.Name):
        yield target.id, values
    elif isinstance(target, (ast.Tuple, ast.List)):
        rows = [value.elts for value in values if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)]
        for place, inner in enumerate(target.elts if len(rows) == len(values) else ()):
            yield from _one_of(inner, [row[place] for row in rows])


def possible(text: ast.expr, constants: Mapping[str, ast.expr], known: Choices, allowance: Allowance) -> list[str] | None:
    """Every string that an expression may come to; None where nobody can tell."""
    if isinstance(text, ast.IfExp):
        parts = [fold(part, constants, allowance) for part in _either(text)]
        return [part for part in parts if part is not None] if parts and None not in parts else None
    single = fold(text, constants, allowance)
    if single is not None:
        return [single]
    names = sorted({node.id for node in ast.walk(text) if isinstance(node, ast.Name) and node.id in known})
    if not names or math.prod(len(known[name]) for name in names) > CAP:
        return None
    found = []
    for picked in itertools.product(*(known[name] for name in names)):
        allowance.spend(PICKED_AT)
        string = fold(text, ChainMap(dict(zip(names, picked, strict=True)), constants), allowance)  # type: ignore[arg-type]
        if string is None:
            return None
        found.append(string)
    return found


def framed(text: ast.expr, constants: Mapping[str, ast.expr], allowance: Allowance) -> tuple[str, str] | None:
    """What stands before and behind the one part of a string that can't be told; None where that is not the form of it, or nothing stands there."""
    if isinstance(text, ast.BinOp) and isinstance(text.op, ast.Add):
        parts = [text.left, text.right]
    elif isinstance(text, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.FormattedValue) and part.format_spec is None else part for part in text.values]
    else:
        return None
    told = [fold(part, constants, allowance) for part in parts]
    if told.count(None) != 1 or not any(told):
        return None
    hole = told.index(None)
    return "".join(part or "" for part in told[:hole]), "".join(part or "" for part in told[hole + 1 :])
