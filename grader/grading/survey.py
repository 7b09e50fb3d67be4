"""What a source says before anybody looks for names in it: aliases, constants, own definitions, texts that are only text. Pure; nothing is executed."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from .strings import Allowance, fold

EVALUATORS = {"eval", "exec", "compile", "parse_expr", "CompilationUnit", "define", "runcode", "runsource"}
FETCHERS = {"getattr": 1, "hasattr": 1, "attrgetter": 0, "methodcaller": 0, "__getattribute__": -1, "import_module": 0, "__import__": 0, "find_spec": 0,
            "_get_operation": 0, "_jit_get_operation": 0}  # what takes a thing by its name, and which argument the name is
NAMESPACES = {"vars", "globals", "locals", "dir", "getmembers"}
IDENTIFIER = re.compile(r"[A-Za-z_][\w.]*(::[A-Za-z_]\w*)?")
PATH_CAP = 300  # letters of a dotted path
STARS_CAP = 16
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Text = (ast.Constant, ast.JoinedStr, ast.BinOp, ast.Call, ast.Subscript)


@dataclass
class Source:
    """What the reader knows of one file before it looks for names."""

    tree: ast.Module
    aliases: dict[str, str] = field(default_factory=dict)  # local name -> dotted path it stands for
    constants: dict[str, ast.expr] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)  # names defined here as function, class or method
    held: set[str] = field(default_factory=set)  # attributes that own objects and classes are given here
    bound: set[str] = field(default_factory=set)  # names that this file gives a value in some other way than by an import
    instances: set[str] = field(default_factory=set)  # those whose every value is a new object of a class defined here
    starred: list[str] = field(default_factory=list)  # modules imported by *
    quiet: set[int] = field(default_factory=set)  # ids of string nodes that are text: docstrings, messages
    evaluated: set[int] = field(default_factory=set)  # ids of string nodes that are run as code
    names: set[int] = field(default_factory=set)  # ids of string nodes by which something is fetched
    allowance: Allowance = field(default_factory=Allowance)  # shared with the code in strings
    searching: bool = False  # something is fetched by a name that can't be read here: then every string may be one


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
    _look_for_own_objects(nodes, known)
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


def _bind(name: str, value: ast.expr, known: Source, assigned: dict[str, int]) -> None:
    assigned[name] = assigned.get(name, 0) + 1
    path = dotted(value, known)
    if path and len(path) < PATH_CAP and path.partition(".")[0] != name and _rooted(value, known):
        known.aliases.setdefault(name, path)
    if assigned[name] == 1:
        known.constants[name] = value
    else:
        known.constants.pop(name, None)


def _look_for_own_objects(nodes: list[ast.AST], known: Source) -> None:
    classes = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
    known.held |= {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_own_object(node.value)}
    known.held |= {name for node in nodes if isinstance(node, ast.ClassDef) for part in node.body for name, _ in bindings(part)}
    given = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)] + [node.arg for node in nodes if isinstance(node, ast.arg)]
    known.bound |= set(given)
    made = [name for node in nodes if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) for name, value in bindings(node) if makes_own(value, classes)]
    times = Counter(given)
    known.instances |= {name for name, count in Counter(made).items() if count == times[name]}


def _is_own_object(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def makes_own(node: ast.AST, classes: set[str]) -> bool:
    """Whether an expression is a call of one of these classes."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in classes


def _rooted(node: ast.expr, known: Source) -> bool:
    inner: ast.expr | None = node
    while inner is not None and not isinstance(inner, ast.Name):
        step = fetched(inner, known)
        if step is None:
            return False
        inner = step[1]
    return inner is None or inner.id in known.aliases


# ---------------------------------------------------------------- paths


def dotted(node: ast.AST, known: Source) -> str | None:
    """``F.softmax`` with F imported from torch.nn -> ``torch.nn.functional.softmax``; ``getattr(F, "softmax")`` and its kin as well."""
    parts: list[str] = []
    while not isinstance(node, ast.Name):
        step = fetched(node, known)
        if step is None or len(parts) > PATH_CAP:
            return None
        parts.append(step[0])
        if step[1] is None:
            return ".".join(reversed(parts))
        node = step[1]
    return ".".join([known.aliases.get(node.id, node.id), *reversed(parts)])


def fetched(node: ast.AST, known: Source) -> tuple[str, ast.expr | None] | None:
    """The name that an expression takes out of an object, and the object; no object for a module that is imported by its name."""
    if isinstance(node, ast.Attribute):
        return node.attr, node.value
    if isinstance(node, ast.Subscript) and (owner := _namespace(node.value)) is not None:
        return _pair(node.slice, owner, known)
    if not isinstance(node, ast.Call) or not node.args:
        return None
    last = called_name(node.func, known)
    if last == "getattr" and len(node.args) > 1:
        return _pair(node.args[1], node.args[0], known)
    if last in ("import_module", "__import__"):
        step = _pair(node.args[0], None, known)
        outermost = last == "__import__" and len(node.args) < 4 and not node.keywords
        return (step[0].partition(".")[0], None) if step and outermost else step
    if isinstance(node.func, ast.Call) and node.func.args and called_name(node.func.func, known) == "attrgetter":
        return _pair(node.func.args[0], node.args[0], known)
    return None


def called_name(func: ast.expr, known: Source) -> str:
    """The last name of what is called."""
    if isinstance(func, ast.Name):
        return known.aliases.get(func.id, func.id).rpartition(".")[2]
    return func.attr if isinstance(func, ast.Attribute) else ""


def _namespace(node: ast.expr) -> ast.expr | None:
    """The object whose names stand in ``vars(x)`` or ``x.__dict__``."""
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return node.value
    return node.args[0] if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "vars" and node.args else None


def _pair(text: ast.expr, owner: ast.expr | None, known: Source) -> tuple[str, ast.expr | None] | None:
    name = fold(text, known.constants, known.allowance)
    return (name, owner) if name and IDENTIFIER.fullmatch(name) else None


# ---------------------------------------------------------------- which strings matter


def _look_for_fetching(node: ast.AST, known: Source, called: set[int]) -> None:
    if isinstance(node, ast.Call):
        name = called_name(node.func, known)
        if name in EVALUATORS:
            _run_as_code(node, known)
        elif name in FETCHERS and node.args:
            _fetch_by(node.args[min(FETCHERS[name], len(node.args) - 1)], known)
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


def _fetch_by(text: ast.expr, known: Source) -> None:
    known.names.add(id(text))
    if isinstance(text, ast.Name) and text.id in known.constants:
        known.names.add(id(known.constants[text.id]))
    if fold(text, known.constants, known.allowance) is None:
        known.searching = True


def _run_as_code(call: ast.Call, known: Source) -> None:
    for argument in call.args:
        held = known.constants.get(argument.id, argument) if isinstance(argument, ast.Name) else argument
        known.evaluated |= {id(argument), id(held)}
