"""The off-limits reader: which forbidden calls a source names, where, and which functions thereby lose their points.

The host reads the source and never runs it. A name counts wherever it stands in an import or an expression: through aliases, as an attribute of
anything, as a string handed to getattr and its kin or spelt together from pieces, in code given to eval or exec. Text in docstrings, comments and
error messages doesn't count, nor does a function of the submission's own that happens to bear the name.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass

from ..catalog import OffLimits
from ..verdict import Broken
from .matching import matching, symbols
from .paths import IDENTIFIER, PATH_CAP, Source, Text, dotted
from .source import Unreadable, parsed
from .strings import PARSED_AT, TooMuch, fold
from .survey import survey

SHOWN_CAP = 80
SOURCE_CAP = 400  # letters of a line that are put on show
FOREIGN = ("ctypes", "_ctypes", "cffi", "_cffi_backend")  # what calls C functions
PARTS = 10  # of a dotted path; nobody's has more
PART_AT = 50  # steps of a file's allowance for each part beyond, and for each part of a path that a name may have from a module imported by *


@dataclass(frozen=True)
class Hit:
    """One place where an off-limits name stands."""

    entry: OffLimits
    shown: str
    line: int
    scope: str | None  # the top-level function or class it stands in; None for the module itself
    binds: frozenset[str] = frozenset()


@functools.lru_cache(maxsize=4)
def broken_rules(source: str, off_limits: tuple[OffLimits, ...], functions: tuple[str, ...]) -> tuple[Broken, ...]:
    """Every broken rule in a source (that parses), with the functions that lose their points, in the order of lines. Raises Unreadable."""
    if not off_limits:
        return ()
    try:
        return _broken_rules(parsed(source), off_limits, functions)
    except TooMuch:
        raise Unreadable("The file puts strings together without end, where code is evaluated or things are fetched by their names, or takes thousands of names from modules imported by * or by paths without end: nobody reads that.") from None


def _broken_rules(tree: ast.Module, off_limits: tuple[OffLimits, ...], functions: tuple[str, ...]) -> tuple[Broken, ...]:
    known = survey(tree)
    reach = reachable(tree, functions)
    found: dict[tuple[str, int], Broken] = {}
    guilt: dict[tuple[str | None, frozenset[str], bool], tuple[str, ...]] = {}  # the same for all hits of a statement
    for hit in hits(known, off_limits):
        place = (hit.scope, hit.binds, bool(hit.entry.functions))
        if place not in guilt:
            guilt[place] = _guilty(hit, reach, functions)
        guilty = guilt[place]
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
    places: dict[str, list[int]] = {}  # name -> the statements that bind it; what a statement uses is kept once, however many it binds
    uses: list[set[str]] = []
    for place, node in enumerate(tree.body):
        uses.append({n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)})
        for name in [node.name] if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)) else _targets(node):
            places.setdefault(name, []).append(place)
    return {function: _reached(function, places, uses) for function in functions}


def _reached(function: str, places: dict[str, list[int]], uses: list[set[str]]) -> set[str]:
    seen, queue, read = {function}, [function], set[int]()
    while queue:
        for place in places.get(queue.pop(), ()):
            if place not in read:
                read.add(place)
                queue += uses[place] - seen
                seen |= uses[place]
    return seen


def _targets(node: ast.AST) -> set[str]:
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for inner in ast.walk(node):
        if isinstance(inner, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in inner.names}
    return names


# ---------------------------------------------------------------- hits


def hits(known: Source, off_limits: tuple[OffLimits, ...]) -> Iterator[Hit]:
    """Every place where an entry is named."""
    foreign = any(path.partition(".")[0] in FOREIGN for path in known.aliases.values())
    for top in known.tree.body:
        scope = top.name if isinstance(top, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else None
        binds = frozenset() if scope else frozenset(_targets(top))
        for node in ast.walk(top):
            for path, in_text in named(node, known):
                known.allowance.spend(PART_AT * max(0, path.count(".") - PARTS))
                for entry in matching(off_limits, path, isinstance(node, Text)):
                    yield Hit(entry, show(node, path) + in_text, getattr(node, "lineno", getattr(top, "lineno", 1)), scope, binds)
            if foreign and isinstance(node, ast.Constant) and id(node) not in known.quiet:
                yield from (Hit(entry, show(node, entry.name), node.lineno, scope, binds) for entry in symbols(node.value, off_limits))


def named(node: ast.AST, known: Source) -> Iterator[tuple[str, str]]:
    """The dotted paths that a node names, each with a remark where it stands in a string."""
    yield from ((path, f" (which may be {path.rpartition('.')[2]})") for path in known.spelt.get(id(node), ()))
    if isinstance(node, ast.Import):
        yield from ((alias.name[:PATH_CAP], "") for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from ((f"{(node.module or '')[:PATH_CAP]}.{alias.name[:PATH_CAP]}", "") for alias in node.names)
    elif isinstance(node, ast.Attribute):
        yield from _attribute(node, known)
    elif isinstance(node, ast.MatchClass):
        yield from ((f"?.{name}", "") for name in node.kwd_attrs)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        if node.id in known.aliases and node.id not in known.own:
            yield known.aliases[node.id], ""
        elif known.starred and node.id not in known.own and node.id not in known.constants:
            known.allowance.spend(PART_AT * sum(module.count(".") + 2 for module in known.starred))
            yield from ((f"{module}.{node.id}", "") for module in known.starred)
    elif isinstance(node, Text) and (id(node) not in known.quiet or id(node) in known.evaluated or id(node) in known.names):
        yield from _string(node, known)
        path = dotted(node, known) if isinstance(node, (ast.Call, ast.Subscript)) else None
        if path:
            yield path, ""


def _attribute(node: ast.Attribute, known: Source) -> Iterator[tuple[str, str]]:
    root: ast.AST = node
    while isinstance(root, ast.Attribute):
        root = root.value
    if (node.attr in known.own or (node.attr in known.held and node.value is root)) and own_object(root, known):
        return
    path = dotted(node, known)
    if path and isinstance(root, ast.Name) and root.id in known.bound and root.id not in known.aliases:
        path = f"?.{path.partition('.')[2]}"  # a variable: no module, whatever its name
    yield path or f"?.{node.attr}", ""


def own_object(root: ast.AST, known: Source) -> bool:
    """Whether an expression is an object of the submission's own: `self`, something defined here, or a new object of a class defined here."""
    if isinstance(root, ast.Name):
        return (root.id in ("self", "cls") or root.id in known.own or root.id in known.instances) and root.id not in known.aliases
    return isinstance(root, ast.Call) and isinstance(root.func, ast.Name) and root.func.id in known.own and root.func.id not in known.aliases


def _string(node: ast.expr, known: Source) -> Iterator[tuple[str, str]]:
    fetches = known.searching or id(node) in known.names
    if not fetches and not known.frames and id(node) not in known.evaluated:
        return
    text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else fold(node, known.constants, known.allowance)
    if text is None:
        return
    if fetches and IDENTIFIER.fullmatch(text):
        yield f"?.{text.replace('::', '.')}", ""
    elif IDENTIFIER.fullmatch(text):
        yield from _within_frames(text, known)
    if id(node) in known.evaluated:
        yield from _code_in(text, known)


def _within_frames(text: str, known: Source) -> Iterator[tuple[str, str]]:
    """What a string may be that is fetched as a whole, or put between what is written round it."""
    known.allowance.spend(PART_AT * len(known.frames))
    for before, behind in known.frames:
        yield f"?.{before}{text}{behind}", ""
        if text.startswith(before) and text.endswith(behind):
            yield f"?.{text}", ""


def _code_in(text: str, known: Source) -> Iterator[tuple[str, str]]:
    known.allowance.spend(PARSED_AT * len(text))
    try:
        inside = survey(parsed(text), known.aliases, known.allowance)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for child in ast.walk(inside.tree):
        yield from ((path, " (in a string)") for path, _ in named(child, inside))


def show(node: ast.AST, path: str) -> str:
    """The node as a learner recognises it; by its path alone where it is long."""
    if isinstance(node, ast.ImportFrom):
        return f"from {node.module} import {path.rpartition('.')[2]}"
    if isinstance(node, ast.Import):
        return f"import {path}"
    if getattr(node, "lineno", 0) != getattr(node, "end_lineno", 0) or node.end_col_offset - node.col_offset > SOURCE_CAP:  # type: ignore[attr-defined]
        return path[-SHOWN_CAP:].removeprefix("?.")
    try:
        return ast.unparse(node)[:SHOWN_CAP]
    except RecursionError:
        return path[-SHOWN_CAP:]
