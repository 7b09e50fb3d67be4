"""The off-limits reader: which forbidden calls a source names, where, and which functions thereby lose their points.

The host reads the source and never runs it. A name counts wherever it stands in an import or an expression: through aliases, as an attribute of
anything, as a string handed to getattr and its kin or spelt together from pieces, in code given to eval or exec. Text in docstrings, comments and
error messages doesn't count, nor does a function of the submission's own that happens to bear the name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from ..catalog import OffLimits
from ..verdict import Broken
from .strings import fold

EVALUATORS = {"eval", "exec", "compile", "parse_expr", "literal_eval", "CompilationUnit", "define", "run", "runcode", "runsource"}
TELLING = 8  # letters: a shorter name stands inside too many others


@dataclass
class Source:
    """What the reader knows of one file before it looks for names."""

    tree: ast.Module
    lines: list[str]
    aliases: dict[str, str] = field(default_factory=dict)  # local name -> dotted path it stands for
    constants: dict[str, ast.expr] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)  # names defined here as function, class or method
    starred: set[str] = field(default_factory=set)  # modules imported by *
    quiet: set[int] = field(default_factory=set)  # ids of string nodes that are text: docstrings, messages
    evaluated: set[int] = field(default_factory=set)  # ids of string nodes that are run as code


@dataclass(frozen=True)
class Hit:
    """One place where an off-limits name stands."""

    entry: OffLimits
    shown: str
    line: int
    scope: str | None  # the top-level function or class it stands in; None for the module itself
    binds: frozenset[str] = frozenset()


def broken_rules(source: str, off_limits: tuple[OffLimits, ...], functions: tuple[str, ...]) -> tuple[Broken, ...]:
    """Every broken rule in a source (that parses), with the functions that lose their points, in the order of lines."""
    if not off_limits:
        return ()
    tree = ast.parse(source)
    known = survey(tree, source)
    reach = reachable(tree, functions)
    found: dict[tuple[str, int], Broken] = {}
    for hit in hits(known, off_limits):
        guilty = _guilty(hit, reach, functions)
        if hit.entry.functions:
            guilty = tuple(name for name in guilty if name in hit.entry.functions) if hit.scope or hit.binds else ()
        if guilty:
            found.setdefault((hit.entry.name, hit.line), Broken(hit.entry.name, hit.line, guilty, hit.shown))
    return tuple(sorted(found.values(), key=lambda item: (item.line, item.shown)))


def _guilty(hit: Hit, reach: dict[str, set[str]], functions: tuple[str, ...]) -> tuple[str, ...]:
    if hit.scope is not None:
        guilty = tuple(name for name in functions if hit.scope in reach[name])
    else:
        guilty = tuple(name for name in functions if hit.binds & reach[name])
    return guilty or (() if hit.entry.functions else functions)


def reachable(tree: ast.Module, functions: tuple[str, ...]) -> dict[str, set[str]]:
    """For each function of the exercise, every top-level name that it uses, directly or through others."""
    uses: dict[str, set[str]] = {}
    for node in tree.body:
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
        bound = [node.name] if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)) else sorted(_targets(node))
        for name in bound:
            uses.setdefault(name, set()).update(names)
    reach = {}
    for function in functions:
        seen, queue = {function}, [function]
        while queue:
            for name in uses.get(queue.pop(), set()) - seen:
                seen.add(name)
                queue.append(name)
        reach[function] = seen
    return reach


def _targets(node: ast.AST) -> set[str]:
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for inner in ast.walk(node):
        if isinstance(inner, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in inner.names}
    return names


# ---------------------------------------------------------------- survey


def survey(tree: ast.Module, source: str) -> Source:
    """Aliases, constants, own definitions and quiet texts of a file."""
    known = Source(tree, source.splitlines())
    assigned: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                known.aliases[alias.asname or alias.name.partition(".")[0]] = alias.name if alias.asname else alias.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if alias.name == "*":
                    known.starred.add(node.module)
                else:
                    known.aliases[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            known.own.add(node.name)
            _hush_docstring(node, known)
        elif isinstance(node, (ast.Raise, ast.Assert)):
            known.quiet |= {id(n) for n in ast.walk(node) if isinstance(n, (ast.Constant, ast.JoinedStr, ast.BinOp))}
        elif isinstance(node, ast.Expr) and isinstance(node.value, (ast.Constant, ast.JoinedStr)):
            known.quiet.add(id(node.value))
    _hush_docstring(tree, known)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            _bind(node.targets[0].id, node.value, known, assigned)
        elif isinstance(node, (ast.NamedExpr, ast.AnnAssign)) and isinstance(node.target, ast.Name) and node.value is not None:
            _bind(node.target.id, node.value, known, assigned)
    known.evaluated = _evaluated(known)
    return known


def _bind(name: str, value: ast.expr, known: Source, assigned: dict[str, int]) -> None:
    assigned[name] = assigned.get(name, 0) + 1
    path = dotted(value, known)
    if path and path.partition(".")[0] != name and _rooted(value, known):
        known.aliases.setdefault(name, path)
    if assigned[name] == 1:
        known.constants[name] = value
    else:
        known.constants.pop(name, None)


def _rooted(node: ast.expr, known: Source) -> bool:
    inner: ast.expr | None = node
    while inner is not None and not isinstance(inner, ast.Name):
        step = fetched(inner, known)
        if step is None:
            return False
        inner = step[1]
    return inner is None or inner.id in known.aliases


def _hush_docstring(node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, known: Source) -> None:
    if node.body and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant):
        known.quiet.add(id(node.body[0].value))


def dotted(node: ast.AST, known: Source) -> str | None:
    """``F.softmax`` with F imported from torch.nn -> ``torch.nn.functional.softmax``; ``getattr(F, "softmax")`` and its kin as well."""
    parts: list[str] = []
    while not isinstance(node, ast.Name):
        step = fetched(node, known)
        if step is None:
            return None
        parts.insert(0, step[0])
        if step[1] is None:
            return ".".join(parts)
        node = step[1]
    return ".".join([known.aliases.get(node.id, node.id), *parts])


def fetched(node: ast.AST, known: Source) -> tuple[str, ast.expr | None] | None:
    """The name that an expression takes out of an object, and the object; no object for a module that is imported by its name."""
    if isinstance(node, ast.Attribute):
        return node.attr, node.value
    if isinstance(node, ast.Subscript) and (owner := _namespace(node.value)) is not None:
        return _pair(node.slice, owner, known)
    if not isinstance(node, ast.Call) or not node.args:
        return None
    callee = known.aliases.get(node.func.id, node.func.id) if isinstance(node.func, ast.Name) else ast.unparse(node.func)
    last = callee.rpartition(".")[2]
    if last == "getattr" and len(node.args) > 1:
        return _pair(node.args[1], node.args[0], known)
    if last in ("import_module", "__import__"):
        step = _pair(node.args[0], None, known)
        outermost = last == "__import__" and len(node.args) < 4 and not node.keywords
        return (step[0].partition(".")[0], None) if step and outermost else step
    if isinstance(node.func, ast.Call) and node.func.args and ast.unparse(node.func.func).rpartition(".")[2] == "attrgetter":
        return _pair(node.func.args[0], node.args[0], known)
    return None


def _namespace(node: ast.expr) -> ast.expr | None:
    """The object whose names stand in ``vars(x)`` or ``x.__dict__``."""
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return node.value
    return node.args[0] if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "vars" and node.args else None


def _pair(text: ast.expr, owner: ast.expr | None, known: Source) -> tuple[str, ast.expr | None] | None:
    name = fold(text, known.constants)
    return (name, owner) if name and re.fullmatch(r"[A-Za-z_][\w.]*", name) else None


# ---------------------------------------------------------------- hits


def hits(known: Source, off_limits: tuple[OffLimits, ...]) -> Iterator[Hit]:
    """Every place where an entry is named."""
    for top in known.tree.body:
        scope = top.name if isinstance(top, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else None
        binds = frozenset() if scope else frozenset(_targets(top))
        for node in ast.walk(top):
            for path, shown in named(node, known):
                for entry in off_limits:
                    if matches(entry, path, isinstance(node, (ast.Constant, ast.BinOp, ast.JoinedStr, ast.Call, ast.Subscript))):
                        yield Hit(entry, shown, getattr(node, "lineno", getattr(top, "lineno", 1)), scope, binds)


def named(node: ast.AST, known: Source) -> Iterator[tuple[str, str]]:
    """The dotted paths that a node names, each with how to show it."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, f"import {alias.name}") for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from ((f"{node.module or ''}.{alias.name}", f"from {node.module} import {alias.name}") for alias in node.names)
    elif isinstance(node, ast.Attribute):
        yield from _attribute(node, known)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        if node.id in known.aliases and node.id not in known.own:
            yield known.aliases[node.id], node.id
        elif known.starred and node.id not in known.own and node.id not in known.constants:
            yield from ((f"{module}.{node.id}", node.id) for module in known.starred)
    elif isinstance(node, (ast.Constant, ast.BinOp, ast.JoinedStr, ast.Call, ast.Subscript)) and id(node) not in known.quiet:
        yield from _string(node, known)
        path = dotted(node, known) if isinstance(node, (ast.Call, ast.Subscript)) else None
        if path:
            yield path, ast.unparse(node)[:80]


def _attribute(node: ast.Attribute, known: Source) -> Iterator[tuple[str, str]]:
    root: ast.AST = node
    while isinstance(root, ast.Attribute):
        root = root.value
    own_root = isinstance(root, ast.Name) and (root.id in ("self", "cls") or root.id in known.own) and root.id not in known.aliases
    if own_root and node.attr in known.own:
        return
    yield dotted(node, known) or f"?.{node.attr}", ast.unparse(node)[:80]


def _string(node: ast.expr, known: Source) -> Iterator[tuple[str, str]]:
    text = fold(node, known.constants)
    if text is None or len(text) > 10_000:
        return
    if re.fullmatch(r"[A-Za-z_][\w.]*", text):
        yield f"?.{text}", repr(text)
    if id(node) in known.evaluated:
        try:
            inner = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        inside = survey(inner, text)
        inside.aliases = {**known.aliases, **inside.aliases}
        for child in ast.walk(inner):
            yield from ((path, f"{shown} (in a string)") for path, shown in named(child, inside))


def _evaluated(known: Source) -> set[int]:
    """The string nodes that are handed to eval, exec or compile, directly or through a name."""
    found: set[int] = set()
    for call in ast.walk(known.tree):
        if isinstance(call, ast.Call):
            name = call.func.id if isinstance(call.func, ast.Name) else call.func.attr if isinstance(call.func, ast.Attribute) else ""
            if known.aliases.get(name, name).rpartition(".")[2] in EVALUATORS:
                found |= {id(known.constants.get(arg.id) if isinstance(arg, ast.Name) else arg) for arg in call.args}
    return found


def matches(entry: OffLimits, path: str, text: bool = False) -> bool:
    """Whether a dotted path (or, with ``text``, a string) names an entry of the list."""
    bare = path.removeprefix("?.")
    if entry.kind == "module":
        return bare == entry.name or bare.startswith(entry.name + ".")
    if entry.kind == "path":
        if text or path.startswith("?."):
            return bare == entry.name
        return bare == entry.name or bare.startswith(entry.name + ".")
    last = bare.rpartition(".")[2]
    parts = bare.split(".")
    return last_matches(last, entry.name) or (not text and any(last_matches(part, entry.name) for part in parts))


def last_matches(name: str, wanted: str) -> bool:
    """``scaled_dot_product_attention`` also means ``_scaled_dot_product_attention_math``; a pattern with ``*`` means what it says."""
    if "*" in wanted:
        return fnmatchcase(name, wanted)
    bare = name.lstrip("_").removeprefix("native_")
    hidden = bare != name and (bare.startswith(wanted) or variant(bare, wanted))
    return name == wanted or name == wanted + "_" or hidden


def variant(name: str, wanted: str) -> bool:
    """``scaled_dot_product_flash_attention_for_cpu`` of ``scaled_dot_product_attention``: all its words, in its order; ``multi_head`` of ``Multihead``."""
    words = iter(name.split("_"))
    in_order = "_" in wanted and all(word in words for word in wanted.split("_"))
    return in_order or (len(wanted) >= TELLING and squeezed(wanted) in squeezed(name))


def squeezed(name: str) -> str:
    """A name without what separates its words."""
    return name.replace("_", "").lower()
