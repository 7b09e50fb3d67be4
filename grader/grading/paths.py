"""What the reader knows of one file, and the dotted paths that its expressions stand for. Pure; nothing is executed."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from .strings import Allowance, fold

IDENTIFIER = re.compile(r"[A-Za-z_][\w.]*(::[A-Za-z_]\w*)?")
PATH_CAP = 300  # letters of a dotted path
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
    choices: dict[str, list[ast.expr]] = field(default_factory=dict)  # names that are given written values alone, and which
    spelt: dict[int, list[str]] = field(default_factory=dict)  # by the id of what something is fetched by: the paths that this may come to
    frames: set[tuple[str, str]] = field(default_factory=set)  # what stands round the part that can't be read of a name by which something is fetched
    searching: bool = False  # something is fetched by a name that can't be read here: then every string may be one


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


def rooted(node: ast.expr, known: Source) -> bool:
    inner: ast.expr | None = node
    while inner is not None and not isinstance(inner, ast.Name):
        step = fetched(inner, known)
        if step is None:
            return False
        inner = step[1]
    return inner is None or inner.id in known.aliases
