"""What a source says before anybody looks for names in it: aliases, constants, own definitions, texts that are only text. Pure; nothing is executed."""

from __future__ import annotations

import ast

from .choices import framed, possible
from .owned import bindings, look_for_own_objects
from .paths import IDENTIFIER, PATH_CAP, Source, called_name, dotted, rooted
from .strings import Allowance, fold

EVALUATORS = {"eval", "exec", "compile", "parse_expr", "CompilationUnit", "define", "runcode", "runsource"}
FETCHERS = {"getattr": 1, "hasattr": 1, "attrgetter": 0, "methodcaller": 0, "__getattribute__": -1, "import_module": 0, "__import__": 0, "find_spec": 0,
            "_get_operation": 0, "_jit_get_operation": 0}  # what takes a thing by its name, and which argument the name is
NAMESPACES = {"vars", "globals", "locals", "dir", "getmembers"}
STARS_CAP = 16
FRAMES_CAP = 16
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def survey(tree: ast.Module, aliases: dict[str, str] | None = None, allowance: Allowance | None = None) -> Source:
    """Aliases, constants, own definitions, and which strings are code, names or mere text. Raises TooMuch."""
    known = Source(tree, dict(aliases or {}), allowance=allowance or Allowance())
    nodes = list(ast.walk(tree))
    for node in nodes:
        _note(node, known)
    _hush_docstring(tree, known)
    assigned: dict[str, int] = {}
    for name, value in (pair for node in nodes for pair in bindings(node)):
        _bind(name, value, known, assigned)
    look_for_own_objects(nodes, known)
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    for node in nodes:
        _look_for_fetching(node, known, called)
    return known


def _note(node: ast.AST, known: Source) -> None:
    if isinstance(node, ast.Import):
        for alias in node.names:
            known.aliases[alias.asname or alias.name.partition(".")[0]] = alias.name if alias.asname else alias.name.partition(".")[0]
    elif isinstance(node, ast.ImportFrom) and node.module:
        for alias in node.names:
            if alias.name != "*":
                known.aliases[alias.asname or alias.name] = f"{node.module}.{alias.name}"
            elif len(known.starred) < STARS_CAP:
                known.starred.append(node.module)
    elif isinstance(node, Definition):
        known.own.add(node.name)
        _hush_docstring(node, known)
    elif isinstance(node, (ast.Raise, ast.Assert)):
        known.quiet |= {id(inner) for inner in ast.walk(node) if isinstance(inner, (ast.Constant, ast.JoinedStr, ast.BinOp))}
    elif isinstance(node, ast.Expr) and isinstance(node.value, (ast.Constant, ast.JoinedStr)):
        known.quiet.add(id(node.value))


def _hush_docstring(node: ast.Module | Definition, known: Source) -> None:
    if node.body and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant):
        known.quiet.add(id(node.body[0].value))


def _bind(name: str, value: ast.expr, known: Source, assigned: dict[str, int]) -> None:
    assigned[name] = assigned.get(name, 0) + 1
    path = dotted(value, known)
    if path and len(path) < PATH_CAP and path.partition(".")[0] != name and rooted(value, known):
        known.aliases.setdefault(name, path)
    if assigned[name] == 1:
        known.constants[name] = value
    else:
        known.constants.pop(name, None)


# ---------------------------------------------------------------- which strings matter


def _look_for_fetching(node: ast.AST, known: Source, called: set[int]) -> None:
    if isinstance(node, ast.Call):
        name = called_name(node.func, known)
        if name in EVALUATORS:
            _run_as_code(node, known)
        elif name in FETCHERS and node.args:
            _fetch_by(node.args[min(FETCHERS[name], len(node.args) - 1)], known, node.args[0] if FETCHERS[name] == 1 else None)
    elif isinstance(node, ast.Subscript) and _is_namespace(node.value):
        _fetch_by(node.slice, known)
    elif isinstance(node, (ast.Name, ast.Attribute)) and id(node) not in called:
        last = node.id if isinstance(node, ast.Name) else node.attr
        known.searching |= last in ("getattr", "attrgetter", "__getattribute__", "import_module", "__import__")  # handed on, to fetch somewhere else
    if isinstance(node, (ast.For, ast.comprehension)):
        known.searching |= any(_is_namespace(inner) for inner in ast.walk(node.iter))


def _is_namespace(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, (ast.Name, ast.Attribute)) and (node.func.id if isinstance(node.func, ast.Name) else node.func.attr) in NAMESPACES
    return isinstance(node, ast.Attribute) and node.attr in ("__dict__", "modules", "_modules")


def _fetch_by(text: ast.expr, known: Source, owner: ast.expr | None = None) -> None:
    known.names.add(id(text))
    if isinstance(text, ast.Name) and text.id in known.constants:
        known.names.add(id(known.constants[text.id]))
    if fold(text, known.constants, known.allowance) is not None:
        return
    found = possible(text, known.constants, known.choices, known.allowance)
    frame = framed(text, known.constants, known.allowance)
    if found is not None:
        home = (dotted(owner, known) if owner is not None and rooted(owner, known) else None) or "?"
        known.spelt[id(text)] = [f"{home}.{name.replace('::', '.')}" for name in found if IDENTIFIER.fullmatch(name)]
    elif frame is not None and len(known.frames) < FRAMES_CAP:
        known.frames.add(frame)
    else:
        known.searching = True


def _run_as_code(call: ast.Call, known: Source) -> None:
    for argument in call.args:
        held = known.constants.get(argument.id, argument) if isinstance(argument, ast.Name) else argument
        known.evaluated |= {id(argument), id(held)}
